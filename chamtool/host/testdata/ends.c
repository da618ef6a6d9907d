// A program that runs 1000 tasks and ends in the way of its argument.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static volatile double sink;

static void work(void) {
    double x = 0;
    for (int i = 0; i < 2000; i++) x += sqrt(i);
    sink = x;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    signal(SIGINT, SIG_DFL); // what nohup or a shell's background ignores is inherited
    signal(SIGHUP, SIG_DFL);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 1000; i++) {
#pragma omp task
        work();
    }
    if (!strcmp(how, "interrupt")) raise(SIGINT);
    if (!strcmp(how, "hangup")) raise(SIGHUP);
    if (!strcmp(how, "time")) raise(SIGXCPU);
    if (!strcmp(how, "terminate")) raise(SIGTERM);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "quick")) quick_exit(0);
    if (!strcmp(how, "inside")) {
#pragma omp parallel
#pragma omp single
        {
#pragma omp task
            exit(0);
        }
    }
    return 0;
}
