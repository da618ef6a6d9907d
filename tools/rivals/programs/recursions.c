// Recursive programs that create a task for each call down to a depth, and call the same
// functions below it: recursions PROGRAM SIZE [DEPTH] prints the seconds of the parallel
// region and a result.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- sort: a merge sort of doubles

static double *data, *space;

static void merge(long from, long middle, long to) {
    long i = from, j = middle, k = from;
    while (i < middle && j < to) space[k++] = data[i] <= data[j] ? data[i++] : data[j++];
    while (i < middle) space[k++] = data[i++];
    while (j < to) space[k++] = data[j++];
    memcpy(data + from, space + from, sizeof(double) * (size_t)(to - from));
}

static void sort(long from, long to, int depth) {
    if (to - from < 2) return;
    long middle = (from + to) / 2;
    if (depth == 0) {
        sort(from, middle, 0);
        sort(middle, to, 0);
    } else {
#pragma omp task
        sort(from, middle, depth - 1);
#pragma omp task
        sort(middle, to, depth - 1);
#pragma omp taskwait
    }
    merge(from, middle, to);
}

// ---- knapsack: all ways to pack items, without those that are too heavy

static long weights[40], worth[40];

static long pack(int item, int items, long room, int depth) {
    if (item == items) return 0;
    long with = 0, without = 0;
    if (depth == 0) {
        if (weights[item] <= room) with = worth[item] + pack(item + 1, items, room - weights[item], 0);
        without = pack(item + 1, items, room, 0);
    } else {
        if (weights[item] <= room) {
#pragma omp task shared(with)
            with = worth[item] + pack(item + 1, items, room - weights[item], depth - 1);
        }
#pragma omp task shared(without)
        without = pack(item + 1, items, room, depth - 1);
#pragma omp taskwait
    }
    return with > without ? with : without;
}

// ---- integral: the adaptive rule of Simpson, deeper near zero

static double f(double x) { return sin(1 / (x + 1e-3)); }

static double integral(double a, double b, double whole, double limit, int depth) {
    double m = (a + b) / 2, h = (b - a) / 12;
    double left = h * (f(a) + 4 * f((a + m) / 2) + f(m)), right = h * (f(m) + 4 * f((m + b) / 2) + f(b));
    if (fabs(left + right - whole) < limit || b - a < 1e-9) return left + right;
    double x, y;
    if (depth == 0) return integral(a, m, left, limit / 2, 0) + integral(m, b, right, limit / 2, 0);
#pragma omp task shared(x)
    x = integral(a, m, left, limit / 2, depth - 1);
#pragma omp task shared(y)
    y = integral(m, b, right, limit / 2, depth - 1);
#pragma omp taskwait
    return x + y;
}

// ---- tours: all orders of cities, without those longer than the best so far

static int distance[16][16];
static int best;

static void tours(int city, unsigned seen, int length, int cities, int depth) {
    int limit;
#pragma omp atomic read
    limit = best;
    if (length >= limit) return;
    if (seen == (1u << cities) - 1) {
#pragma omp critical
        if (length + distance[city][0] < best) best = length + distance[city][0];
        return;
    }
    for (int next = 1; next < cities; next++)
        if (!(seen >> next & 1)) {
            if (depth == 0) {
                tours(next, seen | 1u << next, length + distance[city][next], cities, 0);
            } else {
#pragma omp task
                tours(next, seen | 1u << next, length + distance[city][next], cities, depth - 1);
            }
        }
    if (depth > 0) {
#pragma omp taskwait
    }
}

// ---- paths: an unbalanced tree, whose nodes have none to seven children

static long paths(unsigned seed, int left, int depth) {
    unsigned x = seed * 2654435761u;
    x ^= x >> 15;
    int children = left > 0 ? (int)(x % 8) : 0;
    double work = seed;
    for (int i = 0; i < 40; i++) work = work * 0.5 + i;
    long sum = 1 + (work < 0);
    for (int i = 0; i < children; i++) {
        if (depth == 0) {
            sum += paths(x + (unsigned)i, left - 1, 0);
        } else {
#pragma omp task shared(sum)
            {
                long n = paths(x + (unsigned)i, left - 1, depth - 1);
#pragma omp atomic
                sum += n;
            }
        }
    }
    if (depth > 0) {
#pragma omp taskwait
    }
    return sum;
}

int main(int argc, char **argv) {
    const char *program = argc > 1 ? argv[1] : "sort";
    int size = argc > 2 ? atoi(argv[2]) : 100000, depth = argc > 3 ? atoi(argv[3]) : 1000;
    unsigned seed = 7;
    data = malloc(sizeof(double) * (size_t)(size + 1)), space = malloc(sizeof(double) * (size_t)(size + 1));
    for (int i = 0; i < size; i++) data[i] = rand_r(&seed);
    for (int i = 0; i < 40; i++) weights[i] = 10 + (long)(rand_r(&seed) % 30), worth[i] = 5 + (long)(rand_r(&seed) % 50);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) distance[i][j] = 10 + (i * 37 + j * 61 + (i ^ j) * 13) % 90;
    best = 1 << 30;
    double result = 0, begin = omp_get_wtime();
#pragma omp parallel
#pragma omp single
    {
        if (!strcmp(program, "sort")) sort(0, size, depth), result = data[size / 2];
        if (!strcmp(program, "knapsack")) result = (double)pack(0, size, 12L * size, depth);
        if (!strcmp(program, "integral")) result = integral(0, 1, 0, pow(10, -size), depth);
        if (!strcmp(program, "tours")) tours(0, 1, 0, size, depth), result = best;
        if (!strcmp(program, "paths"))
            for (unsigned i = 0; i < 8; i++) result += (double)paths(i + 1, size, depth);
    }
    printf("%.6f s, result %.10g\n", omp_get_wtime() - begin, result);
    return 0;
}
