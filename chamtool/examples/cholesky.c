/* Tiled Cholesky factorisation with OpenMP tasks and dependences, after Buttari,
 * Langou, Kurzak and Dongarra (2009), with tiles of unequal sizes, as the fronts of
 * a sparse matrix have. It counts its tasks itself.
 *
 *   clang -fopenmp -O2 -g -o cholesky chamtool/examples/cholesky.c -lm
 *   OMP_TOOL_LIBRARIES=$PWD/libchamtool.so ./cholesky [TILES [REPETITIONS]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static long tasks;

static void ran(void) {
#pragma omp atomic
	tasks++;
}

static void factor(double *a, int n) {
	for (int k = 0; k < n; k++) {
		a[k * n + k] = sqrt(a[k * n + k]);
		for (int i = k + 1; i < n; i++)
			a[i * n + k] /= a[k * n + k];
		for (int j = k + 1; j < n; j++)
			for (int i = j; i < n; i++)
				a[i * n + j] -= a[i * n + k] * a[j * n + k];
	}
	ran();
}

/* solve makes the tile b, of m rows and n columns, b times the inverse of l's transpose. */
static void solve(const double *l, double *b, int m, int n) {
	for (int i = 0; i < m; i++)
		for (int k = 0; k < n; k++) {
			for (int j = 0; j < k; j++)
				b[i * n + k] -= b[i * n + j] * l[k * n + j];
			b[i * n + k] /= l[k * n + k];
		}
	ran();
}

/* update takes a (m by k) times the transpose of b (n by k) off c. */
static void update(const double *a, const double *b, double *c, int m, int n, int k) {
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			double sum = 0;
			for (int l = 0; l < k; l++)
				sum += a[i * k + l] * b[j * k + l];
			c[i * n + j] -= sum;
		}
	ran();
}

static void fill(double **tile, const int *size, int tiles) {
	for (int i = 0; i < tiles; i++)
		for (int j = 0; j <= i; j++)
			for (int p = 0; p < size[i] * size[j]; p++)
				tile[i * tiles + j][p] = i == j && p % (size[j] + 1) == 0 ? 1e4 : 1.0 / (1 + p % 7);
}

int main(int argc, char **argv) {
	int tiles = argc > 1 ? atoi(argv[1]) : 12, repetitions = argc > 2 ? atoi(argv[2]) : 10;
	int *size = malloc(sizeof *size * tiles);
	double **tile = calloc((size_t)tiles * tiles, sizeof *tile);
	for (int i = 0; i < tiles; i++)
		size[i] = 24 + i * 37 % 5 * 24;
	for (int i = 0; i < tiles; i++)
		for (int j = 0; j <= i; j++)
			tile[i * tiles + j] = malloc(sizeof(double) * size[i] * size[j]);
#pragma omp parallel
#pragma omp single
	for (int r = 0; r < repetitions; r++) {
		fill(tile, size, tiles);
		for (int k = 0; k < tiles; k++) {
			double *d = tile[k * tiles + k];
			int n = size[k];
#pragma omp task depend(inout : d[0])
			factor(d, n);
			for (int i = k + 1; i < tiles; i++) {
				double *b = tile[i * tiles + k];
				int m = size[i];
#pragma omp task depend(in : d[0]) depend(inout : b[0])
				solve(d, b, m, n);
			}
			for (int i = k + 1; i < tiles; i++)
				for (int j = k + 1; j <= i; j++) {
					double *a = tile[i * tiles + k], *b = tile[j * tiles + k], *c = tile[i * tiles + j];
					int m = size[i], o = size[j];
#pragma omp task depend(in : a[0], b[0]) depend(inout : c[0])
					update(a, b, c, m, o, n);
				}
		}
#pragma omp taskwait
	}
	double *last = tile[tiles * tiles - 1];
	printf("tasks %ld, last pivot %.6f\n", tasks, last[size[tiles - 1] * size[tiles - 1] - 1]);
	return !(last[0] > 0);
}
