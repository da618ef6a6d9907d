/* Streams, captures and graphs. */
#include <stdlib.h>

#include "simcuda.h"

enum { STREAM_MAGIC = 0x73747231, GRAPH_MAGIC = 0x67726631 };

struct graph *graph_of(CUhandle h) {
    struct graph *g = h;
    return g && g->magic == GRAPH_MAGIC ? g : NULL;
}

static struct graph *new_graph(uint64_t ns, uint64_t nodes) {
    struct graph *g = calloc(1, sizeof *g);
    if (g) *g = (struct graph){GRAPH_MAGIC, ns, nodes};
    return g;
}

API CUresult cuGraphCreate(CUhandle *graph, unsigned flags) {
    NEED_DRIVER;
    NEED(graph && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *graph = new_graph(0, 0);
    return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
API CUresult cuGraphDestroy(CUhandle graph) {
    struct graph *g = graph_of(graph);
    NEED_DRIVER;
    NEED(g, CUDA_ERROR_INVALID_VALUE);
    g->magic = 0;
    free(g);
    return CUDA_SUCCESS;
}
API CUresult cuGraphExecDestroy(CUhandle exec) { return cuGraphDestroy(exec); }
API CUresult cuGraphGetNodes(CUhandle graph, CUhandle *nodes, size_t *count) {
    struct graph *g = graph_of(graph);
    NEED_DRIVER;
    NEED(g && count && !nodes, CUDA_ERROR_INVALID_VALUE);
    *count = g->nodes;
    return CUDA_SUCCESS;
}
/* A node's handle is its graph's: programs only pass it on. */
static CUresult add_node(CUhandle *node, CUhandle graph, uint64_t ns) {
    struct graph *g = graph_of(graph);
    NEED_DRIVER;
    NEED(node && g, CUDA_ERROR_INVALID_VALUE);
    g->ns += ns;
    g->nodes++;
    *node = g;
    return CUDA_SUCCESS;
}
struct kernel_node {
    CUhandle function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
};
API CUresult cuGraphAddKernelNode(CUhandle *node, CUhandle graph, const CUhandle *after, size_t count, const struct kernel_node *k) {
    (void)after, (void)count;
    NEED(k && k->grid[0] && k->grid[1] && k->grid[2], CUDA_ERROR_INVALID_VALUE);
    return add_node(node, graph, (uint64_t)k->grid[0] * k->grid[1] * k->grid[2] * config.ns_per_block);
}
API CUresult cuGraphAddMemcpyNode(CUhandle *node, CUhandle graph, const CUhandle *after, size_t count, const void *copy, CUhandle context) {
    (void)after, (void)count, (void)copy, (void)context;
    return add_node(node, graph, 0);
}
/* The time of an instantiated graph stays as it was. */
API CUresult cuGraphExecKernelNodeSetParams(CUhandle exec, CUhandle node, const struct kernel_node *k) {
    NEED_DRIVER;
    return graph_of(exec) && node && k ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
API CUresult cuGraphExecMemcpyNodeSetParams(CUhandle exec, CUhandle node, const void *copy, CUhandle context) {
    (void)context;
    NEED_DRIVER;
    return graph_of(exec) && node && copy ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult instantiate(CUhandle *exec, CUhandle graph) {
    struct graph *g = graph_of(graph);
    NEED_DRIVER;
    NEED(exec && g, CUDA_ERROR_INVALID_VALUE);
    *exec = new_graph(g->ns, g->nodes);
    return *exec ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
API CUresult cuGraphInstantiate_v2(CUhandle *exec, CUhandle graph, CUhandle *node, char *log, size_t size) {
    (void)node, (void)log, (void)size;
    return instantiate(exec, graph);
}
API CUresult cuGraphInstantiateWithFlags(CUhandle *exec, CUhandle graph, uint64_t flags) {
    (void)flags;
    return instantiate(exec, graph);
}

enum { NONBLOCKING = 1 };
#define ONE_OF(which, n) {.magic = STREAM_MAGIC, .device = n, .kind = which}
#define DEFAULTS(which) {ONE_OF(which, 0), ONE_OF(which, 1), ONE_OF(which, 2), ONE_OF(which, 3)}
static struct stream legacy[DEVICES] = DEFAULTS(LEGACY);
static __thread struct stream per_thread[DEVICES] = DEFAULTS(THREADS);
static __thread int thread_mode = CAPTURE_GLOBAL;
static struct stream *streams; /* made by cuStreamCreate */

struct stream *stream_of(CUhandle h, int ptsz) {
    struct stream *s = h;
    if (h == CU_STREAM_PER_THREAD || (!h && ptsz)) return &per_thread[context_device()];
    if (h == CU_STREAM_LEGACY || !h) return &legacy[context_device()];
    return s->magic == STREAM_MAGIC ? s : NULL;
}

CUresult disturb(void) {
    CUresult r = CUDA_SUCCESS;
    if (!READ(captures) || thread_mode == CAPTURE_RELAXED) return r;
    pthread_mutex_lock(&process_lock);
    for (struct stream *s = streams; s; s = s->next) {
        if (!s->graph || s->mode == CAPTURE_RELAXED) continue;
        if (s->mode == CAPTURE_THREAD_LOCAL && !pthread_equal(s->by, pthread_self())) continue;
        s->origin->broken = 1;
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&process_lock);
    return r;
}

/* Whether the legacy stream would wait for a capture, which breaks if it did. */
static CUresult would_wait(const struct stream *s, int breaks) {
    CUresult r = CUDA_SUCCESS;
    if (s->kind != LEGACY || !READ(captures)) return r;
    pthread_mutex_lock(&process_lock);
    for (struct stream *o = streams; o; o = o->next) {
        if (!o->graph || o->flags & NONBLOCKING) continue;
        o->origin->broken |= breaks;
        r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    pthread_mutex_unlock(&process_lock);
    return r;
}

CUresult implicit(const struct stream *s) { return would_wait(s, 1); }

static CUresult create_stream(CUhandle *stream, unsigned flags, int priority) {
    NEED_DRIVER;
    NEED(stream && flags <= NONBLOCKING, CUDA_ERROR_INVALID_VALUE);
    struct stream *s = calloc(1, sizeof *s);
    NEED(s, CUDA_ERROR_OUT_OF_MEMORY);
    s->magic = STREAM_MAGIC;
    s->device = context_device();
    s->flags = flags;
    s->priority = priority;
    pthread_mutex_lock(&process_lock);
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&process_lock);
    *stream = s;
    return CUDA_SUCCESS;
}
API CUresult cuStreamCreate(CUhandle *stream, unsigned flags) { return create_stream(stream, flags, 0); }
API CUresult cuStreamCreateWithPriority(CUhandle *stream, unsigned flags, int priority) { return create_stream(stream, flags, priority); }

API CUresult cuStreamDestroy_v2(CUhandle stream) {
    struct stream *s = stream_of(stream, 0);
    NEED_DRIVER;
    NEED(s && s->kind == MADE, CUDA_ERROR_INVALID_HANDLE);
    pthread_mutex_lock(&process_lock);
    struct stream **p = &streams;
    while (*p && *p != s) p = &(*p)->next;
    if (*p) *p = s->next;
    pthread_mutex_unlock(&process_lock);
    s->magic = 0;
    if (!__atomic_load_n(&s->host_calls, __ATOMIC_ACQUIRE)) free(s); /* else its host functions have it */
    return CUDA_SUCCESS;
}

static CUresult begin_capture(struct stream *s, struct graph *into, int mode) {
    NEED_DRIVER;
    NEED(s, CUDA_ERROR_INVALID_HANDLE);
    NEED(s->kind != LEGACY && !s->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    NEED(mode >= CAPTURE_GLOBAL && mode <= CAPTURE_RELAXED, CUDA_ERROR_INVALID_VALUE);
    struct graph *g = into ? into : new_graph(0, 0);
    NEED(g, CUDA_ERROR_OUT_OF_MEMORY);
    pthread_mutex_lock(&process_lock);
    s->origin = s;
    s->mode = mode;
    s->broken = 0;
    s->borrowed = into != NULL;
    s->by = pthread_self();
    s->graph = g;
    COUNT(captures);
    pthread_mutex_unlock(&process_lock);
    return CUDA_SUCCESS;
}
BOTH(cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz, (CUhandle stream, int mode), begin_capture, NULL, mode)
BOTH(cuStreamBeginCapture, cuStreamBeginCapture_ptsz, (CUhandle stream), begin_capture, NULL, CAPTURE_GLOBAL)

static CUresult begin_capture_to(struct stream *s, CUhandle graph, int mode) {
    struct graph *g = graph_of(graph);
    NEED(g, CUDA_ERROR_INVALID_VALUE);
    return begin_capture(s, g, mode);
}
BOTH(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz,
     (CUhandle stream, CUhandle graph, const CUhandle *after, const void *edges, size_t count, int mode),
     ((void)after, (void)edges, (void)count, begin_capture_to), graph, mode)

static CUresult end_capture(struct stream *s, CUhandle *graph) {
    NEED_DRIVER;
    NEED(s && graph, CUDA_ERROR_INVALID_VALUE);
    NEED(s->graph && s->origin == s, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    NEED(s->mode == CAPTURE_RELAXED || pthread_equal(s->by, pthread_self()), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    pthread_mutex_lock(&process_lock);
    struct graph *g = s->graph;
    for (struct stream *o = streams; o; o = o->next)
        if (o->graph == g) o->graph = NULL;
    s->graph = NULL;
    __atomic_sub_fetch(&this_process.captures, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&process_lock);
    *graph = s->broken ? NULL : g;
    if (!s->broken) return CUDA_SUCCESS;
    if (!s->borrowed) free(g);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}
BOTH(cuStreamEndCapture, cuStreamEndCapture_ptsz, (CUhandle stream, CUhandle *graph), end_capture, graph)

static CUresult is_capturing(struct stream *s, int *status) {
    NEED_DRIVER;
    NEED(s && status, CUDA_ERROR_INVALID_VALUE);
    *status = !s->graph ? 0 : s->origin->broken ? 2 : 1;
    return would_wait(s, 0); /* the question leaves the capture whole */
}
BOTH(cuStreamIsCapturing, cuStreamIsCapturing_ptsz, (CUhandle stream, int *status), is_capturing, status)

static CUresult capture_info(struct stream *s, int *status, uint64_t *id) {
    CUresult r = is_capturing(s, status);
    if (!r && id) *id = s->graph ? (uint64_t)(uintptr_t)s->graph : 0;
    return r;
}
BOTH(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz, (CUhandle stream, int *status, uint64_t *id), capture_info, status, id)

static CUresult capture_info_v2(struct stream *s, int *status, uint64_t *id, CUhandle *graph, const CUhandle **after, size_t *count) {
    CUresult r = capture_info(s, status, id);
    if (graph) *graph = r ? NULL : s->graph;
    if (after) *after = NULL;
    if (count) *count = 0;
    return r;
}
BOTH(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz,
     (CUhandle stream, int *status, uint64_t *id, CUhandle *graph, const CUhandle **after, size_t *count),
     capture_info_v2, status, id, graph, after, count)

API CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    NEED(mode && *mode >= CAPTURE_GLOBAL && *mode <= CAPTURE_RELAXED, CUDA_ERROR_INVALID_VALUE);
    int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

static CUresult stream_priority(struct stream *s, int *priority) {
    NEED_DRIVER;
    NEED(s && priority, CUDA_ERROR_INVALID_VALUE);
    *priority = s->priority;
    return CUDA_SUCCESS;
}
BOTH(cuStreamGetPriority, cuStreamGetPriority_ptsz, (CUhandle stream, int *priority), stream_priority, priority)

static CUresult stream_flags(struct stream *s, unsigned *flags) {
    NEED_DRIVER;
    NEED(s && flags, CUDA_ERROR_INVALID_VALUE);
    *flags = s->flags;
    return CUDA_SUCCESS;
}
BOTH(cuStreamGetFlags, cuStreamGetFlags_ptsz, (CUhandle stream, unsigned *flags), stream_flags, flags)

static CUresult stream_context(struct stream *s, CUhandle *context) {
    NEED_DRIVER;
    NEED(s && context, CUDA_ERROR_INVALID_VALUE);
    *context = context_current();
    return CUDA_SUCCESS;
}
BOTH(cuStreamGetCtx, cuStreamGetCtx_ptsz, (CUhandle stream, CUhandle *context), stream_context, context)
