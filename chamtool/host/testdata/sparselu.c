// Blocked sparse LU without pivoting: tasks for row, column and inner blocks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int B, N;
static float **m;
static float *at(int i, int j) { return m[i * N + j]; }
static int filled(int i, int j) {
    if (i == j || i == j + 1 || j == i + 1) return 1;
    unsigned h = (unsigned)(i * 7919 + j * 104729);
    return (i % 4 == 0 && j % 2 == 0) || (j % 3 == 0 && h % 3 == 0);
}
static float *block(int seed) {
    float *b = malloc(sizeof(float) * B * B);
    for (int k = 0; k < B * B; k++) b[k] = (float)((k * 31 + seed) % 97) / 97.0f;
    return b;
}
static void lu0(float *d) {
    for (int k = 0; k < B; k++)
        for (int i = k + 1; i < B; i++) {
            d[i * B + k] /= d[k * B + k];
            for (int j = k + 1; j < B; j++) d[i * B + j] -= d[i * B + k] * d[k * B + j];
        }
}
static void fwd(float *d, float *c) {
    for (int j = 0; j < B; j++)
        for (int k = 0; k < B; k++)
            for (int i = k + 1; i < B; i++) c[i * B + j] -= d[i * B + k] * c[k * B + j];
}
static void bdiv(float *d, float *r) {
    for (int i = 0; i < B; i++)
        for (int k = 0; k < B; k++) {
            r[i * B + k] /= d[k * B + k];
            for (int j = k + 1; j < B; j++) r[i * B + j] -= r[i * B + k] * d[k * B + j];
        }
}
static void bmod(float *r, float *c, float *in) {
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++)
            for (int k = 0; k < B; k++) in[i * B + j] -= r[i * B + k] * c[k * B + j];
}
int main(int argc, char **argv) {
    N = argc > 1 ? atoi(argv[1]) : 50;
    B = argc > 2 ? atoi(argv[2]) : 100;
    m = calloc((size_t)N * N, sizeof *m);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (filled(i, j)) m[i * N + j] = block(i * 13 + j);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < B; k++) at(i, i)[k * B + k] += 40;
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < N; k++) {
        lu0(at(k, k));
        for (int j = k + 1; j < N; j++)
            if (at(k, j)) {
#pragma omp task firstprivate(k, j)
                fwd(at(k, k), at(k, j));
            }
        for (int i = k + 1; i < N; i++)
            if (at(i, k)) {
#pragma omp task firstprivate(k, i)
                bdiv(at(k, k), at(i, k));
            }
#pragma omp taskwait
        for (int i = k + 1; i < N; i++)
            if (at(i, k))
                for (int j = k + 1; j < N; j++)
                    if (at(k, j)) {
#pragma omp task firstprivate(k, i, j)
                        {
                            if (!at(i, j)) { m[i * N + j] = calloc((size_t)B * B, sizeof(float)); }
                            bmod(at(i, k), at(k, j), at(i, j));
                        }
                    }
#pragma omp taskwait
    }
    double s = 0;
    for (int i = 0; i < N; i++) s += at(i, i)[0];
    printf("%g\n", s);
}
