/* Small programs that use the driver in one way each, for tests of a hook. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "reach.h"

static const char usage[] =
    "usage: deft-client WAY N [FILE]\n"
    "\n"
    "Launches N kernels of 1 µs in one way and prints \"launches\" with the number of\n"
    "calls that a hook should have seen.\n"
    "\n"
    "  v2 ptds v1 double dlsym   cuLaunchKernel, reached in that way\n"
    "  ex coop                   cuLaunchKernelEx, cuLaunchCooperativeKernel\n"
    "  local FILE, deepbind FILE         a plugin linked to the driver, opened so\n"
    "  local-dlsym FILE, deepbind-dlsym FILE   the same, its launches through dlsym\n"
    "  graph                     one graph of N captured kernels, launched N times\n"
    "  capture                   two captures, one of them in a second stream\n"
    "  fork                      N in the parent, N in a child that starts anew\n"
    "  fork-late                 N in the parent, then N in a child of it\n"
    "  threads                   N in each of 4 threads, at once\n"
    "  events                    N, each between two events, whose times must fit\n"
    "  copies                    N copies there and back; the bytes must be the same\n"
    "  hostfunc                  N, then a host function, which must be called\n"
    "  memory                    allocates and frees N times 1 MiB\n";

static void stop(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
static void stop(int status, const char *format, ...) {
    va_list a;
    va_start(a, format);
    fputs("deft-client: ", stderr);
    vfprintf(stderr, format, a);
    fputc('\n', stderr);
    va_end(a);
    exit(status);
}

static const char *path = "v2";

static void *entry(const char *name, const char *exported) {
    void *p = reach(path, name, exported);
    if (!p) stop(1, "%s", reach_error);
    return p;
}

static void check(CUresult r, const char *what) {
    if (r) stop(1, "%s: driver error %d", what, r);
}

/* Declares a pointer to an entry point and looks it up. */
#define GET(name, exported, ...) CUresult (*name)(__VA_ARGS__) = (CUresult (*)(__VA_ARGS__))entry(#name, exported)

typedef CUresult (*launch_fn)(CUhandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUhandle, void **, void **);

static launch_fn launch;
static CUresult (*synchronize)(void);

static void start(void) {
    GET(cuInit, "cuInit", unsigned);
    GET(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", CUhandle *, CUdevice);
    GET(cuCtxSetCurrent, "cuCtxSetCurrent", CUhandle);
    CUhandle context;
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    launch = (launch_fn)entry("cuLaunchKernel", "cuLaunchKernel");
    synchronize = (CUresult (*)(void))entry("cuCtxSynchronize", "cuCtxSynchronize");
}

static void launch_on(CUhandle stream, int n) {
    for (int i = 0; i < n; i++) check(launch(NULL, 1000, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), "cuLaunchKernel");
}

static int plain(int n) {
    start();
    void *per_thread = reach("dlsym", "", "cuLaunchKernel_ptsz");
    if (!per_thread || ((void *)launch == per_thread) != !strcmp(path, "ptds")) stop(1, "%s: the wrong variant of cuLaunchKernel", path);
    launch_on(NULL, n);
    check(synchronize(), "cuCtxSynchronize");
    return n;
}

static int extended(int n) {
    CUlaunchConfig c = {.grid = {1000, 1, 1}, .block = {1, 1, 1}};
    start();
    GET(cuLaunchKernelEx, "cuLaunchKernelEx", const CUlaunchConfig *, CUhandle, void **, void **);
    for (int i = 0; i < n; i++) check(cuLaunchKernelEx(&c, NULL, NULL, NULL), "cuLaunchKernelEx");
    check(synchronize(), "cuCtxSynchronize");
    return n;
}

static int cooperative(int n) {
    start();
    GET(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", CUhandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUhandle, void **);
    for (int i = 0; i < n; i++) check(cuLaunchCooperativeKernel(NULL, 1000, 1, 1, 1, 1, 1, 0, NULL, NULL), "cuLaunchCooperativeKernel");
    check(synchronize(), "cuCtxSynchronize");
    return n;
}

static int plugin(const char *file, int flags, const char *function, int n) {
    void *p = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL | flags) : NULL;
    if (!p) stop(1, "%s", file ? dlerror() : "want the plugin's file");
    CUresult (*run)(int) = (CUresult (*)(int))dlsym(p, function);
    if (!run) stop(1, "%s", dlerror());
    check(run(n), function);
    return n;
}

static int graph(int n) {
    CUhandle stream, captured, exec;
    int status;
    start();
    GET(cuStreamCreate, "cuStreamCreate", CUhandle *, unsigned);
    GET(cuStreamBeginCapture, "cuStreamBeginCapture_v2", CUhandle, int);
    GET(cuStreamIsCapturing, "cuStreamIsCapturing", CUhandle, int *);
    GET(cuStreamEndCapture, "cuStreamEndCapture", CUhandle, CUhandle *);
    GET(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", CUhandle *, CUhandle, uint64_t);
    GET(cuGraphLaunch, "cuGraphLaunch", CUhandle, CUhandle);
    GET(cuGraphExecDestroy, "cuGraphExecDestroy", CUhandle);
    GET(cuGraphDestroy, "cuGraphDestroy", CUhandle);
    GET(cuStreamDestroy, "cuStreamDestroy_v2", CUhandle);
    GET(cuGraphGetNodes, "cuGraphGetNodes", CUhandle, CUhandle *, size_t *);
    check(cuStreamCreate(&stream, 1), "cuStreamCreate");
    check(cuStreamBeginCapture(stream, 0), "cuStreamBeginCapture");
    launch_on(stream, n);
    check(cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing");
    if (status != 1) stop(1, "capture status %d, want 1: something disturbed the capture", status);
    check(cuStreamEndCapture(stream, &captured), "cuStreamEndCapture");
    size_t nodes = 0;
    check(cuGraphGetNodes(captured, NULL, &nodes), "cuGraphGetNodes");
    if (nodes != (size_t)n) stop(1, "%zu nodes captured, want %d", nodes, n);
    check(cuGraphInstantiateWithFlags(&exec, captured, 0), "cuGraphInstantiateWithFlags");
    for (int i = 0; i < n; i++) check(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    check(synchronize(), "cuCtxSynchronize");
    check(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    check(cuGraphDestroy(captured), "cuGraphDestroy");
    check(cuStreamDestroy(stream), "cuStreamDestroy");
    return n;
}

/* A capture that draws in a second stream through an event, while the first
 * is given kernels all along. */
static int capture(int n) {
    CUhandle a, b, event, captured;
    int status;
    start();
    GET(cuStreamCreate, "cuStreamCreate", CUhandle *, unsigned);
    GET(cuEventCreate, "cuEventCreate", CUhandle *, unsigned);
    GET(cuEventRecord, "cuEventRecord", CUhandle, CUhandle);
    GET(cuStreamWaitEvent, "cuStreamWaitEvent", CUhandle, CUhandle, unsigned);
    GET(cuStreamBeginCapture, "cuStreamBeginCapture_v2", CUhandle, int);
    GET(cuStreamIsCapturing, "cuStreamIsCapturing", CUhandle, int *);
    GET(cuStreamEndCapture, "cuStreamEndCapture", CUhandle, CUhandle *);
    GET(cuStreamSynchronize, "cuStreamSynchronize", CUhandle);
    GET(cuGraphDestroy, "cuGraphDestroy", CUhandle);
    GET(cuEventDestroy, "cuEventDestroy_v2", CUhandle);
    GET(cuStreamDestroy, "cuStreamDestroy_v2", CUhandle);
    check(cuStreamCreate(&a, 1), "cuStreamCreate");
    check(cuStreamCreate(&b, 1), "cuStreamCreate");
    check(cuEventCreate(&event, 2), "cuEventCreate");
    check(cuStreamBeginCapture(a, 0), "cuStreamBeginCapture");
    launch_on(a, n);
    check(cuEventRecord(event, a), "cuEventRecord");
    check(cuStreamWaitEvent(b, event, 0), "cuStreamWaitEvent");
    launch_on(b, n);
    check(cuStreamIsCapturing(b, &status), "cuStreamIsCapturing");
    if (status != 1) stop(1, "capture status of the second stream %d, want 1", status);
    check(cuEventRecord(event, b), "cuEventRecord");
    check(cuStreamWaitEvent(a, event, 0), "cuStreamWaitEvent");
    check(cuStreamEndCapture(a, &captured), "cuStreamEndCapture");
    check(cuGraphDestroy(captured), "cuGraphDestroy");
    /* and one that is disturbed by the program itself must fail as documented */
    check(cuStreamBeginCapture(a, 0), "cuStreamBeginCapture");
    launch_on(a, n);
    CUresult r = cuStreamSynchronize(a);
    if (r != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) stop(1, "a wait inside a capture: %d, want %d", r, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    r = cuStreamEndCapture(a, &captured);
    if (r != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) stop(1, "end of a disturbed capture: %d, want %d", r, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    launch_on(a, n);
    check(cuStreamSynchronize(a), "cuStreamSynchronize");
    check(cuEventDestroy(event), "cuEventDestroy");
    check(cuStreamDestroy(a), "cuStreamDestroy");
    check(cuStreamDestroy(b), "cuStreamDestroy");
    return 4 * n;
}

static void in_child(int n) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) stop(1, "fork failed");
    if (!child) {
        plain(n);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status) stop(1, "the child ended with status %#x", status);
}

static int fork_first(int n) {
    in_child(n);
    return 2 * plain(n);
}

static int fork_late(int n) {
    plain(n);
    in_child(n);
    return 2 * n;
}

static void *one_thread(void *n) {
    launch_on(NULL, *(int *)n);
    check(synchronize(), "cuCtxSynchronize");
    return NULL;
}

static int threads(int n) {
    pthread_t t[4];
    start();
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, one_thread, &n)) stop(1, "no thread");
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 4 * n;
}

static int events(int n) {
    CUhandle a, b;
    float ms;
    start();
    GET(cuEventCreate, "cuEventCreate", CUhandle *, unsigned);
    GET(cuEventRecord, "cuEventRecord", CUhandle, CUhandle);
    GET(cuEventSynchronize, "cuEventSynchronize", CUhandle);
    GET(cuEventDestroy, "cuEventDestroy_v2", CUhandle);
    GET(cuEventElapsedTime, "cuEventElapsedTime", float *, CUhandle, CUhandle);
    check(cuEventCreate(&a, 0), "cuEventCreate");
    check(cuEventCreate(&b, 0), "cuEventCreate");
    for (int i = 0; i < n; i++) {
        check(cuEventRecord(a, NULL), "cuEventRecord");
        launch_on(NULL, 1);
        check(cuEventRecord(b, NULL), "cuEventRecord");
        check(cuEventSynchronize(b), "cuEventSynchronize");
        check(cuEventElapsedTime(&ms, a, b), "cuEventElapsedTime");
        if (ms < 0.00099f) stop(1, "a kernel of 1 µs took %g ms", (double)ms);
    }
    check(cuEventDestroy(a), "cuEventDestroy");
    check(cuEventDestroy(b), "cuEventDestroy");
    return n;
}

static int copies(int n) {
    CUdeviceptr at;
    start();
    GET(cuMemAlloc, "cuMemAlloc_v2", CUdeviceptr *, size_t);
    GET(cuMemcpyHtoD, "cuMemcpyHtoD_v2", CUdeviceptr, const void *, size_t);
    GET(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", void *, CUdeviceptr, size_t, CUhandle);
    GET(cuMemsetD8, "cuMemsetD8_v2", CUdeviceptr, unsigned char, size_t);
    GET(cuMemFree, "cuMemFree_v2", CUdeviceptr);
    char there[256], back[256];
    check(cuMemAlloc(&at, sizeof there), "cuMemAlloc");
    for (int i = 0; i < n; i++) {
        memset(there, 'a' + i % 26, sizeof there);
        check(cuMemcpyHtoD(at, there, sizeof there), "cuMemcpyHtoD");
        check(cuMemsetD8(at, 0, 1), "cuMemsetD8");
        check(cuMemcpyDtoHAsync(back, at, sizeof back, NULL), "cuMemcpyDtoHAsync");
        check(synchronize(), "cuCtxSynchronize");
        if (back[0] != 0 || memcmp(back + 1, there + 1, sizeof there - 1)) stop(1, "the bytes came back changed");
    }
    check(cuMemFree(at), "cuMemFree");
    return 0;
}

static void called(void *flag) { __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE); }

static int host_function(int n) {
    int flag = 0;
    start();
    GET(cuLaunchHostFunc, "cuLaunchHostFunc", CUhandle, CUhostFn, void *);
    launch_on(NULL, n);
    check(cuLaunchHostFunc(NULL, called, &flag), "cuLaunchHostFunc");
    check(synchronize(), "cuCtxSynchronize");
    for (int i = 0; i < 1000 && !__atomic_load_n(&flag, __ATOMIC_ACQUIRE); i++) usleep(10000);
    if (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) stop(1, "the host function was not called");
    return n;
}

static int memory(int n) {
    CUdeviceptr at[64];
    size_t before, during, total;
    start();
    GET(cuMemAlloc, "cuMemAlloc_v2", CUdeviceptr *, size_t);
    GET(cuMemFree, "cuMemFree_v2", CUdeviceptr);
    GET(cuMemGetInfo, "cuMemGetInfo_v2", size_t *, size_t *);
    if (n > 64) n = 64;
    check(cuMemGetInfo(&before, &total), "cuMemGetInfo");
    for (int i = 0; i < n; i++) check(cuMemAlloc(&at[i], 1 << 20), "cuMemAlloc");
    check(cuMemGetInfo(&during, &total), "cuMemGetInfo");
    if (before - during != (size_t)n << 20) stop(1, "%zu bytes missing after allocating %d MiB", before - during, n);
    for (int i = 0; i < n; i++) check(cuMemFree(at[i]), "cuMemFree");
    check(cuMemGetInfo(&during, &total), "cuMemGetInfo");
    if (during != before) stop(1, "%zu bytes missing after all was freed", before - during);
    return 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int);
    } ways[] = {{"ex", extended}, {"coop", cooperative}, {"graph", graph}, {"capture", capture}, {"fork", fork_first}, {"fork-late", fork_late},
                {"threads", threads}, {"events", events}, {"copies", copies}, {"hostfunc", host_function}, {"memory", memory}};
    const char *way = argc > 1 ? argv[1] : "", *file = argc > 3 ? argv[3] : NULL;
    int n = argc > 2 ? atoi(argv[2]) : 0, seen = -1;
    if (argc < 3 || n < 1) {
        fputs(usage, stderr);
        return 2;
    }
    if (reach_known(way)) {
        path = way;
        seen = plain(n);
    }
    if (!strcmp(way, "local")) seen = plugin(file, 0, "plugin_linked", n);
    if (!strcmp(way, "local-dlsym")) seen = plugin(file, 0, "plugin_looked_up", n);
    if (!strcmp(way, "deepbind")) seen = plugin(file, RTLD_DEEPBIND, "plugin_linked", n);
    if (!strcmp(way, "deepbind-dlsym")) seen = plugin(file, RTLD_DEEPBIND, "plugin_looked_up", n);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(way, ways[i].name)) seen = ways[i].run(n);
    if (seen < 0) stop(2, "%s: no such way", way);
    printf("launches %d\n", seen);
    return 0;
}
