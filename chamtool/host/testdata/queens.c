/* The number of ways to put N queens on a board, by a search with OpenMP tasks: a
 * task for each place of the next queen in the first rows, plain recursion below.
 * It counts its tasks itself.
 *
 *   clang -fopenmp -O2 -g -o queens chamtool/host/testdata/queens.c
 *   OMP_TOOL_LIBRARIES=$PWD/libchamtool.so ./queens [N [ROWS]]
 */
#include <stdio.h>
#include <stdlib.h>

static long tasks;

static long below(int left, unsigned columns, unsigned up, unsigned down, unsigned board) {
	if (left == 0)
		return 1;
	long found = 0;
	for (unsigned free = board & ~(columns | up | down); free; free &= free - 1) {
		unsigned place = free & -free;
		found += below(left - 1, columns | place, (up | place) << 1, (down | place) >> 1, board);
	}
	return found;
}

static long search(int left, int rows, unsigned columns, unsigned up, unsigned down, unsigned board) {
	if (rows == 0 || left == 0)
		return below(left, columns, up, down, board);
	long found = 0;
	for (unsigned free = board & ~(columns | up | down); free; free &= free - 1) {
		unsigned place = free & -free;
#pragma omp task shared(found)
		{
			long n = search(left - 1, rows - 1, columns | place, (up | place) << 1, (down | place) >> 1, board);
#pragma omp atomic
			tasks++;
#pragma omp atomic
			found += n;
		}
	}
#pragma omp taskwait
	return found;
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 11, rows = argc > 2 ? atoi(argv[2]) : 3;
	long found = 0;
#pragma omp parallel
#pragma omp single
	for (int size = 4; size <= n; size++)
		found = search(size, rows, 0, 0, 0, (1u << size) - 1);
	printf("tasks %ld, ways %ld\n", tasks, found);
	return 0;
}
