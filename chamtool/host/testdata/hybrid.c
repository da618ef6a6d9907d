// MPI and OpenMP with known loads: hybrid loop|tasks|late prints, for each thread of each rank, the
// seconds of CPU time that it computed. Later iterations of the loop have more work, and rank R
// has R + 1 times that of rank 0. With late, the last rank works alone before its first use of OpenMP.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STEPS = 20, PARTS = 32, MOST_THREADS = 64 };

static double seconds[MOST_THREADS][8]; // of each thread; a cache line each

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double spin(double microseconds) {
    double begin = cpu_now();
    while (cpu_now() < begin + 1e-6 * microseconds) {}
    return cpu_now() - begin;
}

static void compute(double microseconds) { seconds[omp_get_thread_num()][0] += spin(microseconds); }

int main(int argc, char **argv) {
    int rank, ranks, tasks = argc > 1 && !strcmp(argv[1], "tasks");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "late") && rank == ranks - 1) seconds[0][0] += spin(300000);
    int threads = omp_get_max_threads();
    for (int step = 0; step < STEPS; step++) {
        if (tasks) {
#pragma omp parallel
#pragma omp single
            for (int i = 0; i < PARTS * (rank + 1); i++) {
#pragma omp task
                compute(200);
            }
        } else {
#pragma omp parallel for schedule(static)
            for (int i = 0; i < PARTS; i++) compute(15.0 * i * (rank + 1));
        }
        double mine = step, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < threads; i++) printf("%d %d %.6f\n", rank, i, seconds[i][0]);
    MPI_Finalize();
    return 0;
}
