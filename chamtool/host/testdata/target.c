// Target tasks, which the runtime's hidden helper threads run: prints how many.
#include <stdio.h>

int main(void) {
    double a[16] = {0};
    int tasks = 0;
    for (int it = 0; it < 5; it++) {
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < 16; i++) {
                tasks++;
#pragma omp target nowait map(tofrom : a[i : 1]) firstprivate(i)
                for (int k = 0; k < 100000; k++) a[i] += k * 1e-9;
            }
#pragma omp taskwait
        }
    }
    printf("tasks %d, %g\n", tasks, a[0]);
    return 0;
}
