// Short tasks of five forms: short FORM runs for a second or two and prints the tasks.
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

static atomic_long ran;
static volatile double sink;

static void work(int n) {
    double x = 0;
    for (int i = 0; i < n; i++) x += sqrt(i);
    sink = x;
    ran++;
}

// fibonacci: a tree of tasks that do nothing else.
static long fibonacci(int n) {
    long a, b;
    ran++;
    if (n < 2) return n;
#pragma omp task shared(a) firstprivate(n)
    a = fibonacci(n - 1);
#pragma omp task shared(b) firstprivate(n)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

// village: a tree in which each place works by itself, step after step.
static void village(int level, int step) {
    if (level > 0)
        for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(level, step)
            village(level - 1, step);
        }
    work(200 + 60 * ((level * 37 + step * 13) % 50));
#pragma omp taskwait
}

// sort: merges halves, down to 64 numbers.
static void sort(int *from, int *room, int n) {
    if (n <= 64) {
        for (int i = 1; i < n; i++)
            for (int k = i; k > 0 && from[k - 1] > from[k]; k--) {
                int t = from[k];
                from[k] = from[k - 1], from[k - 1] = t;
            }
        ran++;
        return;
    }
    int half = n / 2;
#pragma omp task firstprivate(from, room, half)
    sort(from, room, half);
#pragma omp task firstprivate(from, room, half, n)
    sort(from + half, room + half, n - half);
#pragma omp taskwait
    memcpy(room, from, sizeof *from * (size_t)n);
    for (int i = 0, a = 0, b = half; i < n; i++) from[i] = b >= n || (a < half && room[a] <= room[b]) ? room[a++] : room[b++];
    ran++;
}

// place puts queens on a board, a task for each place of a row.
static void place(int n, int row, unsigned columns, unsigned left, unsigned right) {
    if (row == n) {
        ran++;
        return;
    }
    for (int c = 0; c < n; c++) {
        unsigned bit = 1u << c;
        if ((columns | left | right) & bit) continue;
#pragma omp task firstprivate(row, columns, left, right, bit)
        place(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
#pragma omp taskwait
}

int main(int argc, char **argv) {
    const char *form = argc > 1 ? argv[1] : "";
    enum { NUMBERS = 1 << 20 };
    int *numbers = malloc(sizeof *numbers * NUMBERS), *room = malloc(sizeof *room * NUMBERS);
    double end = omp_get_wtime() + 1.5;
    for (int step = 0; omp_get_wtime() < end; step++) {
        if (!strcmp(form, "sort"))
            for (int i = 0; i < NUMBERS; i++) numbers[i] = rand();
#pragma omp parallel
#pragma omp single
        {
            if (!strcmp(form, "fibonacci")) fibonacci(20);
            else if (!strcmp(form, "health")) village(5, step % 4);
            else if (!strcmp(form, "sort")) sort(numbers, room, NUMBERS);
            else if (!strcmp(form, "queens")) place(8, 0, 0, 0, 0);
            else
                for (int i = 0; i < 200; i++) {
                    int k = 1 + i % 7;
#pragma omp task firstprivate(k)
                    work(k * 2000);
                }
        }
    }
    printf("%ld\n", (long)ran);
    return 0;
}
