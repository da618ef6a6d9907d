/* Launches, and waits for them. */
#include <signal.h>
#include <stdlib.h>

#include "simcuda.h"

static CUresult stream_state(const struct stream *s) {
    if (!s->graph) return CUDA_SUCCESS;
    return s->origin->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult submit(struct stream *s, uint64_t ns, uint64_t nodes) {
    NEED(s, CUDA_ERROR_INVALID_HANDLE);
    CUresult r = stream_state(s);
    if (!r) r = implicit(s);
    if (r) return r;
    if (s->graph) {
        pthread_mutex_lock(&process_lock);
        s->graph->ns += ns;
        s->graph->nodes += nodes;
        pthread_mutex_unlock(&process_lock);
        return CUDA_SUCCESS;
    }
    __atomic_add_fetch(&this_process.kernels, nodes, __ATOMIC_RELAXED);
    device_push(ON(s->device), ns, &s->last);
    return CUDA_SUCCESS;
}

/* What happens at every launch before it, as the faults ask. */
static CUresult launching(void) {
    uint64_t n = COUNT(launches);
    if (config.slow_ns) {
        uint64_t until = now_ns() + config.slow_ns;
        while (now_ns() < until) {
        }
    }
    if (config.fail_at && n >= config.fail_at) {
        __atomic_store_n(&this_process.failed, 1, __ATOMIC_RELAXED);
        return CUDA_ERROR_LAUNCH_FAILED;
    }
    return CUDA_SUCCESS;
}

static CUresult launch(struct stream *s, uint64_t x, uint64_t y, uint64_t z) {
    if (config.noop) return CUDA_SUCCESS;
    NEED_DRIVER;
    NEED(x && y && z, CUDA_ERROR_INVALID_VALUE);
    CUresult r = launching();
    if (!r) r = submit(s, x * y * z * config.ns_per_block, 1);
    if (config.die_at && READ(launches) >= config.die_at) raise(SIGKILL);
    return r;
}
BOTH(cuLaunchKernel, cuLaunchKernel_ptsz,
     (CUhandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUhandle stream, void **args, void **extra),
     ((void)f, (void)bx, (void)by, (void)bz, (void)shared, (void)args, (void)extra, launch), gx, gy, gz)
BOTH(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz,
     (CUhandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUhandle stream, void **args),
     ((void)f, (void)bx, (void)by, (void)bz, (void)shared, (void)args, launch), gx, gy, gz)

static CUresult launch_ex(const CUlaunchConfig *c, int ptsz) {
    if (config.noop) return CUDA_SUCCESS;
    NEED(c, CUDA_ERROR_INVALID_VALUE);
    return launch(stream_of(c->stream, ptsz), c->grid[0], c->grid[1], c->grid[2]);
}
API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUhandle f, void **args, void **extra) {
    (void)f, (void)args, (void)extra;
    return launch_ex(c, 0);
}
API CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *c, CUhandle f, void **args, void **extra) {
    (void)f, (void)args, (void)extra;
    return launch_ex(c, 1);
}

static CUresult graph_launch(struct stream *s, CUhandle exec) {
    struct graph *g = graph_of(exec);
    if (config.noop) return CUDA_SUCCESS;
    NEED_DRIVER;
    NEED(g, CUDA_ERROR_INVALID_VALUE);
    CUresult r = launching();
    COUNT(graphs);
    return r ? r : submit(s, g->ns, g->nodes);
}
BOTH(cuGraphLaunch, cuGraphLaunch_ptsz, (CUhandle exec, CUhandle stream), graph_launch, exec)

static CUresult graph_upload(struct stream *s, CUhandle exec) {
    NEED_DRIVER;
    return s && graph_of(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
BOTH(cuGraphUpload, cuGraphUpload_ptsz, (CUhandle exec, CUhandle stream), graph_upload, exec)

/* Host functions that have not returned, by device. */
static int host_calls[DEVICES];

/* Those of a stream; a thread's own goes with it, so all of the device. */
static int *hosts(struct stream *s) { return s->kind == THREADS ? &host_calls[s->device] : &s->host_calls; }

static void await_host(int *left) {
    while (__atomic_load_n(left, __ATOMIC_ACQUIRE)) sleep_until(now_ns() + 20000);
}

/* Waits for the stream's last command and its host functions. */
static CUresult synchronize(struct stream *s) {
    NEED_DRIVER;
    NEED(s, CUDA_ERROR_INVALID_HANDLE);
    COUNT(syncs);
    if (s->graph) {
        pthread_mutex_lock(&process_lock);
        s->origin->broken = 1;
        pthread_mutex_unlock(&process_lock);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    CUresult r = disturb();
    if (!r) r = implicit(s);
    uint64_t last = __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    if (s->kind == LEGACY) last = device_tail(ON(s->device));
    if (!r && last) device_wait(ON(s->device), last - 1);
    if (!r) await_host(hosts(s));
    return r;
}
BOTH(cuStreamSynchronize, cuStreamSynchronize_ptsz, (CUhandle stream), synchronize)

API CUresult cuCtxSynchronize(void) {
    NEED_DRIVER;
    COUNT(syncs);
    CUresult r = disturb();
    int o = context_device();
    uint64_t tail = device_tail(ON(o));
    if (!r && tail) device_wait(ON(o), tail - 1);
    if (!r) await_host(&host_calls[o]);
    return r;
}
API CUresult cuCtxSynchronize_v2(CUhandle context) {
    CUhandle before;
    NEED(context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    CUresult r = cuCtxPushCurrent_v2(context);
    if (!r) r = cuCtxSynchronize();
    (void)cuCtxPopCurrent_v2(&before);
    return r;
}

static CUresult query(struct stream *s) {
    NEED_DRIVER;
    NEED(s, CUDA_ERROR_INVALID_HANDLE);
    CUresult r = s->graph ? synchronize(s) : implicit(s);
    uint64_t last = __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    if (r || ((!last || device_done(ON(s->device), last - 1, NULL)) && !__atomic_load_n(hosts(s), __ATOMIC_ACQUIRE))) return r;
    return CUDA_ERROR_NOT_READY;
}
BOTH(cuStreamQuery, cuStreamQuery_ptsz, (CUhandle stream), query)

/* Host functions run in a thread of their own once all before them is done, and
 * the stream is not done before they are; what follows them in it is not held
 * back. */
struct host_call {
    int device, *left; /* of the stream, where that is not the device's */
    uint64_t after;
    CUhostFn f;
    void *data;
};

static void run_host_call(int device, int *left, int by) {
    __atomic_add_fetch(&host_calls[device], by, __ATOMIC_RELEASE);
    if (left) __atomic_add_fetch(left, by, __ATOMIC_RELEASE);
}

static void *host_call(void *p) {
    struct host_call c = *(struct host_call *)p;
    free(p);
    device_wait(ON(c.device), c.after);
    c.f(c.data);
    run_host_call(c.device, c.left, -1);
    return NULL;
}

static CUresult host_function(struct stream *s, CUhostFn f, void *data) {
    NEED_DRIVER;
    NEED(f, CUDA_ERROR_INVALID_VALUE);
    CUresult r = submit(s, 0, 0);
    if (r || s->graph) return r;
    pthread_t thread;
    struct host_call *c = malloc(sizeof *c);
    NEED(c, CUDA_ERROR_OUT_OF_MEMORY);
    int *left = s->kind == THREADS ? NULL : &s->host_calls;
    *c = (struct host_call){s->device, left, __atomic_load_n(&s->last, __ATOMIC_RELAXED) - 1, f, data};
    run_host_call(s->device, left, 1);
    if (pthread_create(&thread, NULL, host_call, c)) {
        run_host_call(s->device, left, -1);
        free(c);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_detach(thread);
    return CUDA_SUCCESS;
}
BOTH(cuLaunchHostFunc, cuLaunchHostFunc_ptsz, (CUhandle stream, CUhostFn f, void *data), host_function, f, data)

/* mode: how the host waits before the call, blocking (0) or spinning (1). */
static CUresult host_function_v2(struct stream *s, CUhostFn f, void *data, unsigned mode) {
    NEED(mode <= 1, CUDA_ERROR_INVALID_VALUE);
    return host_function(s, f, data);
}
BOTH(cuLaunchHostFunc_v2, cuLaunchHostFunc_v2_ptsz, (CUhandle stream, CUhostFn f, void *data, unsigned mode), host_function_v2, f, data, mode)

/* Callbacks, waits for a value in memory and writes of one are host functions to
 * this device: the stream is not done before they are. */
struct callback {
    void (*f)(CUhandle, CUresult, void *);
    CUhandle stream;
    void *data;
};

static void call_back(void *p) {
    struct callback c = *(struct callback *)p;
    free(p);
    c.f(c.stream, CUDA_SUCCESS, c.data);
}

static CUresult add_callback(struct stream *s, struct callback c, unsigned flags) {
    NEED(c.f && !flags, CUDA_ERROR_INVALID_VALUE);
    NEED(s && !s->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    struct callback *own = malloc(sizeof *own);
    NEED(own, CUDA_ERROR_OUT_OF_MEMORY);
    *own = c;
    return host_function(s, call_back, own);
}
BOTH(cuStreamAddCallback, cuStreamAddCallback_ptsz, (CUhandle stream, void (*f)(CUhandle, CUresult, void *), void *data, unsigned flags),
     add_callback, (struct callback){f, stream, data}, flags)

struct value {
    uint64_t at, value, mask; /* a 32-bit or a 64-bit word of memory that the host can reach */
    unsigned how;
};

static uint64_t value_now(const struct value *v) {
    return v->mask == UINT32_MAX ? __atomic_load_n((uint32_t *)(uintptr_t)v->at, __ATOMIC_ACQUIRE)
                                 : __atomic_load_n((uint64_t *)(uintptr_t)v->at, __ATOMIC_ACQUIRE);
}

static int value_met(const struct value *v) {
    uint64_t now = value_now(v), half = v->mask / 2;
    switch (v->how & 3) {
    case 0: return ((now - v->value) & v->mask) <= half; /* at least, cyclically */
    case 1: return now == v->value;
    case 2: return (now & v->value) != 0;
    default: return (~(now | v->value) & v->mask) != 0;
    }
}

static void wait_for_value(void *p) {
    while (!value_met(p)) sleep_until(now_ns() + 20000);
    free(p);
}

static void write_value(void *p) {
    struct value *v = p;
    if (v->mask == UINT32_MAX)
        __atomic_store_n((uint32_t *)(uintptr_t)v->at, (uint32_t)v->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint64_t *)(uintptr_t)v->at, v->value, __ATOMIC_RELEASE);
    free(p);
}

static CUresult with_value(struct stream *s, CUhostFn f, struct value v) {
    NEED(v.at, CUDA_ERROR_INVALID_VALUE);
    struct value *own = malloc(sizeof *own);
    NEED(own, CUDA_ERROR_OUT_OF_MEMORY);
    *own = v;
    return host_function(s, f, own);
}
#define VALUE(name, f, type, mask) \
    BOTH(name, name##_ptsz, (CUhandle stream, CUdeviceptr at, type value, unsigned flags), with_value, f, (struct value){at, value, mask, flags})
VALUE(cuStreamWaitValue32_v2, wait_for_value, uint32_t, UINT32_MAX)
VALUE(cuStreamWaitValue64_v2, wait_for_value, uint64_t, UINT64_MAX)
VALUE(cuStreamWriteValue32_v2, write_value, uint32_t, UINT32_MAX)
VALUE(cuStreamWriteValue64_v2, write_value, uint64_t, UINT64_MAX)

/* A version that nobody knows yet, by no exported name: its arguments arrive, or
 * they do not. */
CUresult simcuda_later(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
    return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
