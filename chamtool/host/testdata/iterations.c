// Iterations of five forms: iterations FORM COUNT prints the tasks that ran.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

static atomic_int ran;
static volatile double sink;

static void work(int n) {
    double x = 0;
    for (int i = 0; i < n * 500; i++) x += sqrt(i);
    sink = x;
    ran++;
}

// chained: a region whose tasks depend on one another.
static void chained(void) {
    int a = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : a)
        work(1);
    }
}

// nested: tasks that fork regions of their own, with tasks.
static void nested(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
            work(1);
#pragma omp parallel num_threads(2)
#pragma omp single
            for (int j = 0; j < 4; j++) {
#pragma omp task
                work(1);
            }
        }
    }
}

// untied: tasks that may go on with another thread after they have waited.
static void untied(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task untied
        {
#pragma omp task
            work(1);
#pragma omp taskwait
            work(1);
        }
    }
}

// waited: one region with a taskwait in every iteration.
static void waited(int count) {
#pragma omp parallel
#pragma omp single
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < 20; i++) {
#pragma omp task
            work(1);
        }
#pragma omp taskwait
    }
}

// regions creates tasks on another thread than the one that forks the region.
static void *regions(void *count) {
    for (int n = 0; n < *(int *)count; n++) {
#pragma omp parallel
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            for (int i = 0; i < 20; i++) {
#pragma omp task
                work(1);
            }
    }
    return NULL;
}

// concurrent: two threads of the program's own, one with regions and one with taskwaits.
static void concurrent(int count) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, regions, &count)) exit(1);
    waited(count);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    const char *form = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 1;
    omp_set_max_active_levels(3);
    if (!strcmp(form, "waited")) waited(count);
    else if (!strcmp(form, "concurrent")) concurrent(count);
    else
        for (int n = 0; n < count; n++) {
            if (!strcmp(form, "chained")) chained();
            else if (!strcmp(form, "nested")) nested();
            else untied();
        }
    printf("%d\n", ran);
    return 0;
}
