// A program that runs 1000 tasks and ends in the way of its argument.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static volatile sig_atomic_t urgent;

static void on_urgent(int signal) {
    (void)signal;
    urgent++;
}

static void work(void) {
    double x = 0;
    for (int i = 0; i < 2000; i++) x += sqrt(i);
    sink = x;
}

// compute_alone takes 0.1 s of this thread's CPU time.
static void compute_alone(void) {
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        work();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < 0.1);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    signal(SIGINT, SIG_DFL); // what nohup or a shell's background ignores is inherited
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGURG, on_urgent);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 1000; i++) {
#pragma omp task
        work();
    }
    compute_alone();
    if (!strcmp(how, "interrupt")) raise(SIGINT);
    if (!strcmp(how, "twice")) {
#pragma omp parallel
        raise(SIGINT);
    }
    if (!strcmp(how, "hangup")) raise(SIGHUP);
    if (!strcmp(how, "time")) raise(SIGXCPU);
    if (!strcmp(how, "terminate")) raise(SIGTERM);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "fault")) *(volatile int *)0 = 1;
    if (!strcmp(how, "pipe")) {
        int ends[2];
        if (pipe(ends) || close(ends[0])) return 1;
        return write(ends[1], "x", 1) != 1; // which ends the program
    }
    if (!strcmp(how, "urgent")) {
        raise(SIGURG);
        if (urgent != 1) fprintf(stderr, "%d urgent signals for 1\n", (int)urgent);
        return urgent != 1;
    }
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
