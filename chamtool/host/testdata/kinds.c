// Tasks of a millisecond with one kind of dependence: kinds mutex|wait|undeferred|set|detach.
// All but "set" are chains: their work is their span.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void compute(void) {
    struct timespec t;
    double begin = -1, now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        if (begin < 0) begin = now;
    } while (now < begin + 1e-3);
}

// What later compilers make of depend(inoutset: x), by the runtime's own functions.
typedef struct { int32_t reserved[4]; const char *source; } ident;
typedef struct { intptr_t address; size_t length; uint8_t flags; } dependence;
void *__kmpc_omp_task_alloc(ident *, int, int, size_t, size_t, int (*)(int, void *));
int __kmpc_omp_task_with_deps(ident *, int, void *, int, dependence *, int, dependence *);
int __kmpc_global_thread_num(ident *);

static int body(int thread, void *task) {
    (void)thread, (void)task;
    compute();
    return 0;
}

static void add_to_set(void *address) {
    static ident here = {{0, 2, 0, 0}, ";unknown;unknown;0;0;;"};
    int thread = __kmpc_global_thread_num(&here);
    dependence d = {(intptr_t)address, 1, 8};
    __kmpc_omp_task_with_deps(&here, thread, __kmpc_omp_task_alloc(&here, thread, 1, 40, 0, body), 1, &d, 0, NULL);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    int x = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 40; i++) {
        if (!strcmp(kind, "mutex")) {
#pragma omp task depend(mutexinoutset : x)
            compute();
        } else if (!strcmp(kind, "wait")) {
#pragma omp task depend(out : x)
            compute();
#pragma omp taskwait depend(in : x)
        } else if (!strcmp(kind, "undeferred")) {
#pragma omp task depend(out : x)
            compute();
#pragma omp task depend(in : x) if (0)
            compute();
        } else if (!strcmp(kind, "set")) {
            add_to_set(&x);
        } else if (!strcmp(kind, "detach")) {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(inout : x)
            compute();
#pragma omp task firstprivate(event)
            {
                compute();
                omp_fulfill_event(event);
            }
#pragma omp task depend(inout : x)
            compute();
#pragma omp taskwait
        }
    }
    return 0;
}
