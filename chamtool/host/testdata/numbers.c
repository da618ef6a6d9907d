// Tasks that get their size in seven forms: numbers FORM creates three tasks of each of
// forty sizes, 1000 + 137 i of iteration i, and waits for them.
#include <stdio.h>
#include <string.h>

static double data[8000];
static volatile double sink;

static void sum(const double *from, const double *to) {
    double s = 0;
    while (from < to) s += *from++;
    sink = s;
}

// fraction: the length in units of which a thousand are one.
static void fraction(double length) { sum(data, data + (int)(1000 * length + 0.5)); }

int main(int argc, char **argv) {
    const char *form = argc > 1 ? argv[1] : "";
    double at = 5.25;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 40; i++) {
        int n = 1000 + 137 * i;
        float scale = 1.5f;
        double length = n / 1000.0, to = at + length;
        const double *from = data + i, *end = from + n;
        for (int k = 0; k < 3; k++) {
            if (!strcmp(form, "addresses")) {
#pragma omp task firstprivate(from, end)
                sum(from, end);
            } else if (!strcmp(form, "double")) {
#pragma omp task firstprivate(length)
                fraction(length);
            } else if (!strcmp(form, "float")) {
                float f = n / 1000.0f;
                int id = 1 + i % 7;
#pragma omp task firstprivate(f, id)
                sink = id, fraction(f);
            } else if (!strcmp(form, "alone")) {
#pragma omp task firstprivate(n)
                sum(data, data + n);
            } else if (!strcmp(form, "negative")) {
                float f = 1 + i / 3.0f;
                int down = -n;
#pragma omp task firstprivate(f, down)
                sink = f, sum(data, data - down);
            } else if (!strcmp(form, "bounds")) {
#pragma omp task firstprivate(at, to)
                fraction(to - at);
            } else {
#pragma omp task firstprivate(n, scale)
                sink = scale, sum(data, data + n);
            }
        }
#pragma omp taskwait
        at = to;
    }
    printf("%s\n", form);
}
