/* Makespan of an unbalanced program on the real runtime, to see what moving its
 * tasks is worth. Tasks sleep, so the ranks need no cores of their own: rank 0 has
 * tasks of 33.75 ms and every other rank of 8.75 ms, 60 an iteration, 10
 * iterations; on four ranks of one thread the ideal is 9.0 s, without any moving
 * 20.25 s. The first argument's size tells a task's time, as in programs that
 * compute.
 *
 *   mpicc -fopenmp -O2 -o makespan chamtool/host/testdata/makespan.c -lchameleon
 *   OMP_NUM_THREADS=1 mpirun -n 4 ./makespan [ITERATIONS [TASKS [MS0 [MS]]]]
 */
#include <chameleon.h>
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void nap(void *buffer, intptr_t nanoseconds) {
	struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	(void)buffer;
	while (nanosleep(&left, &left) != 0) {
	}
}

static int add(void *buffer, size_t size, intptr_t nanoseconds) {
	chameleon_map_data_entry_t args[2];
	args[0] = chameleon_map_data_entry_create(buffer, size, CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_FROM);
	args[1] = chameleon_map_data_entry_create((void *)(intptr_t)nanoseconds, sizeof(void *), CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_LITERAL);
	return chameleon_add_task(chameleon_create_task((void *)&nap, 2, args));
}

int main(int argc, char **argv) {
	int provided, rank, ranks;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int iterations = argc > 1 ? atoi(argv[1]) : 10, tasks = argc > 2 ? atoi(argv[2]) : 60;
	double first = argc > 3 ? atof(argv[3]) : 33.75, others = argc > 4 ? atof(argv[4]) : 8.75;
	double ms = rank == 0 ? first : others;
	if (provided < MPI_THREAD_MULTIPLE || iterations < 1 || tasks < 1 || !(first > 0) || !(others > 0)) {
		fprintf(stderr, "makespan [ITERATIONS [TASKS [MS0 [MS]]]]: numbers above 0, and an MPI for several threads\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	size_t size = (size_t)(1000 * ms);
	void *buffer = calloc(1, size);

#pragma omp parallel
	chameleon_thread_init();
	chameleon_determine_base_addresses((void *)&main);
	MPI_Barrier(MPI_COMM_WORLD);
	double begun = MPI_Wtime();
#pragma omp parallel
	for (int i = 0; i < iterations; i++) {
#pragma omp for
		for (int t = 0; t < tasks; t++) {
			add(buffer, size, (intptr_t)(1e6 * ms));
		}
		chameleon_distributed_taskwait(0);
#pragma omp single
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		double ideal = 1e-3 * iterations * tasks * (first + (ranks - 1) * others) / ranks / omp_get_max_threads();
		printf("makespan %.2f s, ideal %.2f s\n", MPI_Wtime() - begun, ideal);
	}
#pragma omp parallel
	chameleon_thread_finalize();
	chameleon_finalize();
	MPI_Finalize();
	free(buffer);
	return 0;
}
