/* libcuda.so.1 without a GPU: the driver API as programs and hooks meet it,
 * over the device of device.h. Kernels compute nothing; they take time, in
 * proportion to their number of blocks. Streams of one process share its queue
 * and run in the order of submission; copies move their bytes at the call and
 * take their time in the queue.
 *
 * Settings, read from the environment once:
 *   SIMCUDA_DEVICE        file of the device (/dev/shm/simcuda-UID)
 *   SIMCUDA_ORDER         fifo (default) or sliced
 *   SIMCUDA_SLICE_NS      turn of a client when sliced (2000000)
 *   SIMCUDA_SWITCH_NS     idle time at a change of turn (0)
 *   SIMCUDA_QUEUE         commands a process may have waiting (1024)
 *   SIMCUDA_NS_PER_BLOCK  time of one block of a kernel (1)
 *   SIMCUDA_NS_PER_KIB    time to copy or set 1024 bytes (80)
 *   SIMCUDA_MEMORY_BYTES  device memory (17179869184)
 *   SIMCUDA_AFTER_FORK    refuse (default, as the real driver does) or allow
 *   SIMCUDA_COUNTS        file to which each process appends what it did
 *   SIMCUDA_NOOP          1: cuLaunchKernel returns at once, for measurements
 *   SIMCUDA_FAULT         comma-separated: launch:N (the N-th launch fails, and
 *                         all that follow), die:N (SIGKILL at the N-th launch,
 *                         the kernel queued), slow:NS (a launch keeps the host
 *                         busy), dlsym (the driver looks its own names up)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "device.h"
#include "driver.h"

#define API __attribute__((visibility("default")))

enum { VERSION = 13000, MULTIPROCESSORS = 132, CONTEXT_MAGIC = 0x63747831, STREAM_MAGIC = 0x73747231, EVENT_MAGIC = 0x65767431, GRAPH_MAGIC = 0x67726631 };

/* ---- settings and the process ------------------------------------------- */

static struct {
    uint64_t ns_per_block, ns_per_kib;
    uint64_t fail_at, die_at, slow_ns;
    int look_up, noop, after_fork;
} set = {1, 80, 0, 0, 0, 0, 0, 0};

static struct {
    struct device *device;
    int client;
    int ready;    /* cuInit has been called here */
    int orphan;   /* a forked child of a process that had called cuInit */
    int failed;   /* a launch has failed: every call does from now on */
    int captures; /* streams that are being captured */
    uint64_t launches, kernels, graphs, syncs, copies;
} me;

/* Guards streams, events, graphs and allocations of this process. */
static pthread_mutex_t local = PTHREAD_MUTEX_INITIALIZER;

#define COUNT(what) __atomic_add_fetch(&me.what, 1, __ATOMIC_RELAXED)
#define READ(what) __atomic_load_n(&me.what, __ATOMIC_RELAXED)

static uint64_t number_from(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void read_faults(const char *s) {
    for (; s && *s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        sscanf(s, "launch:%lu", &set.fail_at);
        sscanf(s, "die:%lu", &set.die_at);
        sscanf(s, "slow:%lu", &set.slow_ns);
        if (!strncmp(s, "dlsym", 5)) set.look_up = 1;
    }
}

static void in_child(void) {
    pthread_mutex_init(&local, NULL);
    me.orphan = me.ready && !set.after_fork;
    me.ready = 0;
    me.launches = me.kernels = me.graphs = me.syncs = me.copies = 0;
}

__attribute__((constructor)) static void load(void) {
    const char *after = getenv("SIMCUDA_AFTER_FORK");
    set.ns_per_block = number_from("SIMCUDA_NS_PER_BLOCK", 1);
    set.ns_per_kib = number_from("SIMCUDA_NS_PER_KIB", 80);
    set.noop = number_from("SIMCUDA_NOOP", 0) == 1;
    set.after_fork = after && !strcmp(after, "allow");
    read_faults(getenv("SIMCUDA_FAULT"));
    pthread_atfork(NULL, NULL, in_child);
}

static CUresult join(void) {
    char path[64];
    const char *file = getenv("SIMCUDA_DEVICE"), *order = getenv("SIMCUDA_ORDER");
    struct device_settings s = {
        .order = order && !strcmp(order, "sliced") ? DEVICE_SLICED : DEVICE_FIFO,
        .slice_ns = number_from("SIMCUDA_SLICE_NS", 2000000),
        .switch_ns = number_from("SIMCUDA_SWITCH_NS", 0),
        .memory_bytes = number_from("SIMCUDA_MEMORY_BYTES", 16ull << 30),
        .queue = number_from("SIMCUDA_QUEUE", DEVICE_QUEUE),
    };
    if (s.slice_ns < 1000) s.slice_ns = 1000;
    if (s.queue < 1 || s.queue > DEVICE_QUEUE) s.queue = DEVICE_QUEUE;
    if (!file || !*file) {
        snprintf(path, sizeof path, "/dev/shm/simcuda-%u", (unsigned)getuid());
        file = path;
    }
    if (!me.device) me.device = device_open(file, &s);
    if (!me.device) {
        fprintf(stderr, "simcuda: %s: %s\n", file, strerror(errno));
        return CUDA_ERROR_NO_DEVICE;
    }
    me.client = device_join(me.device);
    if (me.client < 0) {
        fprintf(stderr, "simcuda: %s: all %d places for processes are taken\n", file, DEVICE_CLIENTS);
        return CUDA_ERROR_NO_DEVICE;
    }
    return CUDA_SUCCESS;
}

static void write_counts(void) {
    char line[160];
    const char *path = getenv("SIMCUDA_COUNTS");
    int fd = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    int n = snprintf(line, sizeof line, "{\"pid\":%d,\"launches\":%lu,\"kernels\":%lu,\"graphs\":%lu,\"syncs\":%lu,\"copies\":%lu}\n",
                     (int)getpid(), READ(launches), READ(kernels), READ(graphs), READ(syncs), READ(copies));
    if (write(fd, line, (size_t)n) != n) fprintf(stderr, "simcuda: %s: %s\n", path, strerror(errno));
    close(fd);
}

__attribute__((destructor)) static void unload(void) {
    if (!__atomic_exchange_n(&me.ready, 0, __ATOMIC_ACQ_REL)) return;
    write_counts();
    device_leave(me.device, me.client);
}

static CUresult usable(void) {
    if (!__atomic_load_n(&me.ready, __ATOMIC_ACQUIRE)) return CUDA_ERROR_NOT_INITIALIZED;
    return READ(failed) ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

#define NEED_DRIVER                \
    do {                           \
        CUresult state = usable(); \
        if (state) return state;   \
    } while (0)
#define NEED(condition, error)         \
    do {                               \
        if (!(condition)) return error; \
    } while (0)

API CUresult cuInit(unsigned flags) {
    CUresult r = CUDA_SUCCESS;
    NEED(flags == 0, CUDA_ERROR_INVALID_VALUE);
    NEED(!me.orphan, CUDA_ERROR_NOT_INITIALIZED);
    pthread_mutex_lock(&local);
    if (!me.ready && !(r = join())) __atomic_store_n(&me.ready, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&local);
    return r;
}

API CUresult cuDriverGetVersion(int *version) {
    NEED(version, CUDA_ERROR_INVALID_VALUE);
    *version = VERSION;
    return CUDA_SUCCESS;
}

/* ---- devices and contexts ----------------------------------------------- */

struct context {
    int magic;
    struct context *below; /* of the calling thread's stack */
    uint64_t last;         /* of the legacy default stream, plus 1 */
};

static struct context primary = {CONTEXT_MAGIC, NULL, 0};
static __thread struct context *current;

API CUresult cuDeviceGetCount(int *count) {
    NEED_DRIVER;
    NEED(count, CUDA_ERROR_INVALID_VALUE);
    *count = 1;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    NEED_DRIVER;
    NEED(device, CUDA_ERROR_INVALID_VALUE);
    NEED(ordinal == 0, CUDA_ERROR_INVALID_DEVICE);
    *device = 0;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    NEED_DRIVER;
    NEED(name && size > 0, CUDA_ERROR_INVALID_VALUE);
    NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    snprintf(name, (size_t)size, "simulated device");
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(unsigned char uuid[16], CUdevice device) {
    NEED_DRIVER;
    NEED(uuid, CUDA_ERROR_INVALID_VALUE);
    NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    memcpy(uuid, "simcuda-device-0", 16);
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetUuid(unsigned char uuid[16], CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    uint64_t unused, total;
    NEED_DRIVER;
    NEED(bytes, CUDA_ERROR_INVALID_VALUE);
    NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    device_memory_info(me.device, &unused, &total);
    *bytes = total;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    NEED_DRIVER;
    NEED(value, CUDA_ERROR_INVALID_VALUE);
    NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    switch (attribute) {
    case 1: *value = 1024; break;             /* threads per block */
    case 10: *value = 32; break;              /* warp */
    case 16: *value = MULTIPROCESSORS; break; /* multiprocessors */
    case 41: *value = 1; break;               /* unified addressing */
    case 75: *value = 9; break;               /* compute capability */
    case 95: *value = 1; break;               /* cooperative launch */
    default: *value = 0;
    }
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRetain(CUhandle *context, CUdevice device) {
    NEED_DRIVER;
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    *context = &primary;
    return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    NEED_DRIVER;
    return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    (void)flags;
    return cuDevicePrimaryCtxRelease_v2(device);
}
API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    NEED(flags && active, CUDA_ERROR_INVALID_VALUE);
    *flags = 0;
    *active = 1;
    return cuDevicePrimaryCtxRelease_v2(device);
}

static struct context *context_of(CUhandle h) {
    struct context *c = h;
    return c && c->magic == CONTEXT_MAGIC ? c : NULL;
}

static CUresult create_context(CUhandle *context, CUdevice device) {
    NEED_DRIVER;
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    struct context *c = calloc(1, sizeof *c);
    NEED(c, CUDA_ERROR_OUT_OF_MEMORY);
    c->magic = CONTEXT_MAGIC;
    c->below = current;
    *context = current = c;
    return CUDA_SUCCESS;
}
API CUresult cuCtxCreate_v2(CUhandle *context, unsigned flags, CUdevice device) {
    (void)flags;
    return create_context(context, device);
}
API CUresult cuCtxCreate_v3(CUhandle *context, void *affinity, int count, unsigned flags, CUdevice device) {
    (void)affinity, (void)count, (void)flags;
    return create_context(context, device);
}
API CUresult cuCtxCreate_v4(CUhandle *context, void *parameters, unsigned flags, CUdevice device) {
    (void)parameters, (void)flags;
    return create_context(context, device);
}

API CUresult cuCtxDestroy_v2(CUhandle context) {
    struct context *c = context_of(context);
    NEED_DRIVER;
    NEED(c && c != &primary, CUDA_ERROR_INVALID_CONTEXT);
    if (current == c) current = c->below;
    c->magic = 0;
    free(c);
    return CUDA_SUCCESS;
}
API CUresult cuCtxSetCurrent(CUhandle context) {
    NEED_DRIVER;
    NEED(!context || context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    current = context;
    return CUDA_SUCCESS;
}
API CUresult cuCtxGetCurrent(CUhandle *context) {
    NEED_DRIVER;
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    *context = current;
    return CUDA_SUCCESS;
}
API CUresult cuCtxPushCurrent_v2(CUhandle context) {
    struct context *c = context_of(context);
    NEED_DRIVER;
    NEED(c, CUDA_ERROR_INVALID_CONTEXT);
    if (c != &primary) c->below = current;
    current = c;
    return CUDA_SUCCESS;
}
API CUresult cuCtxPopCurrent_v2(CUhandle *context) {
    NEED_DRIVER;
    NEED(current, CUDA_ERROR_INVALID_CONTEXT);
    if (context) *context = current;
    current = current->below;
    return CUDA_SUCCESS;
}
API CUresult cuCtxGetDevice(CUdevice *device) {
    NEED_DRIVER;
    NEED(device, CUDA_ERROR_INVALID_VALUE);
    NEED(current, CUDA_ERROR_INVALID_CONTEXT);
    *device = 0;
    return CUDA_SUCCESS;
}
API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    NEED_DRIVER;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

/* ---- graphs ------------------------------------------------------------- */

/* A graph, being captured, finished or instantiated: only its length counts. */
struct graph {
    int magic;
    uint64_t ns, nodes;
};

static struct graph *graph_of(CUhandle h) {
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

/* ---- streams and capture ------------------------------------------------- */

enum { NONBLOCKING = 1 };
enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };

struct stream {
    int magic;
    unsigned flags;
    int priority;
    uint64_t last;         /* number of its last command, plus 1 */
    struct graph *graph;   /* what is being captured; NULL for none */
    struct stream *origin; /* where that capture began */
    int mode, broken;
    int lent; /* graph is the caller's */
    pthread_t by;
    struct stream *next;
};

static struct stream legacy = {.magic = STREAM_MAGIC};
static __thread struct stream per_thread = {.magic = STREAM_MAGIC};
static __thread int thread_mode = CAPTURE_GLOBAL;
static struct stream *streams; /* made by cuStreamCreate */

static struct stream *stream_of(CUhandle h, int ptsz) {
    struct stream *s = h;
    if (h == CU_STREAM_PER_THREAD || (!h && ptsz)) return &per_thread;
    if (h == CU_STREAM_LEGACY || !h) return &legacy;
    return s->magic == STREAM_MAGIC ? s : NULL;
}

static CUresult stream_state(const struct stream *s) {
    if (!s->graph) return CUDA_SUCCESS;
    return s->origin->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

/* Ends the hopes of every capture that this thread may disturb, as calls do
 * that would have to wait: CUDA_SUCCESS if there is none. */
static CUresult disturb(void) {
    CUresult r = CUDA_SUCCESS;
    if (!READ(captures) || thread_mode == CAPTURE_RELAXED) return r;
    pthread_mutex_lock(&local);
    for (struct stream *s = streams; s; s = s->next) {
        if (!s->graph || s->mode == CAPTURE_RELAXED) continue;
        if (s->mode == CAPTURE_THREAD_LOCAL && !pthread_equal(s->by, pthread_self())) continue;
        s->origin->broken = 1;
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&local);
    return r;
}

/* The legacy stream waits for all blocking streams: not while one captures. */
static CUresult implicit(const struct stream *s) {
    CUresult r = CUDA_SUCCESS;
    if (s != &legacy || !READ(captures)) return r;
    pthread_mutex_lock(&local);
    for (struct stream *o = streams; o; o = o->next) {
        if (!o->graph || o->flags & NONBLOCKING) continue;
        o->origin->broken = 1;
        r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    pthread_mutex_unlock(&local);
    return r;
}

static CUresult create_stream(CUhandle *stream, unsigned flags, int priority) {
    NEED_DRIVER;
    NEED(stream && flags <= NONBLOCKING, CUDA_ERROR_INVALID_VALUE);
    struct stream *s = calloc(1, sizeof *s);
    NEED(s, CUDA_ERROR_OUT_OF_MEMORY);
    s->magic = STREAM_MAGIC;
    s->flags = flags;
    s->priority = priority;
    pthread_mutex_lock(&local);
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&local);
    *stream = s;
    return CUDA_SUCCESS;
}
API CUresult cuStreamCreate(CUhandle *stream, unsigned flags) { return create_stream(stream, flags, 0); }
API CUresult cuStreamCreateWithPriority(CUhandle *stream, unsigned flags, int priority) { return create_stream(stream, flags, priority); }

API CUresult cuStreamDestroy_v2(CUhandle stream) {
    struct stream *s = stream_of(stream, 0);
    NEED_DRIVER;
    NEED(s && s != &legacy && s != &per_thread, CUDA_ERROR_INVALID_HANDLE);
    pthread_mutex_lock(&local);
    struct stream **p = &streams;
    while (*p && *p != s) p = &(*p)->next;
    if (*p) *p = s->next;
    pthread_mutex_unlock(&local);
    s->magic = 0;
    free(s);
    return CUDA_SUCCESS;
}

/* Two entry points: the plain one, whose stream 0 is the legacy stream, and the
 * one whose stream 0 is the calling thread's. */
#define BOTH(name, second, parameters, f, ...)                                                      \
    API CUresult name parameters { return f(stream_of(stream, 0) __VA_OPT__(, ) __VA_ARGS__); }     \
    API CUresult second parameters { return f(stream_of(stream, 1) __VA_OPT__(, ) __VA_ARGS__); }

/* The same for calls that take no stream: they mean the default one. */
#define DEFAULT(name, second, parameters, f, ...)                                \
    API CUresult name parameters { return f(&legacy __VA_OPT__(, ) __VA_ARGS__); } \
    API CUresult second parameters { return f(&per_thread __VA_OPT__(, ) __VA_ARGS__); }

static CUresult begin_capture(struct stream *s, struct graph *into, int mode) {
    NEED_DRIVER;
    NEED(s, CUDA_ERROR_INVALID_HANDLE);
    NEED(s != &legacy && !s->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    NEED(mode >= CAPTURE_GLOBAL && mode <= CAPTURE_RELAXED, CUDA_ERROR_INVALID_VALUE);
    struct graph *g = into ? into : new_graph(0, 0);
    NEED(g, CUDA_ERROR_OUT_OF_MEMORY);
    pthread_mutex_lock(&local);
    s->origin = s;
    s->mode = mode;
    s->broken = 0;
    s->lent = into != NULL;
    s->by = pthread_self();
    s->graph = g;
    COUNT(captures);
    pthread_mutex_unlock(&local);
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
    pthread_mutex_lock(&local);
    struct graph *g = s->graph;
    for (struct stream *o = streams; o; o = o->next)
        if (o->graph == g) o->graph = NULL;
    s->graph = NULL;
    __atomic_sub_fetch(&me.captures, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&local);
    *graph = s->broken ? NULL : g;
    if (!s->broken) return CUDA_SUCCESS;
    if (!s->lent) free(g);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}
BOTH(cuStreamEndCapture, cuStreamEndCapture_ptsz, (CUhandle stream, CUhandle *graph), end_capture, graph)

static CUresult is_capturing(struct stream *s, int *status) {
    NEED_DRIVER;
    NEED(s && status, CUDA_ERROR_INVALID_VALUE);
    *status = !s->graph ? 0 : s->origin->broken ? 2 : 1;
    return implicit(s);
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
    *context = current ? current : &primary;
    return CUDA_SUCCESS;
}
BOTH(cuStreamGetCtx, cuStreamGetCtx_ptsz, (CUhandle stream, CUhandle *context), stream_context, context)

/* ---- work ----------------------------------------------------------------- */

/* Queues ns on the stream, or records it where the stream is captured. */
static CUresult submit(struct stream *s, uint64_t ns, uint64_t nodes) {
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

/* ---- events ---------------------------------------------------------------- */

struct event {
    int magic;
    int timed;
    uint64_t number;       /* of the command that stands for it, plus 1 */
    uint64_t end;          /* when that was done, once somebody has asked */
    struct graph *graph;   /* it was recorded into this capture */
    struct stream *origin; /* of that capture */
};

static struct event *event_of(CUhandle h) {
    struct event *e = h;
    return e && e->magic == EVENT_MAGIC ? e : NULL;
}

API CUresult cuEventCreate(CUhandle *event, unsigned flags) {
    NEED_DRIVER;
    NEED(event, CUDA_ERROR_INVALID_VALUE);
    struct event *e = calloc(1, sizeof *e);
    NEED(e, CUDA_ERROR_OUT_OF_MEMORY);
    e->magic = EVENT_MAGIC;
    e->timed = !(flags & 2);
    *event = e;
    return CUDA_SUCCESS;
}
API CUresult cuEventDestroy_v2(CUhandle event) {
    struct event *e = event_of(event);
    NEED_DRIVER;
    NEED(e, CUDA_ERROR_INVALID_HANDLE);
    e->magic = 0;
    free(e);
    return CUDA_SUCCESS;
}

static CUresult record(struct stream *s, CUhandle event) {
    struct event *e = event_of(event);
    NEED_DRIVER;
    NEED(s && e, CUDA_ERROR_INVALID_HANDLE);
    CUresult r = submit(s, 0, 0);
    if (r) return r;
    pthread_mutex_lock(&local);
    e->graph = s->graph;
    e->origin = s->origin;
    e->end = 0;
    e->number = s->graph ? 0 : __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&local);
    return CUDA_SUCCESS;
}
BOTH(cuEventRecord, cuEventRecord_ptsz, (CUhandle event, CUhandle stream), record, event)
BOTH(cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz, (CUhandle event, CUhandle stream, unsigned flags), ((void)flags, record), event)

/* The command that stands for the event, plus 1, or an error. */
static CUresult recorded(struct event *e, uint64_t *number) {
    NEED(e, CUDA_ERROR_INVALID_HANDLE);
    pthread_mutex_lock(&local);
    int captured = e->graph != NULL && e->origin->graph == e->graph;
    if (captured) e->origin->broken = 1;
    *number = e->number;
    pthread_mutex_unlock(&local);
    return captured ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

static void keep_end(struct event *e, uint64_t number, uint64_t end) {
    pthread_mutex_lock(&local);
    if (e->number == number && end) e->end = end;
    pthread_mutex_unlock(&local);
}

API CUresult cuEventQuery(CUhandle event) {
    struct event *e = event_of(event);
    uint64_t number, end = 0;
    NEED_DRIVER;
    CUresult r = recorded(e, &number);
    if (r || !number) return r;
    if (!device_done(me.device, me.client, number - 1, &end)) return CUDA_ERROR_NOT_READY;
    keep_end(e, number, end);
    return CUDA_SUCCESS;
}
API CUresult cuEventSynchronize(CUhandle event) {
    struct event *e = event_of(event);
    uint64_t number;
    NEED_DRIVER;
    COUNT(syncs);
    CUresult r = recorded(e, &number);
    if (!r) r = disturb();
    if (r || !number) return r;
    keep_end(e, number, device_wait(me.device, me.client, number - 1));
    return CUDA_SUCCESS;
}
API CUresult cuEventElapsedTime_v2(float *ms, CUhandle from, CUhandle to) {
    struct event *a = event_of(from), *b = event_of(to);
    NEED(ms && a && b && a->timed && b->timed, CUDA_ERROR_INVALID_HANDLE);
    CUresult r = cuEventQuery(a);
    if (!r) r = cuEventQuery(b);
    if (r) return r;
    pthread_mutex_lock(&local);
    uint64_t begin = a->end, end = b->end;
    pthread_mutex_unlock(&local);
    NEED(begin && end, CUDA_ERROR_INVALID_HANDLE);
    *ms = (float)((double)(int64_t)(end - begin) / 1e6);
    return CUDA_SUCCESS;
}
API CUresult cuEventElapsedTime(float *ms, CUhandle from, CUhandle to) { return cuEventElapsedTime_v2(ms, from, to); }

/* One queue per process keeps the order; a captured event draws the stream
 * into its capture. */
static CUresult wait_event(struct stream *s, CUhandle event) {
    struct event *e = event_of(event);
    NEED_DRIVER;
    NEED(s && e, CUDA_ERROR_INVALID_HANDLE);
    pthread_mutex_lock(&local);
    if (e->graph && e->origin->graph == e->graph && !s->graph) {
        s->graph = e->graph;
        s->origin = e->origin;
        s->mode = e->origin->mode;
        s->by = e->origin->by;
    }
    pthread_mutex_unlock(&local);
    return CUDA_SUCCESS;
}
BOTH(cuStreamWaitEvent, cuStreamWaitEvent_ptsz, (CUhandle stream, CUhandle event, unsigned flags), ((void)flags, wait_event), event)

/* ---- memory ------------------------------------------------------------------ */

struct allocation {
    CUdeviceptr at;
    size_t bytes;
    int device; /* counts as device memory */
    struct allocation *next;
};

static struct allocation *allocations;

/* Address space that costs nothing until it is touched. */
static CUresult allocate(CUdeviceptr *at, size_t bytes, int device) {
    NEED_DRIVER;
    NEED(at && bytes, CUDA_ERROR_INVALID_VALUE);
    NEED(bytes < (1ull << 46), CUDA_ERROR_OUT_OF_MEMORY);
    struct allocation *a = malloc(sizeof *a);
    NEED(a, CUDA_ERROR_OUT_OF_MEMORY);
    if (device && device_memory(me.device, me.client, (int64_t)bytes)) {
        free(a);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        if (device) device_memory(me.device, me.client, -(int64_t)bytes);
        free(a);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&local);
    *a = (struct allocation){(CUdeviceptr)(uintptr_t)p, bytes, device, allocations};
    allocations = a;
    pthread_mutex_unlock(&local);
    *at = a->at;
    return CUDA_SUCCESS;
}

static CUresult release(CUdeviceptr at) {
    NEED_DRIVER;
    if (!at) return CUDA_SUCCESS;
    pthread_mutex_lock(&local);
    struct allocation **p = &allocations;
    while (*p && (*p)->at != at) p = &(*p)->next;
    struct allocation *a = *p;
    if (a) *p = a->next;
    pthread_mutex_unlock(&local);
    NEED(a, CUDA_ERROR_INVALID_VALUE);
    munmap((void *)(uintptr_t)a->at, a->bytes);
    if (a->device) device_memory(me.device, me.client, -(int64_t)a->bytes);
    free(a);
    return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes) {
    CUresult r = disturb();
    return r ? r : allocate(at, bytes, 1);
}
API CUresult cuMemAllocManaged(CUdeviceptr *at, size_t bytes, unsigned flags) {
    (void)flags;
    return cuMemAlloc_v2(at, bytes);
}
API CUresult cuMemAllocPitch_v2(CUdeviceptr *at, size_t *pitch, size_t width, size_t height, unsigned element) {
    (void)element;
    NEED(pitch && width && width < (1ull << 40) && height < (1ull << 20), CUDA_ERROR_INVALID_VALUE);
    *pitch = (width + 511) / 512 * 512;
    return cuMemAlloc_v2(at, *pitch * height);
}
API CUresult cuMemFree_v2(CUdeviceptr at) {
    CUresult r = at ? cuCtxSynchronize() : CUDA_SUCCESS; /* as the real one does */
    return r ? r : release(at);
}
API CUresult cuMemAllocHost_v2(void **at, size_t bytes) {
    CUdeviceptr p = 0;
    NEED(at, CUDA_ERROR_INVALID_VALUE);
    CUresult r = allocate(&p, bytes, 0);
    *at = (void *)(uintptr_t)p;
    return r;
}
API CUresult cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
    (void)flags;
    return cuMemAllocHost_v2(at, bytes);
}
API CUresult cuMemFreeHost(void *at) { return release((CUdeviceptr)(uintptr_t)at); }

static CUresult alloc_async(struct stream *s, CUdeviceptr *at, size_t bytes) {
    CUresult r = submit(s, 0, 0);
    return r ? r : allocate(at, bytes, 1);
}
BOTH(cuMemAllocAsync, cuMemAllocAsync_ptsz, (CUdeviceptr * at, size_t bytes, CUhandle stream), alloc_async, at, bytes)

static CUresult free_async(struct stream *s, CUdeviceptr at) {
    CUresult r = submit(s, 0, 0);
    return r ? r : release(at);
}
BOTH(cuMemFreeAsync, cuMemFreeAsync_ptsz, (CUdeviceptr at, CUhandle stream), free_async, at)

API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    NEED_DRIVER;
    NEED(free_bytes && total, CUDA_ERROR_INVALID_VALUE);
    device_memory_info(me.device, free_bytes, total);
    return CUDA_SUCCESS;
}

struct array_descriptor {
    size_t width, height;
    int format;
    unsigned channels;
};
API CUresult cuArrayCreate_v2(CUhandle *array, const struct array_descriptor *d) {
    CUdeviceptr at = 0;
    NEED(array && d && d->width && d->width < (1u << 20) && d->height < (1u << 20), CUDA_ERROR_INVALID_VALUE);
    CUresult r = cuMemAlloc_v2(&at, d->width * (d->height ? d->height : 1) * (d->channels ? d->channels : 1) * 4);
    *array = (void *)(uintptr_t)at;
    return r;
}
API CUresult cuArrayDestroy(CUhandle array) { return release((CUdeviceptr)(uintptr_t)array); }

/* Moves the bytes now and queues their time. A wait follows where the caller
 * expects the copy to be done on return. */
enum { LATER, AT_ONCE };

static CUresult copy(struct stream *s, void *to, const void *from, size_t bytes, int when) {
    NEED_DRIVER;
    NEED((to && from) || !bytes, CUDA_ERROR_INVALID_VALUE);
    COUNT(copies);
    CUresult r = when == AT_ONCE ? disturb() : CUDA_SUCCESS;
    if (!r) r = submit(s, (bytes * set.ns_per_kib + 1023) / 1024, 0);
    if (r) return r;
    if (!s->graph && bytes) memmove(to, from, bytes);
    if (when == AT_ONCE) device_wait(me.device, me.client, __atomic_load_n(&s->last, __ATOMIC_RELAXED) - 1);
    return CUDA_SUCCESS;
}

#define AT(device_pointer) ((void *)(uintptr_t)(device_pointer))

DEFAULT(cuMemcpy, cuMemcpy_ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes), copy, AT(to), AT(from), bytes, AT_ONCE)
DEFAULT(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void *from, size_t bytes), copy, AT(to), from, bytes, AT_ONCE)
DEFAULT(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, (void *to, CUdeviceptr from, size_t bytes), copy, to, AT(from), bytes, AT_ONCE)
DEFAULT(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes), copy, AT(to), AT(from), bytes, LATER)
BOTH(cuMemcpyAsync, cuMemcpyAsync_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUhandle stream), copy, AT(to), AT(from), bytes, LATER)
BOTH(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz, (CUdeviceptr to, const void *from, size_t bytes, CUhandle stream), copy, AT(to), from, bytes, LATER)
BOTH(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz, (void *to, CUdeviceptr from, size_t bytes, CUhandle stream), copy, to, AT(from), bytes, LATER)
BOTH(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUhandle stream), copy, AT(to), AT(from), bytes, LATER)

static CUresult fill(struct stream *s, CUdeviceptr to, unsigned value, size_t count, size_t width) {
    NEED_DRIVER;
    NEED(to && count < (1ull << 46), CUDA_ERROR_INVALID_VALUE);
    COUNT(copies);
    CUresult r = submit(s, (count * width * set.ns_per_kib + 1023) / 1024, 0);
    if (r || s->graph) return r;
    unsigned char *p = AT(to);
    for (size_t i = 0; i < count; i++) memcpy(p + i * width, &value, width);
    return CUDA_SUCCESS;
}
DEFAULT(cuMemsetD8_v2, cuMemsetD8_v2_ptds, (CUdeviceptr to, unsigned char value, size_t count), fill, to, value, count, 1)
DEFAULT(cuMemsetD16_v2, cuMemsetD16_v2_ptds, (CUdeviceptr to, unsigned short value, size_t count), fill, to, value, count, 2)
DEFAULT(cuMemsetD32_v2, cuMemsetD32_v2_ptds, (CUdeviceptr to, unsigned value, size_t count), fill, to, value, count, 4)
BOTH(cuMemsetD8Async, cuMemsetD8Async_ptsz, (CUdeviceptr to, unsigned char value, size_t count, CUhandle stream), fill, to, value, count, 1)
BOTH(cuMemsetD16Async, cuMemsetD16Async_ptsz, (CUdeviceptr to, unsigned short value, size_t count, CUhandle stream), fill, to, value, count, 2)
BOTH(cuMemsetD32Async, cuMemsetD32Async_ptsz, (CUdeviceptr to, unsigned value, size_t count, CUhandle stream), fill, to, value, count, 4)

/* ---- modules ------------------------------------------------------------------- */

static char a_module, a_function;

static CUresult give(CUhandle *where, char *what) {
    NEED_DRIVER;
    NEED(where, CUDA_ERROR_INVALID_VALUE);
    *where = what;
    return CUDA_SUCCESS;
}
API CUresult cuModuleLoadData(CUhandle *module, const void *image) { (void)image; return give(module, &a_module); }
API CUresult cuModuleLoadDataEx(CUhandle *module, const void *image, unsigned n, int *options, void **values) {
    (void)n, (void)options, (void)values;
    return cuModuleLoadData(module, image);
}
API CUresult cuModuleUnload(CUhandle module) { return module == &a_module ? usable() : CUDA_ERROR_INVALID_HANDLE; }
API CUresult cuModuleGetFunction(CUhandle *function, CUhandle module, const char *name) {
    NEED(module == &a_module && name, CUDA_ERROR_INVALID_HANDLE);
    return give(function, &a_function);
}
API CUresult cuLibraryLoadData(CUhandle *library, const void *code, int *o, void **ov, unsigned n, int *lo, void **lv, unsigned ln) {
    (void)o, (void)ov, (void)n, (void)lo, (void)lv, (void)ln;
    return cuModuleLoadData(library, code);
}
API CUresult cuLibraryUnload(CUhandle library) { return cuModuleUnload(library); }
API CUresult cuLibraryGetKernel(CUhandle *kernel, CUhandle library, const char *name) { return cuModuleGetFunction(kernel, library, name); }
API CUresult cuKernelGetFunction(CUhandle *function, CUhandle kernel) {
    NEED(kernel == &a_function, CUDA_ERROR_INVALID_HANDLE);
    return give(function, &a_function);
}
API CUresult cuFuncSetAttribute(CUhandle function, int attribute, int value) {
    (void)attribute, (void)value;
    return function == &a_function ? usable() : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- errors ---------------------------------------------------------------------- */

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no simulated device"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "not done yet"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "simulated launch failure"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not permitted while a stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture failed earlier"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture did not begin in this stream"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "would depend on an uncaptured stream"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT", "the event was recorded into a capture"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "the capture began in another thread"},
};

static CUresult describe(CUresult code, const char **text, int name) {
    NEED(text, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code != code) continue;
        *text = name ? errors[i].name : errors[i].text;
        return CUDA_SUCCESS;
    }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}
API CUresult cuGetErrorName(CUresult code, const char **text) { return describe(code, text, 1); }
API CUresult cuGetErrorString(CUresult code, const char **text) { return describe(code, text, 0); }

/* ---- look-up ---------------------------------------------------------------------- */

API CUresult cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags);
API CUresult cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status);
API CUresult cuGetExportTable(const void **table, const void *id);

/* Sorted by name, then by version: a caller gets the newest entry that is not
 * newer than the version it asks for. */
static const struct entry {
    const char *name;
    int since;
    void *plain, *per_thread; /* per_thread NULL: the same as plain */
} entries[] = {
#define ONE(base, since, f) {#base, since, (void *)f, NULL}
#define TWO(base, since, f, second) {#base, since, (void *)f, (void *)second}
#include "entries.h"
};

/* What trips hooks that record their own wrapper: the driver uses the dynamic
 * linker while it answers. */
static void look_oneself_up(void) {
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i += 16) {
        void *libcuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (!libcuda) continue;
        (void)dlsym(libcuda, entries[i].name);
        (void)dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2");
        dlclose(libcuda);
    }
}

static CUresult look_up(const char *name, void **entry, int version, uint64_t flags, int *status) {
    if (status) *status = 1; /* not found */
    NEED(name && entry, CUDA_ERROR_INVALID_VALUE);
    NEED((flags & ~3ull) == 0, CUDA_ERROR_INVALID_VALUE);
    if (set.look_up) look_oneself_up();
    const struct entry *best = NULL, *any = NULL;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].name, name)) continue;
        any = &entries[i];
        if (entries[i].since <= version && (!best || entries[i].since > best->since)) best = &entries[i];
    }
    *entry = NULL;
    if (!best) {
        if (status && any) *status = 2; /* the version is too old for it */
        return CUDA_ERROR_NOT_FOUND;
    }
    *entry = flags & CU_GET_PROC_PER_THREAD_STREAM && best->per_thread ? best->per_thread : best->plain;
    if (status) *status = 0;
    return CUDA_SUCCESS;
}

API CUresult cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags) { return look_up(name, entry, version, flags, NULL); }
API CUresult cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status) { return look_up(name, entry, version, flags, status); }

API CUresult cuGetExportTable(const void **table, const void *id) {
    NEED(table && id, CUDA_ERROR_INVALID_VALUE);
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND; /* the private tables of the real driver are not simulated */
}
