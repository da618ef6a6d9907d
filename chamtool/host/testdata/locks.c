// Threads that exclude one another, a millisecond at a time: locks critical|ordered|lock|tasks|
// sleep|doacross|nest|test|alone|cheap. With several threads all but one wait; those of nest, test,
// alone and cheap do not.
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void compute(void) {
    struct timespec t;
    double begin = -1, now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        if (begin < 0) begin = now;
    } while (now < begin + 1e-3);
}

enum { TIMES = 150 };

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    omp_lock_t lock;
    omp_init_lock(&lock);
    if (!strcmp(kind, "critical")) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < TIMES; i++) {
#pragma omp critical
            compute();
        }
    } else if (!strcmp(kind, "ordered")) {
#pragma omp parallel for schedule(static) ordered
        for (int i = 0; i < TIMES; i++) {
#pragma omp ordered
            compute();
        }
    } else if (!strcmp(kind, "lock")) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < TIMES; i++) {
            omp_set_lock(&lock);
            compute();
            omp_unset_lock(&lock);
        }
    } else if (!strcmp(kind, "tasks")) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < TIMES; i++) {
#pragma omp task
#pragma omp critical
            compute();
        }
    }
    if (!strcmp(kind, "sleep")) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < TIMES; i++) {
#pragma omp critical
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    } else if (!strcmp(kind, "doacross")) {
#pragma omp parallel for schedule(static, 1) ordered(1)
        for (int i = 0; i < TIMES; i++) {
#pragma omp ordered depend(sink : i - 1)
            compute();
#pragma omp ordered depend(source)
        }
    } else if (!strcmp(kind, "nest")) {
#pragma omp parallel
        {
            omp_nest_lock_t own;
            omp_init_nest_lock(&own);
            omp_set_nest_lock(&own);
            omp_set_nest_lock(&own);
            for (int i = 0; i < TIMES; i++) compute();
            omp_destroy_nest_lock(&own);
        }
    }
    if (!strcmp(kind, "test")) {
        omp_set_lock(&lock);
#pragma omp parallel
        {
            if (omp_test_lock(&lock)) exit(1);
            for (int i = 0; i < TIMES; i++) compute();
        }
        omp_unset_lock(&lock);
    } else if (!strcmp(kind, "alone")) {
        compute();
#pragma omp parallel num_threads(1)
        for (int i = 0; i < 1000 * TIMES; i++) {
#pragma omp critical
            argc++;
        }
    } else if (!strcmp(kind, "cheap")) {
#pragma omp parallel num_threads(1)
        for (int i = 0; i < 20000 * TIMES; i++) {
#pragma omp critical
            argc++;
        }
    }
    omp_destroy_lock(&lock);
    return 0;
}
