/*
 * A background job in one of several shapes of program: shapes SHAPE CSV SECONDS
 * KERNELS BLOCKS. Each job launches its kernels and waits for them; a row of the
 * CSV each, as deft-workload writes them. The shapes:
 *
 *   plain     one stream
 *   default   the legacy default stream
 *   streams   eight streams in turn
 *   threads   four threads with their own default streams
 *   contexts  a second context was used, and destroyed
 *   copy      a copy came before the first launch
 *   events    the job waits for an event
 *   capture   another thread captures all the time
 *   graphs    graphs of ten kernels, made anew every job
 *   fork      in a forked child that starts anew
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *driver, *context, *streams[8];
static const char *shape;
static long kernels;
static unsigned blocks;

static int is(const char *name) { return strcmp(shape, name) == 0; }

static void *symbol(const char *name) {
    void *f = dlsym(driver, name);
    if (!f)
        exit(fprintf(stderr, "shapes: no %s\n", name) ? 1 : 1);
    return f;
}
#define CALL(name, types, ...) check(((int (*) types)symbol(#name))(__VA_ARGS__), #name)
static void check(int r, const char *what) {
    if (r)
        exit(fprintf(stderr, "shapes: %s: error %d\n", what, r) ? 1 : 1);
}

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static launch_fn plain, own;

static void launches(launch_fn f, long n, void *stream) {
    while (n-- > 0)
        check(f(NULL, blocks, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), "launch");
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void start(void) {
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
    CALL(cuCtxSetCurrent, (void *), context);
    for (int i = 0; i < 8; i++)
        CALL(cuStreamCreate, (void **, unsigned), &streams[i], 1);
    plain = (launch_fn)symbol("cuLaunchKernel");
    own = (launch_fn)symbol("cuLaunchKernel_ptsz");
}

static int over; /* the last job has ended */
static pthread_t capturing;

static void *captures(void *unused) {
    CALL(cuCtxSetCurrent, (void *), context);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        void *graph;
        CALL(cuStreamBeginCapture_v2, (void *, int), streams[7], 1);
        launches(plain, 10, streams[7]);
        usleep(20000);
        CALL(cuStreamEndCapture, (void *, void **), streams[7], &graph);
        CALL(cuGraphDestroy, (void *), graph);
    }
    return unused;
}

static void *thread(void *unused) {
    CALL(cuCtxSetCurrent, (void *), context);
    launches(own, kernels / 4, NULL);
    CALL(cuStreamSynchronize_ptsz, (void *), NULL);
    return unused;
}

static void prepare(void) {
    if (is("contexts")) {
        void *second;
        CALL(cuCtxCreate_v2, (void **, unsigned, int), &second, 0, 0);
        launches(plain, 10, NULL);
        CALL(cuCtxDestroy_v2, (void *), second);
        CALL(cuCtxSetCurrent, (void *), context);
    }
    if (is("copy")) {
        uint64_t at, value = 0;
        CALL(cuMemAlloc_v2, (uint64_t *, size_t), &at, 8);
        CALL(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *), at, &value, 8, streams[1]);
    }
    if (is("capture"))
        pthread_create(&capturing, NULL, captures, NULL);
}

static void graphs(void) {
    void *graph, *exec;
    CALL(cuStreamBeginCapture_v2, (void *, int), streams[0], 1);
    launches(plain, 10, streams[0]);
    CALL(cuStreamEndCapture, (void *, void **), streams[0], &graph);
    CALL(cuGraphInstantiateWithFlags, (void **, void *, uint64_t), &exec, graph, 0ull);
    for (long i = 0; i < kernels / 10; i++)
        CALL(cuGraphLaunch, (void *, void *), exec, streams[0]);
    CALL(cuStreamSynchronize, (void *), streams[0]);
    CALL(cuGraphExecDestroy, (void *), exec);
    CALL(cuGraphDestroy, (void *), graph);
}

static void job(void) {
    static void *event;
    if (is("threads")) {
        pthread_t t[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&t[i], NULL, thread, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(t[i], NULL);
    } else if (is("graphs")) {
        graphs();
    } else if (is("streams")) {
        for (long i = 0; i < kernels; i++)
            launches(plain, 1, streams[i % 8]);
        CALL(cuCtxSynchronize, (void));
    } else {
        void *stream = is("default") ? NULL : streams[0];
        launches(plain, kernels, stream);
        if (is("events")) {
            if (!event)
                CALL(cuEventCreate, (void **, unsigned), &event, 2);
            CALL(cuEventRecord, (void *, void *), event, stream);
            CALL(cuEventSynchronize, (void *), event);
        } else {
            CALL(cuStreamSynchronize, (void *), stream);
        }
    }
}

static void timed(FILE *csv) {
    uint64_t begin = now_ns();
    job();
    uint64_t end = now_ns();
    fprintf(csv, "%lu,%lu,%.6f,0,0\n", begin, end, (double)(end - begin) / 1e6);
    fflush(csv);
}

int main(int argc, char **argv) {
    char line[16];
    FILE *csv = argc == 6 ? fopen(argv[2], "w") : NULL;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!csv || !driver)
        return fprintf(stderr, "shapes: SHAPE CSV SECONDS KERNELS BLOCKS, and a driver\n"), 2;
    shape = argv[1];
    kernels = atol(argv[4]);
    blocks = (unsigned)atol(argv[5]);
    if (is("fork")) {
        pid_t child = fork();
        int status = 0;
        if (child)
            return waitpid(child, &status, 0) != child || status;
    }
    fputs("start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte\n", csv);
    start();
    prepare();
    timed(csv);
    puts("model loaded");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return 1;
    for (uint64_t until = now_ns() + (uint64_t)(atof(argv[3]) * 1e9); now_ns() < until;)
        timed(csv);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    if (is("capture"))
        pthread_join(capturing, NULL);
    return 0;
}
