/* Heat on a square plate by Jacobi's rule with an OpenMP taskloop: rows in chunks,
 * on grids of several widths in turn, as a multigrid cycle visits them. It counts
 * its tasks itself: the last row of a chunk counts it.
 *
 *   clang -fopenmp -O2 -g -o heat chamtool/host/testdata/heat.c
 *   OMP_TOOL_LIBRARIES=$PWD/libchamtool.so ./heat [WIDTH [STEPS]]
 */
#include <stdio.h>
#include <stdlib.h>

enum { CHUNKS = 64 };

static long tasks;

static void row(const double *from, double *to, int i, int n) {
	for (int j = 1; j < n - 1; j++)
		to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
}

static void step(const double *from, double *to, int n) {
#pragma omp taskloop num_tasks(CHUNKS) firstprivate(n)
	for (int c = 0; c < CHUNKS; c++) {
		for (int i = 1 + (n - 2) * c / CHUNKS; i < 1 + (n - 2) * (c + 1) / CHUNKS; i++)
			row(from, to, i, n);
#pragma omp atomic
		tasks++;
	}
}

int main(int argc, char **argv) {
	int width = argc > 1 ? atoi(argv[1]) : 1024, steps = argc > 2 ? atoi(argv[2]) : 200;
	double *a = calloc((size_t)width * width, sizeof *a), *b = calloc((size_t)width * width, sizeof *b);
	for (int j = 0; j < width; j++)
		a[j] = b[j] = 100;
#pragma omp parallel
#pragma omp single
	for (int s = 0; s < steps; s++) {
		step(a, b, width >> s / 2 % 4);
		double *swap = a;
		a = b, b = swap;
	}
	printf("tasks %ld, middle %.6f\n", tasks, a[width + 1]);
	return 0;
}
