/*
 * A program that does what it is told, for tests: one command a line on stdin,
 * "ok" or "error ..." a line on stdout.
 *
 *   launch N      N kernels of 1 µs in the default stream
 *   side N        the same in a stream of its own
 *   ex N, coop N  the same as side N by cuLaunchKernelEx, cuLaunchCooperativeKernel
 *   graphs N K    N launches of one graph of K such kernels, stream of its own
 *   own ...       launch or threads through the per-thread default streams
 *   sync          cuCtxSynchronize
 *   event, await  record an event in the default stream, wait for it
 *   pollevent     ... or ask for it until it is done
 *   poll          ask for the default stream until it is done
 *   query         ask for the event once
 *   called        wait for a host function of the default stream
 *   read          copy 8 bytes of the last allocation to the host by cuMemcpy
 *   begin MS      deft_job_begin, with a limit (0: none)
 *   end           deft_job_end
 *   capture       begin a capture in the stream of its own
 *   uncapture     end it
 *   alloc BYTES   allocate; "error 2" is out of memory
 *   allocs N BYTES  N allocations, kept
 *   array W H     an array of W times H elements of 4 bytes, kept
 *   create BYTES  memory by handle, and addresses for it
 *   map BYTES OFFSET, unmap BYTES, retain, let   map it there, from the first on
 *                 unmap, take its handle once more, release it once
 *   total         the device's memory, after "ok"
 *   fetch         copy 8 bytes of it to the host
 *   free          free the last allocation
 *   info          total and free memory, after "ok"
 *   device N      the thread's context is now that of device N
 *   context       ... a new one of the same device
 *   uncontext     destroy that one, back to the device's first
 *   streams N K   N kernels, in turn over K streams of the context
 *   unstream      destroy those
 *   copy          copy 8 bytes to the device, in the stream of its own
 *   hostwait, callback, valuewait   the default stream waits, for a host function,
 *                 a callback or a value in memory, until "release" was said
 *   fork N        launch N in a child that starts anew, and wait for it
 *   threads N     launch N in each of 4 threads
 *   exit          end in good order
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *driver;

/* With -DLINKED the wrappers are part of this program. */
static void *symbol(const char *name) {
    void *f = NULL;
#ifdef LINKED
    f = dlsym(RTLD_DEFAULT, name);
#endif
    if (!f)
        f = dlsym(driver, name);
    if (!f) {
        printf("error %s\n", name);
        exit(1);
    }
    return f;
}

#define CALL(name, types, ...) ((int (*) types)symbol(#name))(__VA_ARGS__)

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static launch_fn launch;
static void *context, *first, *stream, *event, *allocation;
static uint64_t handle, reserved;

static void start(void) {
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        printf("error %s\n", dlerror());
        exit(1);
    }
    if (CALL(cuInit, (unsigned), 0) || CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0) ||
        CALL(cuCtxSetCurrent, (void *), context) || CALL(cuStreamCreate, (void **, unsigned), &stream, 1)) {
        printf("error start\n");
        exit(1);
    }
    launch = (launch_fn)symbol("cuLaunchKernel");
}

static int launches(long n, void *where) {
    int r = 0;
    while (n-- > 0 && r == 0)
        r = launch(NULL, 1000, 1, 1, 1, 1, 1, 0, where, NULL, NULL);
    return r;
}

static int extended(long n) {
    struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attributes;
        unsigned count;
    } config = {{1000, 1, 1}, {1, 1, 1}, 0, stream, NULL, 0};
    int r = 0;
    while (n-- > 0 && r == 0)
        r = CALL(cuLaunchKernelEx, (void *, void *, void **, void **), &config, NULL, NULL, NULL);
    return r;
}

static int cooperative(long n) {
    int r = 0;
    while (n-- > 0 && r == 0)
        r = CALL(cuLaunchCooperativeKernel,
                 (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **),
                 NULL, 1000, 1, 1, 1, 1, 1, 0, stream, NULL);
    return r;
}

static int graphs(long n, long kernels) {
    static void *exec;
    static long has;
    int r = 0;
    if (has != kernels) {
        void *graph;
        if (exec)
            r = CALL(cuGraphExecDestroy, (void *), exec);
        has = kernels;
        if (!r)
            r = CALL(cuStreamBeginCapture_v2, (void *, int), stream, 0);
        if (!r)
            r = launches(kernels, stream);
        if (!r)
            r = CALL(cuStreamEndCapture, (void *, void **), stream, &graph);
        if (!r)
            r = CALL(cuGraphInstantiateWithFlags, (void **, void *, uint64_t), &exec, graph, 0);
    }
    while (n-- > 0 && r == 0)
        r = CALL(cuGraphLaunch, (void *, void *), exec, stream);
    return r;
}

static void *thread(void *n) {
    CALL(cuCtxSetCurrent, (void *), context);
    return (void *)(intptr_t)launches((intptr_t)n, NULL);
}

static int threads(long n) {
    pthread_t t[4];
    int failed = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, thread, (void *)(intptr_t)n);
    for (int i = 0; i < 4; i++) {
        void *r;
        pthread_join(t[i], &r);
        failed |= r != NULL;
    }
    return failed;
}

static int forked(long n) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        start();
        int r = launches(n, NULL);
        if (!r)
            r = CALL(cuCtxSynchronize, (void));
        exit(r != 0);
    }
    return waitpid(child, &status, 0) != child || status;
}

static int released;
static void wait_for_release(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&released, __ATOMIC_ACQUIRE))
        usleep(100);
}

static void release(void *unused) {
    (void)unused;
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
}

static int enter(long device) {
    int r = CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, (int)device);
    return r ? r : CALL(cuCtxSetCurrent, (void *), context);
}

static int another_context(void) {
    int device, r = CALL(cuCtxGetDevice, (int *), &device);
    first = context;
    return r ? r : CALL(cuCtxCreate_v2, (void **, unsigned, int), &context, 0, device);
}

static void *several[8];

static int leave_context(void) {
    int r = CALL(cuCtxDestroy_v2, (void *), context);
    context = first;
    return r ? r : CALL(cuCtxSetCurrent, (void *), first);
}

static int in_turn(long n, long count) {
    int r = 0;
    for (long i = 0; i < n && !r; i++) {
        void **s = &several[i % count];
        if (!*s)
            r = CALL(cuStreamCreate, (void **, unsigned), s, 1);
        if (!r)
            r = launches(1, *s);
    }
    return r;
}

static int no_streams(void) {
    int r = 0;
    for (int i = 0; i < 8 && !r; several[i++] = NULL)
        if (several[i])
            r = CALL(cuStreamDestroy_v2, (void *), several[i]);
    return r;
}

static void called_back(void *unused, int status, void *data) {
    (void)unused, (void)status;
    wait_for_release(data);
}

/* Asks until the answer is another than "not ready". */
static int poll_until_done(const char *name, void *what) {
    int (*query)(void *) = (int (*)(void *))symbol(name), r;
    while ((r = query(what)) == 600)
        usleep(100);
    return r;
}

static int call_and_wait(void) {
    released = 0;
    int r = CALL(cuLaunchHostFunc, (void *, void (*)(void *), void *), NULL, release, NULL);
    if (!r)
        wait_for_release(NULL);
    return r;
}

static int mark(const char *which, uint64_t ns) {
    int (*f)(uint64_t) = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, which);
    return f ? f(ns) : -2;
}

int main(void) {
    char line[64], what[32];
    setvbuf(stdout, NULL, _IOLBF, 0);
    int started = 0;
    while (fgets(line, sizeof line, stdin)) {
        long n = 0, k = 0;
        int r = 0, own = strncmp(line, "own ", 4) == 0;
        if (sscanf(own ? line + 4 : line, "%31s %ld %ld", what, &n, &k) < 1)
            continue;
        if (!started && strcmp(what, "fork") && strcmp(what, "exit")) {
            start();
            started = 1;
        }
        if (started)
            launch = (launch_fn)symbol(own ? "cuLaunchKernel_ptsz" : "cuLaunchKernel");
        if (!strcmp(what, "launch"))
            r = launches(n, NULL);
        else if (!strcmp(what, "side"))
            r = launches(n, stream);
        else if (!strcmp(what, "graphs"))
            r = graphs(n, k);
        else if (!strcmp(what, "ex"))
            r = extended(n);
        else if (!strcmp(what, "coop"))
            r = cooperative(n);
        else if (!strcmp(what, "sync"))
            r = CALL(cuCtxSynchronize, (void));
        else if (!strcmp(what, "event"))
            r = event || !CALL(cuEventCreate, (void **, unsigned), &event, 2) ? CALL(cuEventRecord, (void *, void *), event, NULL) : -4;
        else if (!strcmp(what, "await"))
            r = CALL(cuEventSynchronize, (void *), event);
        else if (!strcmp(what, "pollevent"))
            r = poll_until_done("cuEventQuery", event);
        else if (!strcmp(what, "query"))
            r = CALL(cuEventQuery, (void *), event) == 600 ? 0 : -5;
        else if (!strcmp(what, "poll"))
            r = poll_until_done("cuStreamQuery", NULL);
        else if (!strcmp(what, "called"))
            r = call_and_wait();
        else if (!strcmp(what, "begin"))
            r = mark("deft_job_begin", (uint64_t)n * 1000000);
        else if (!strcmp(what, "end"))
            r = mark("deft_job_end", 0);
        else if (!strcmp(what, "capture"))
            r = CALL(cuStreamBeginCapture_v2, (void *, int), stream, 0);
        else if (!strcmp(what, "uncapture")) {
            void *graph;
            r = CALL(cuStreamEndCapture, (void *, void **), stream, &graph);
        } else if (!strcmp(what, "alloc"))
            r = CALL(cuMemAlloc_v2, (void **, size_t), &allocation, (size_t)n);
        else if (!strcmp(what, "allocs"))
            while (n-- > 0 && !r)
                r = CALL(cuMemAlloc_v2, (void **, size_t), &allocation, (size_t)k);
        else if (!strcmp(what, "array")) {
            struct {
                size_t width, height;
                unsigned format, channels;
            } d = {(size_t)n, (size_t)k, 0x20, 1};
            void *array;
            r = CALL(cuArrayCreate_v2, (void **, void *), &array, &d);
        } else if (!strcmp(what, "create")) {
            char properties[64] = {0};
            r = CALL(cuMemCreate, (uint64_t *, size_t, const void *, uint64_t), &handle, (size_t)n, properties, 0ull);
            if (!r) r = CALL(cuMemAddressReserve, (uint64_t *, size_t, size_t, uint64_t, uint64_t), &reserved, (size_t)n, (size_t)0, 0ull, 0ull);
        } else if (!strcmp(what, "map"))
            r = CALL(cuMemMap, (uint64_t, size_t, size_t, uint64_t, uint64_t), reserved + (uint64_t)k, (size_t)n, (size_t)k, handle, 0ull);
        else if (!strcmp(what, "unmap"))
            r = CALL(cuMemUnmap, (uint64_t, size_t), reserved, (size_t)n);
        else if (!strcmp(what, "retain"))
            r = CALL(cuMemRetainAllocationHandle, (uint64_t *, void *), &handle, (void *)(uintptr_t)reserved);
        else if (!strcmp(what, "let"))
            r = CALL(cuMemRelease, (uint64_t), handle);
        else if (!strcmp(what, "total")) {
            size_t total;
            r = CALL(cuDeviceTotalMem_v2, (size_t *, int), &total, 0);
            if (!r) {
                printf("ok %zu\n", total);
                continue;
            }
        } else if (!strcmp(what, "fetch")) {
            uint64_t host;
            r = CALL(cuMemcpyDtoH_v2, (void *, void *, size_t), &host, allocation, sizeof host);
        } else if (!strcmp(what, "read")) {
            uint64_t host;
            r = CALL(cuMemcpy, (uint64_t, uint64_t, size_t), (uint64_t)(uintptr_t)&host, (uint64_t)(uintptr_t)allocation, sizeof host);
        } else if (!strcmp(what, "free"))
            r = CALL(cuMemFree_v2, (void *), allocation);
        else if (!strcmp(what, "info")) {
            size_t left, total;
            r = CALL(cuMemGetInfo_v2, (size_t *, size_t *), &left, &total);
            if (!r) {
                printf("ok %zu %zu\n", total, left);
                continue;
            }
        } else if (!strcmp(what, "device"))
            r = enter(n);
        else if (!strcmp(what, "context"))
            r = another_context();
        else if (!strcmp(what, "uncontext"))
            r = leave_context();
        else if (!strcmp(what, "streams"))
            r = in_turn(n, k);
        else if (!strcmp(what, "unstream"))
            r = no_streams();
        else if (!strcmp(what, "copy"))
            r = CALL(cuMemcpyHtoDAsync_v2, (void *, const void *, size_t, void *), allocation, &handle, sizeof handle, stream);
        else if (!strcmp(what, "callback"))
            r = CALL(cuStreamAddCallback, (void *, void (*)(void *, int, void *), void *, unsigned), NULL, called_back, NULL, 0);
        else if (!strcmp(what, "valuewait"))
            r = CALL(cuStreamWaitValue32_v2, (void *, uint64_t, uint32_t, unsigned), NULL, (uint64_t)(uintptr_t)&released, 1, 1);
        else if (!strcmp(what, "hostwait"))
            r = CALL(cuLaunchHostFunc, (void *, void (*)(void *), void *), NULL, wait_for_release, NULL);
        else if (!strcmp(what, "release"))
            release(NULL);
        else if (!strcmp(what, "fork"))
            r = forked(n);
        else if (!strcmp(what, "threads"))
            r = threads(n);
        else if (!strcmp(what, "exit"))
            return 0;
        else
            r = -3;
        printf(r ? "error %d\n" : "ok\n", r);
    }
    return 0;
}
