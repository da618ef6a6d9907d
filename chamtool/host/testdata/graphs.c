// Programs whose graphs of tasks differ, written after well-known algorithms: a merge sort,
// Strassen's multiplication, a tree of villages, a wavefront, a chain and a
// sparse Cholesky factorisation. Prints the seconds of its tasks' regions.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned seed = 12345;
static unsigned draw(void) { return seed = seed * 1664525u + 1013904223u; }

// ---- sort: two halves by tasks, then a serial merge

static void merge(int *a, int *scratch, int n, int half) {
    int i = 0, j = half, k = 0;
    while (i < half && j < n) scratch[k++] = a[i] <= a[j] ? a[i++] : a[j++];
    while (i < half) scratch[k++] = a[i++];
    while (j < n) scratch[k++] = a[j++];
    memcpy(a, scratch, sizeof *a * (size_t)n);
}

static int compare(const void *a, const void *b) { return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b); }

static void sort(int *a, int *scratch, int n) {
    if (n <= 1 << 13) {
        qsort(a, (size_t)n, sizeof *a, compare);
        return;
    }
    int half = n / 2;
#pragma omp task
    sort(a, scratch, half);
#pragma omp task
    sort(a + half, scratch + half, n - half);
#pragma omp taskwait
    merge(a, scratch, n, half);
}

static void run_sort(void) {
    int n = 1 << 20, *a = malloc(sizeof *a * (size_t)n), *scratch = malloc(sizeof *a * (size_t)n);
    for (int i = 0; i < n; i++) a[i] = (int)(draw() >> 1);
#pragma omp parallel
#pragma omp single
    sort(a, scratch, n);
    for (int i = 1; i < n; i++) if (a[i] < a[i - 1]) exit(1);
}

// ---- strassen: seven products by tasks

static double *matrix(int n) { return calloc((size_t)n * (size_t)n, sizeof(double)); }

static void plain(const double *a, const double *b, double *c, int n, int la, int lb, int lc) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c[i * lc + j] = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) c[i * lc + j] += a[i * la + k] * b[k * lb + j];
}

static void combine(double *out, const double *a, const double *b, double sign, int n, int la, int lb, int lo) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) out[i * lo + j] = a[i * la + j] + sign * b[i * lb + j];
}

static void strassen(const double *a, const double *b, double *c, int n, int la, int lb, int lc) {
    if (n <= 64) {
        plain(a, b, c, n, la, lb, lc);
        return;
    }
    int h = n / 2;
    const double *a11 = a, *a12 = a + h, *a21 = a + h * la, *a22 = a21 + h, *b11 = b, *b12 = b + h, *b21 = b + h * lb, *b22 = b21 + h;
    double *m[7], *s[10];
    for (int i = 0; i < 7; i++) m[i] = matrix(h);
    for (int i = 0; i < 10; i++) s[i] = matrix(h);
    combine(s[0], a11, a22, 1, h, la, la, h), combine(s[1], b11, b22, 1, h, lb, lb, h);
    combine(s[2], a21, a22, 1, h, la, la, h), combine(s[3], b12, b22, -1, h, lb, lb, h);
    combine(s[4], b21, b11, -1, h, lb, lb, h), combine(s[5], a11, a12, 1, h, la, la, h);
    combine(s[6], a21, a11, -1, h, la, la, h), combine(s[7], b11, b12, 1, h, lb, lb, h);
    combine(s[8], a12, a22, -1, h, la, la, h), combine(s[9], b21, b22, 1, h, lb, lb, h);
    const double *left[7] = {s[0], s[2], a11, a22, s[5], s[6], s[8]}, *right[7] = {s[1], b11, s[3], s[4], b22, s[7], s[9]};
    int ll[7] = {h, h, la, la, h, h, h}, lr[7] = {h, lb, h, h, lb, h, h};
    for (int i = 0; i < 7; i++) {
        const double *x = left[i], *y = right[i];
        double *z = m[i];
        int lx = ll[i], ly = lr[i];
#pragma omp task firstprivate(x, y, z, lx, ly, h)
        strassen(x, y, z, h, lx, ly, h);
    }
#pragma omp taskwait
    for (int i = 0; i < h; i++)
        for (int j = 0; j < h; j++) {
            int k = i * h + j;
            c[i * lc + j] = m[0][k] + m[3][k] - m[4][k] + m[6][k];
            c[i * lc + j + h] = m[2][k] + m[4][k];
            c[(i + h) * lc + j] = m[1][k] + m[3][k];
            c[(i + h) * lc + j + h] = m[0][k] - m[1][k] + m[2][k] + m[5][k];
        }
    for (int i = 0; i < 7; i++) free(m[i]);
    for (int i = 0; i < 10; i++) free(s[i]);
}

static void run_strassen(void) {
    int n = 512;
    double *a = matrix(n), *b = matrix(n), *c = matrix(n);
    for (int i = 0; i < n * n; i++) a[i] = draw() % 7, b[i] = draw() % 5;
#pragma omp parallel
#pragma omp single
    strassen(a, b, c, n, n, n, n);
}

// ---- health: a tree, the children by tasks, a round after the other

static volatile double sink;
static void work(int n) {
    double x = 0;
    for (int i = 0; i < n; i++) x += sqrt(i);
    sink = x;
}

static void village(int level, unsigned id) {
    if (level > 0)
        for (unsigned i = 0; i < 4; i++) {
#pragma omp task
            village(level - 1, id * 4 + i + 1);
        }
    work(3000 + (int)(id * 2654435761u % 8) * 1500);
#pragma omp taskwait
    work(500);
}

static void run_health(void) {
    for (int round = 0; round < 12; round++) {
#pragma omp parallel
#pragma omp single
        village(5, 0);
    }
}

// ---- wave: a square of blocks, each after those above and to the left

static void run_wave(void) {
    enum { N = 24 };
    static int block[N][N];
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int *up = i ? &block[i - 1][j] : &block[i][j], *left = j ? &block[i][j - 1] : &block[i][j];
            (void)up, (void)left;
#pragma omp task depend(in : up[0], left[0]) depend(inout : block[i][j])
            work(100000 + (i * j % 5) * 40000);
        }
}

// ---- chain: each task after the one before

static void run_chain(void) {
    for (int round = 0; round < 5; round++) {
        static int link;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 50; i++) {
#pragma omp task depend(inout : link)
            work(100000);
        }
    }
}

// ---- sparse Cholesky of an arrow matrix: blocks that are zero have no task

static void run_cholesky(void) {
    enum { N = 26 };
    static int block[N][N];
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < N; k++) {
#pragma omp task depend(inout : block[k][k])
        work(60000);
        for (int i = k + 1; i < N; i++) {
            if (i - k > 3 && i < N - 4) continue;
#pragma omp task depend(in : block[k][k]) depend(inout : block[i][k])
            work(120000);
        }
        for (int i = k + 1; i < N; i++) {
            if (i - k > 3 && i < N - 4) continue;
            for (int j = k + 1; j <= i; j++) {
                if (j - k > 3 && j < N - 4) continue;
#pragma omp task depend(in : block[i][k], block[j][k]) depend(inout : block[i][j])
                work(i == j ? 100000 : 200000);
            }
        }
    }
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    double start = omp_get_wtime();
    if (!strcmp(name, "sort")) run_sort();
    if (!strcmp(name, "strassen")) run_strassen();
    if (!strcmp(name, "health")) run_health();
    if (!strcmp(name, "wave")) run_wave();
    if (!strcmp(name, "cholesky")) run_cholesky();
    if (!strcmp(name, "chain")) run_chain();
    printf("%.6f\n", omp_get_wtime() - start);
    return 0;
}
