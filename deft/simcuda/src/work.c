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
        pthread_mutex_lock(&local);
        s->graph->ns += ns;
        s->graph->nodes += nodes;
        pthread_mutex_unlock(&local);
        return CUDA_SUCCESS;
    }
    __atomic_add_fetch(&me.kernels, nodes, __ATOMIC_RELAXED);
    device_push(me.device, me.client, ns, &s->last);
    return CUDA_SUCCESS;
}

/* What happens at every launch before it, as the faults ask. */
static CUresult launching(void) {
    uint64_t n = COUNT(launches);
    if (set.slow_ns) {
        uint64_t until = now_ns() + set.slow_ns;
        while (now_ns() < until) {
        }
    }
    if (set.fail_at && n >= set.fail_at) {
        __atomic_store_n(&me.failed, 1, __ATOMIC_RELAXED);
        return CUDA_ERROR_LAUNCH_FAILED;
    }
    return CUDA_SUCCESS;
}

static CUresult launch(struct stream *s, uint64_t x, uint64_t y, uint64_t z) {
    if (set.noop) return CUDA_SUCCESS;
    NEED_DRIVER;
    NEED(x && y && z, CUDA_ERROR_INVALID_VALUE);
    CUresult r = launching();
    if (!r) r = submit(s, x * y * z * set.ns_per_block, 1);
    if (set.die_at && READ(launches) >= set.die_at) raise(SIGKILL);
    return r;
}
BOTH(cuLaunchKernel, cuLaunchKernel_ptsz,
     (CUhandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUhandle stream, void **args, void **extra),
     ((void)f, (void)bx, (void)by, (void)bz, (void)shared, (void)args, (void)extra, launch), gx, gy, gz)
BOTH(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz,
     (CUhandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUhandle stream, void **args),
     ((void)f, (void)bx, (void)by, (void)bz, (void)shared, (void)args, launch), gx, gy, gz)

static CUresult launch_ex(const CUlaunchConfig *c, int ptsz) {
    if (set.noop) return CUDA_SUCCESS;
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
    if (set.noop) return CUDA_SUCCESS;
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

/* Waits for the stream's last command. */
static CUresult synchronize(struct stream *s) {
    NEED_DRIVER;
    NEED(s, CUDA_ERROR_INVALID_HANDLE);
    COUNT(syncs);
    if (s->graph) {
        pthread_mutex_lock(&local);
        s->origin->broken = 1;
        pthread_mutex_unlock(&local);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    CUresult r = disturb();
    if (!r) r = implicit(s);
    uint64_t last = __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    if (s == &legacy) last = device_tail(me.device, me.client);
    if (!r && last) device_wait(me.device, me.client, last - 1);
    return r;
}
BOTH(cuStreamSynchronize, cuStreamSynchronize_ptsz, (CUhandle stream), synchronize)

API CUresult cuCtxSynchronize(void) {
    NEED_DRIVER;
    COUNT(syncs);
    CUresult r = disturb();
    uint64_t tail = device_tail(me.device, me.client);
    if (!r && tail) device_wait(me.device, me.client, tail - 1);
    return r;
}
API CUresult cuCtxSynchronize_v2(CUhandle context) { return context_of(context) ? cuCtxSynchronize() : CUDA_ERROR_INVALID_CONTEXT; }

static CUresult query(struct stream *s) {
    NEED_DRIVER;
    NEED(s, CUDA_ERROR_INVALID_HANDLE);
    CUresult r = s->graph ? synchronize(s) : implicit(s);
    uint64_t last = __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    if (r || !last || device_done(me.device, me.client, last - 1, NULL)) return r;
    return CUDA_ERROR_NOT_READY;
}
BOTH(cuStreamQuery, cuStreamQuery_ptsz, (CUhandle stream), query)

/* Host functions run in a thread of their own once all before them is done. */
struct host_call {
    uint64_t after;
    CUhostFn f;
    void *data;
};

static void *host_call(void *p) {
    struct host_call c = *(struct host_call *)p;
    free(p);
    device_wait(me.device, me.client, c.after);
    c.f(c.data);
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
    *c = (struct host_call){__atomic_load_n(&s->last, __ATOMIC_RELAXED) - 1, f, data};
    if (pthread_create(&thread, NULL, host_call, c)) {
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

/* A version that nobody knows yet, by no exported name: its arguments arrive, or
 * they do not. */
CUresult simcuda_later(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
    return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
