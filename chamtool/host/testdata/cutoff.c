// Recursive programs that create a task for each call down to a depth, and call functions
// below it: cutoff PROGRAM SIZE [DEPTH] prints the seconds of the parallel region and a result.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- fib: two calls for each number

static long fib_below(int n) { return n < 2 ? n : fib_below(n - 1) + fib_below(n - 2); }

static long fib(int n, int depth) {
    if (n < 2) return n;
    if (depth == 0) return fib_below(n);
    long a, b;
#pragma omp task shared(a)
    a = fib(n - 1, depth - 1);
#pragma omp task shared(b)
    b = fib(n - 2, depth - 1);
#pragma omp taskwait
    return a + b;
}

// ---- queens: one call for each place of the next queen

static long queens_below(int left, unsigned columns, unsigned up, unsigned down, unsigned board) {
    if (left == 0) return 1;
    long found = 0;
    for (unsigned free = board & ~(columns | up | down); free; free &= free - 1) {
        unsigned place = free & -free;
        found += queens_below(left - 1, columns | place, (up | place) << 1, (down | place) >> 1, board);
    }
    return found;
}

static long queens(int left, int depth, unsigned columns, unsigned up, unsigned down, unsigned board) {
    if (left == 0) return 1;
    if (depth == 0) return queens_below(left, columns, up, down, board);
    long found = 0;
    for (unsigned free = board & ~(columns | up | down); free; free &= free - 1) {
        unsigned place = free & -free;
#pragma omp task shared(found)
        {
            long n = queens(left - 1, depth - 1, columns | place, (up | place) << 1, (down | place) >> 1, board);
#pragma omp atomic
            found += n;
        }
    }
#pragma omp taskwait
    return found;
}

// ---- health: a tree of villages with patients, simulated in steps

static unsigned patients(unsigned seed, int level) {
    unsigned sum = 0;
    for (int i = 0; i < 40 + 20 * level; i++) seed = seed * 1664525u + 1013904223u, sum += seed >> 20;
    return sum;
}

static unsigned health_below(unsigned seed, int level) {
    unsigned sum = 0;
    if (level > 0)
        for (unsigned i = 0; i < 4; i++) sum += health_below(seed * 4 + i, level - 1);
    return sum + patients(seed, level);
}

static unsigned health(unsigned seed, int level, int depth) {
    if (depth == 0) return health_below(seed, level);
    unsigned sum = 0;
    if (level > 0)
        for (unsigned i = 0; i < 4; i++) {
#pragma omp task shared(sum)
            {
                unsigned n = health(seed * 4 + i, level - 1, depth - 1);
#pragma omp atomic
                sum += n;
            }
        }
    unsigned own = patients(seed, level);
#pragma omp taskwait
    return sum + own;
}

int main(int argc, char **argv) {
    const char *program = argc > 1 ? argv[1] : "fib";
    int size = argc > 2 ? atoi(argv[2]) : 20, depth = argc > 3 ? atoi(argv[3]) : 1000;
    long result = 0;
    double begin = omp_get_wtime();
#pragma omp parallel
#pragma omp single
    {
        if (!strcmp(program, "fib")) result = fib(size, depth);
        if (!strcmp(program, "queens")) result = queens(size, depth, 0, 0, 0, (1u << size) - 1);
        if (!strcmp(program, "health"))
            for (int step = 0; step < 10; step++) result += health((unsigned)step + 1, size, depth);
    }
    printf("%.6f s, result %ld\n", omp_get_wtime() - begin, result);
    return 0;
}
