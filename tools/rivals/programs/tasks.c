// Programs whose OpenMP tasks take 1 to 100 microseconds: tasks PROGRAM [ROUNDS].
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;
static uint64_t draw(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

// ---- mandelbrot: tiles of an image, of equal size and very different work

static int tile(int x, int y, int side) {
    int sum = 0;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            double a = (x + i) / 256.0 * 3 - 2, b = (y + j) / 256.0 * 2 - 1, u = 0, v = 0;
            int n = 0;
            for (double t; u * u + v * v < 4 && n < 60; n++) t = u * u - v * v + a, v = 2 * u * v + b, u = t;
            sum += n;
        }
    return sum;
}

static void mandelbrot(long *sum) {
    for (int x = 0; x < 256; x += 8)
        for (int y = 0; y < 256; y += 8) {
#pragma omp task firstprivate(x, y)
            {
                int n = tile(x, y, 8);
#pragma omp atomic
                *sum += n;
            }
        }
}

// ---- rows: the product of a sparse matrix, in blocks of rows of different length

enum { ROWS = 4096 };
static int row_start[ROWS + 1], *columns;
static double vector[ROWS], product[ROWS];

static void make_rows(void) {
    for (int i = 0; i < ROWS; i++) row_start[i + 1] = row_start[i] + 8 + (int)(draw() % 64) * (i % 512 < 64 ? 8 : 1);
    columns = malloc(sizeof(int) * (size_t)row_start[ROWS]);
    for (int k = 0; k < row_start[ROWS]; k++) columns[k] = (int)(draw() % ROWS);
}

static void multiply(int from, int to) {
    for (int i = from; i < to; i++) {
        double s = 0;
        for (int k = row_start[i]; k < row_start[i + 1]; k++) s += vector[columns[k]] * 0.5;
        product[i] = s;
    }
}

static void rows(long *sum) {
    for (int i = 0; i < ROWS; i += 64) {
#pragma omp task firstprivate(i)
        multiply(i, i + 64);
    }
    (void)sum;
}

// ---- words: texts of different length are hashed

static char *text;
static unsigned hash(int from, int length) {
    unsigned h = 2166136261u;
    for (int i = 0; i < length; i++) h = (h ^ (unsigned char)text[from + i]) * 16777619u;
    return h;
}

static void words(long *sum) {
    for (int i = 0, length; i < 900; i++) {
        length = 500 + (int)(draw() % 4) * 9000;
#pragma omp task firstprivate(i, length)
        {
            unsigned h = hash(i * 16, length);
#pragma omp atomic
            *sum += h & 1;
        }
    }
}

// ---- stencil: blocks of a grid that grows, two functions

static double grid[2][1024 * 64];
static void smooth(int from, int count) {
    for (int i = from + 1; i < from + count - 1; i++) grid[1][i] = (grid[0][i - 1] + grid[0][i] + grid[0][i + 1]) / 3;
}
static void copy(int from, int count) { memcpy(grid[0] + from, grid[1] + from, sizeof(double) * (size_t)count); }

static void stencil(long *sum) {
    static int calls;
    int count = 512 << (calls++ / 60 % 4);
    for (int i = 0; i + count <= 1024 * 64; i += count) {
#pragma omp task firstprivate(i, count)
        smooth(i, count);
    }
#pragma omp taskwait
    for (int i = 0; i + count <= 1024 * 64; i += count) {
#pragma omp task firstprivate(i, count)
        copy(i, count);
    }
    (void)sum;
}

// ---- primes: a test by division, whose work depends on the number

static int prime(long n) {
    for (long d = 3; d * d <= n; d += 2)
        if (n % d == 0) return 0;
    return 1;
}

static void primes(long *sum) {
    for (long n = 1000001; n < 1002001; n += 2) {
        long m = n * 41 + 2;
#pragma omp task firstprivate(m)
        {
            int p = prime(m);
#pragma omp atomic
            *sum += p;
        }
    }
}

// ---- bodies: forces on the bodies of cells, pairs of cells of different size

static double place[4096];
static int cell[65];
static double force(int a, int b) {
    double f = 0;
    for (int i = cell[a]; i < cell[a + 1]; i++)
        for (int j = cell[b]; j < cell[b + 1]; j++) f += 1 / (1e-3 + fabs(place[i] - place[j]));
    return f;
}

static void bodies(long *sum) {
    for (int a = 0; a < 32; a++)
        for (int b = 0; b < 32; b++) {
            int na = cell[a + 1] - cell[a], nb = cell[b + 1] - cell[b];
#pragma omp task firstprivate(a, b, na, nb)
            {
                long f = (long)force(a, b);
#pragma omp atomic
                *sum += f + na * 0 + nb * 0;
            }
        }
}

int main(int argc, char **argv) {
    const char *program = argc > 1 ? argv[1] : "mandelbrot";
    int rounds = argc > 2 ? atoi(argv[2]) : 20;
    const struct {
        const char *name;
        void (*run)(long *);
    } programs[] = {{"mandelbrot", mandelbrot}, {"rows", rows}, {"words", words}, {"stencil", stencil}, {"primes", primes}, {"bodies", bodies}};
    make_rows();
    text = calloc(1 << 20, 1);
    for (int i = 0; i < 4096; i++) place[i] = (double)(draw() % 1000) / 1000;
    for (int i = 0; i < 64; i++) cell[i + 1] = cell[i] + 20 + (int)(draw() % 3) * 40;
    long sum = 0;
    double begin = omp_get_wtime();
#pragma omp parallel
#pragma omp single
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            if (!strcmp(program, programs[i].name)) {
                programs[i].run(&sum);
#pragma omp taskwait
            }
    printf("%.6f s, result %ld\n", omp_get_wtime() - begin, sum);
    return 0;
}
