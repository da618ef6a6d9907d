// Tasks of some milliseconds: clauses false|depends|final|outlives|serial. The first three are
// chains: their work is their span.
#include <string.h>
#include <time.h>

// compute takes its time also where the threads share a processor.
static void compute(int milliseconds) {
    struct timespec t = {0, 1000000L * milliseconds};
    nanosleep(&t, NULL);
}

static void defer_none(void) {
    for (int i = 0; i < 20; i++) {
#pragma omp task if (0)
        compute(2);
    }
}

static void depend_undeferred(void) {
    int x = 0;
    (void)x;
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(out : x)
        compute(2);
#pragma omp task depend(in : x) if (0)
        compute(2);
    }
}

static void create_in_final(void) {
#pragma omp task final(1)
    for (int i = 0; i < 20; i++) {
#pragma omp task
        compute(2);
    }
}

// outlive_wait has four tasks of 5 ms whose children of 30 ms end at the end of the region.
static void outlive_wait(void) {
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
            compute(5);
#pragma omp task
            compute(30);
        }
    }
#pragma omp taskwait
}

// precede_serial has serial code behind three tasks of 30 ms, as main has around the region.
static void precede_serial(void) {
    for (int i = 0; i < 3; i++) {
#pragma omp task
        compute(30);
    }
#pragma omp taskwait
    compute(20);
}

int main(int argc, char **argv) {
    const char *clause = argc > 1 ? argv[1] : "";
    int serial = !strcmp(clause, "serial");
    if (serial) compute(30);
#pragma omp parallel
#pragma omp single
    {
        if (!strcmp(clause, "false")) defer_none();
        if (!strcmp(clause, "depends")) depend_undeferred();
        if (!strcmp(clause, "final")) create_in_final();
        if (!strcmp(clause, "outlives")) outlive_wait();
        if (serial) precede_serial();
    }
    if (serial) compute(20);
    return 0;
}
