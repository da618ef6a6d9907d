/*
 * The wrappers. Each has a hidden name, w_NAME, so that its address is this
 * library's own whatever else is loaded, and NAME itself as an exported alias,
 * for programs that are linked to the driver.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "gate.h"
#include "memory.h"

#define WRAP(name, params) \
    static int w_##name params; \
    EXPORT int name params __attribute__((alias("w_" #name))); \
    static int w_##name params

/* Declares next, the function to call; inside the driver, the driver's own. */
#define NEXT(name, ...) \
    int (*next)(__VA_ARGS__) = (int (*)(__VA_ARGS__))entry_next(E_##name); \
    if (unlikely(!next)) \
        return CU_STUB_LIBRARY; \
    void *raw = unlikely(inside) ? entry_raw(E_##name) : NULL; \
    if (unlikely(raw != NULL)) \
        next = (int (*)(__VA_ARGS__))raw;

#define CALL(r, call) \
    do { \
        inside++; \
        r = call; \
        inside--; \
    } while (0)

#define ENDS(name, end) (sizeof name > sizeof end && memcmp(name + sizeof name - sizeof end, end, sizeof end) == 0)
#define PER_THREAD(name) (ENDS(name, "_ptsz") || ENDS(name, "_ptds"))

#define WORDS word a0, word a1, word a2, word a3, word a4, word a5
#define GIVEN a0, a1, a2, a3, a4, a5
#define SIX word, word, word, word, word, word
#define STREAM(i) ((void *)((i) == 0 ? a0 : (i) == 1 ? a1 : (i) == 2 ? a2 : (i) == 3 ? a3 : (i) == 5 ? a5 : 0))

/* -- launches -- */

/* A launch: the body of every wrapper that gives the device work. */
#define LAUNCH_BODY(name, stream, call) \
    if (unlikely(inside)) \
        return call; \
    enum pass pass = gate_launch((stream), PER_THREAD(#name)); \
    int r; \
    CALL(r, call); \
    if (unlikely(pass == PASS_RECORD)) \
        gate_after((stream), PER_THREAD(#name), 1); \
    return r;

#define KERNEL(name) \
    WRAP(name, (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
                unsigned shared, void *stream, void **params, void **extra)) { \
        NEXT(name, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) \
        LAUNCH_BODY(name, stream, next(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)) \
    }
KERNEL(cuLaunchKernel)
KERNEL(cuLaunchKernel_ptsz)

#define COOPERATIVE(name) \
    WRAP(name, (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
                unsigned shared, void *stream, void **params)) { \
        NEXT(name, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **) \
        LAUNCH_BODY(name, stream, next(f, gx, gy, gz, bx, by, bz, shared, stream, params)) \
    }
COOPERATIVE(cuLaunchCooperativeKernel)
COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

#define KERNEL_EX(name) \
    WRAP(name, (const struct launch_config *config, void *f, void **params, void **extra)) { \
        NEXT(name, const struct launch_config *, void *, void **, void **) \
        LAUNCH_BODY(name, config ? config->stream : NULL, next(config, f, params, extra)) \
    }
KERNEL_EX(cuLaunchKernelEx)
KERNEL_EX(cuLaunchKernelEx_ptsz)

#define LAUNCH(name, stream) \
    WRAP(name, (WORDS)) { \
        NEXT(name, SIX) \
        LAUNCH_BODY(name, STREAM(stream), next(GIVEN)) \
    }

#define GRAPH(name) \
    WRAP(name, (void *exec, void *stream)) { \
        NEXT(name, void *, void *) \
        if (unlikely(inside)) \
            return next(exec, stream); \
        uint64_t kernels; \
        enum pass pass = gate_graph(exec, stream, PER_THREAD(#name), &kernels); \
        int r; \
        CALL(r, next(exec, stream)); \
        if (unlikely(pass == PASS_RECORD)) \
            gate_after(stream, PER_THREAD(#name), kernels); \
        return r; \
    }
GRAPH(cuGraphLaunch)
GRAPH(cuGraphLaunch_ptsz)

#define HOST(name) \
    WRAP(name, (void *stream, void *f, void *data)) { \
        NEXT(name, void *, void *, void *) \
        if (unlikely(inside)) \
            return next(stream, f, data); \
        gate_copy(stream, PER_THREAD(#name)); \
        int r; \
        CALL(r, next(stream, f, data)); \
        return r; \
    }
HOST(cuLaunchHostFunc)
HOST(cuLaunchHostFunc_ptsz)

#define HOST_V2(name) \
    WRAP(name, (void *stream, void *f, void *data, unsigned mode)) { \
        NEXT(name, void *, void *, void *, unsigned) \
        if (unlikely(inside)) \
            return next(stream, f, data, mode); \
        gate_copy(stream, PER_THREAD(#name)); \
        int r; \
        CALL(r, next(stream, f, data, mode)); \
        return r; \
    }
HOST_V2(cuLaunchHostFunc_v2)
HOST_V2(cuLaunchHostFunc_v2_ptsz)

/* -- copies, waits, captures, ends -- */

/* These share a body per kind, which takes the arguments as they came. */
typedef int (*six_fn)(SIX);

/* Calls entry point id; sets *skip where the call came from the driver. */
static int call_six(enum entry_id id, const word *a, bool *skip) {
    six_fn next = (six_fn)entry_next(id);
    if (!next)
        return CU_STUB_LIBRARY;
    *skip = inside;
    if (inside) {
        void *raw = entry_raw(id);
        next = raw ? (six_fn)raw : next;
    }
    int r;
    CALL(r, next(a[0], a[1], a[2], a[3], a[4], a[5]));
    return r;
}

#define BODY(kind) static int kind(enum entry_id id, long arg, bool per_thread, const word *a)

/* One way in for all of them, so that each wrapper is a few instructions. */
static __attribute__((noinline)) int shared(WORDS, enum entry_id id);
#define BY(name) \
    WRAP(name, (WORDS)) { return shared(GIVEN, E_##name); }

BODY(copy) {
    bool skip = true;
    if (!inside) {
        gate_copy(arg >= 0 ? (void *)a[arg] : NULL, per_thread);
        add(&acquire(&here->slot)->copies, 1);
    }
    struct mark before = queue_mark();
    int r = call_six(id, a, &skip);
    if (arg == FETCH && r == CU_SUCCESS && !skip)
        gate_synced(0, NULL, per_thread, before);
    return r;
}

BODY(synced) {
    bool skip = true;
    if (id == E_cuCtxSynchronize_v2 && a[0] && a[0] != context)
        arg = NO; /* another context than the thread's */
    member_seen();
    struct mark before = queue_mark();
    int r = call_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip)
        gate_synced(arg, (void *)a[0], per_thread, before);
    return r;
}

/* A capture ends when its stream is capturing no more, whatever the driver
   answers: it may say that the capture was invalidated. */
BODY(capture) {
    bool skip = true;
    member_seen();
    bool before = !arg && !inside && queue_capturing((void *)a[0], per_thread);
    int r = call_six(id, a, &skip);
    if (!skip && (arg ? r == CU_SUCCESS : before && !queue_capturing((void *)a[0], per_thread)))
        queue_capture(arg);
    return r;
}

/* A device's primary context, 0 while it has none. */
static word primary(int device) {
    unsigned flags;
    int active = 0, (*state)(int, unsigned *, int *) = RAW(int (*)(int, unsigned *, int *), "cuDevicePrimaryCtxGetState");
    int (*retain)(word *, int) = RAW(int (*)(word *, int), "cuDevicePrimaryCtxRetain");
    int (*let)(int) = RAW(int (*)(int), "cuDevicePrimaryCtxRelease_v2");
    word c = 0;
    inside++;
    if (state && retain && let && state(device, &flags, &active) == CU_SUCCESS && active && retain(&c, device) == CU_SUCCESS)
        let(device);
    inside--;
    return c;
}

/* A stream or a context goes away. A primary context that has been reset, or
   that nobody has retained any more, is another one from then on. */
BODY(lose) {
    bool skip = true, open = false, resets = id == E_cuDevicePrimaryCtxReset || id == E_cuDevicePrimaryCtxReset_v2;
    word c = arg == ALL ? a[0] : arg == PRIMARY && !inside ? primary((int)a[0]) : 0;
    if (arg >= 0 && !inside) {
        open = load(&attend) >= ATTEND_CAPTURE && queue_capturing((void *)a[0], per_thread);
        queue_lose_stream((void *)a[0], per_thread);
    }
    int r = call_six(id, a, &skip);
    if (r != CU_SUCCESS || skip)
        return r;
    if (open)
        queue_capture(false);
    if (c && (arg == ALL || resets || !primary((int)a[0])))
        queue_lose_context(c);
    return r;
}

/* The thread's context changes. */
BODY(enter) {
    bool skip = true;
    (void)arg, (void)per_thread;
    member_seen();
    int r = call_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip)
        member_here();
    return r;
}

/* Batches: more arguments than registers hold. */
#define BATCH(name, last) \
    WRAP(name, (WORDS, word a6, word a7, word a8)) { \
        NEXT(name, SIX, word, word, word) \
        if (unlikely(inside)) \
            return next(GIVEN, a6, a7, a8); \
        gate_copy((void *)last, PER_THREAD(#name)); \
        add(&acquire(&here->slot)->copies, 1); \
        int r; \
        CALL(r, next(GIVEN, a6, a7, a8)); \
        return r; \
    }
BATCH(cuMemcpyBatchAsync, a8)
BATCH(cuMemcpyBatchAsync_ptsz, a8)
BATCH(cuMemcpyBatchAsync_v2, a7)
BATCH(cuMemcpyBatchAsync_v2_ptsz, a7)
BATCH(cuMemPrefetchBatchAsync, a7)
BATCH(cuMemPrefetchBatchAsync_ptsz, a7)
BATCH(cuMemDiscardAndPrefetchBatchAsync, a7)
BATCH(cuMemDiscardAndPrefetchBatchAsync_ptsz, a7)

/* Graphs: where the executable one and the other stand; of the first its address. */
enum { INSTANTIATES, UPDATES, DESTROYS };
BODY(graph) {
    bool skip = true;
    (void)per_thread;
    if (arg == DESTROYS && !inside)
        graph_lost((void *)a[0]);
    int r = call_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip && arg != DESTROYS)
        graph_made(arg == UPDATES ? (void *)a[0] : *(void **)a[0], (void *)a[1]);
    return r;
}
#define CONTEXTS_OF(ROW) \
    ROW(cuCtxSetCurrent, 0) \
    ROW(cuCtxPushCurrent, 0) \
    ROW(cuCtxPushCurrent_v2, 0) \
    ROW(cuCtxPopCurrent, 0) \
    ROW(cuCtxPopCurrent_v2, 0) \
    ROW(cuCtxCreate, 0) \
    ROW(cuCtxCreate_v2, 0) \
    ROW(cuCtxCreate_v3, 0) \
    ROW(cuCtxCreate_v4, 0)
#define GRAPHS(ROW) \
    ROW(cuGraphInstantiate, INSTANTIATES) \
    ROW(cuGraphInstantiate_v2, INSTANTIATES) \
    ROW(cuGraphInstantiateWithFlags, INSTANTIATES) \
    ROW(cuGraphInstantiateWithParams, INSTANTIATES) \
    ROW(cuGraphInstantiateWithParams_ptsz, INSTANTIATES) \
    ROW(cuGraphExecUpdate, UPDATES) \
    ROW(cuGraphExecUpdate_v2, UPDATES) \
    ROW(cuGraphExecDestroy, DESTROYS)

#define NOTHING(name)
#define IGNORED(name, x)
#define WRAPPER(name, x) BY(name)
DEFT_ENTRIES(NOTHING, LAUNCH, WRAPPER, WRAPPER, WRAPPER, WRAPPER)
GRAPHS(WRAPPER)
CONTEXTS_OF(WRAPPER)

static int shared(WORDS, enum entry_id id) {
    enum { COPIES = 1, SYNCS, CAPTURES, LOSES, GRAPHED, ENTERS };
    static const struct {
        signed char kind, arg;
    } shapes[ENTRIES] = {
#define C(name, x) [E_##name] = {COPIES, x},
#define S(name, x) [E_##name] = {SYNCS, x},
#define R(name, x) [E_##name] = {CAPTURES, x},
#define L(name, x) [E_##name] = {LOSES, x},
#define G(name, x) [E_##name] = {GRAPHED, x},
#define E(name, x) [E_##name] = {ENTERS, x},
        DEFT_ENTRIES(NOTHING, IGNORED, C, S, R, L) GRAPHS(G) CONTEXTS_OF(E)
    };
    const word a[] = {GIVEN};
    long arg = shapes[id].arg;
    bool per_thread = entry_per_thread(id);
    switch (shapes[id].kind) {
    case COPIES:
        return copy(id, arg, per_thread, a);
    case SYNCS:
        return synced(id, arg, per_thread, a);
    case CAPTURES:
        return capture(id, arg, per_thread, a);
    case LOSES:
        return lose(id, arg, per_thread, a);
    case ENTERS:
        return enter(id, arg, per_thread, a);
    default:
        return graph(id, arg, per_thread, a);
    }
}

/* -- memory -- */

/* key and bytes are known once the driver has answered. */
#define TAKE(reserve, call, key, bytes) \
    if (unlikely(inside)) \
        return call; \
    uint64_t reserved = (reserve); \
    if (!memory_reserve(reserved)) \
        return CU_OUT_OF_MEMORY; \
    int r; \
    CALL(r, call); \
    if (r == CU_SUCCESS) \
        memory_took((key), (bytes)); \
    else \
        memory_cancel(reserved); \
    return r;

/* Handles of cuMemCreate are no addresses: kept apart by the highest bit. */
#define HANDLE(h) ((h) | 1ull << 63)

WRAP(cuMemAlloc, (unsigned *p, unsigned bytes)) {
    NEXT(cuMemAlloc, unsigned *, unsigned)
    TAKE(bytes, next(p, bytes), *p, bytes)
}

WRAP(cuMemAlloc_v2, (uint64_t * p, size_t bytes)) {
    NEXT(cuMemAlloc_v2, uint64_t *, size_t)
    TAKE(bytes, next(p, bytes), *p, bytes)
}

WRAP(cuMemAllocManaged, (uint64_t * p, size_t bytes, unsigned flags)) {
    NEXT(cuMemAllocManaged, uint64_t *, size_t, unsigned)
    TAKE(bytes, next(p, bytes, flags), *p, bytes)
}

WRAP(cuMemAllocPitch, (unsigned *p, unsigned *pitch, unsigned width, unsigned height, unsigned element)) {
    NEXT(cuMemAllocPitch, unsigned *, unsigned *, unsigned, unsigned, unsigned)
    TAKE((uint64_t)width * height, next(p, pitch, width, height, element), *p, reserved)
}

WRAP(cuMemAllocPitch_v2, (uint64_t * p, size_t *pitch, size_t width, size_t height, unsigned element)) {
    NEXT(cuMemAllocPitch_v2, uint64_t *, size_t *, size_t, size_t, unsigned)
    TAKE(width * height, next(p, pitch, width, height, element), *p, reserved)
}

#define ALLOC_ASYNC(name) \
    WRAP(name, (uint64_t * p, size_t bytes, void *stream)) { \
        NEXT(name, uint64_t *, size_t, void *) \
        TAKE(bytes, next(p, bytes, stream), *p, bytes) \
    }
ALLOC_ASYNC(cuMemAllocAsync)
ALLOC_ASYNC(cuMemAllocAsync_ptsz)

#define ALLOC_POOL(name) \
    WRAP(name, (uint64_t * p, size_t bytes, void *pool, void *stream)) { \
        NEXT(name, uint64_t *, size_t, void *, void *) \
        TAKE(bytes, next(p, bytes, pool, stream), *p, bytes) \
    }
ALLOC_POOL(cuMemAllocFromPoolAsync)
ALLOC_POOL(cuMemAllocFromPoolAsync_ptsz)

WRAP(cuMemCreate, (uint64_t * handle, size_t bytes, const void *properties, uint64_t flags)) {
    NEXT(cuMemCreate, uint64_t *, size_t, const void *, uint64_t)
    TAKE(bytes, next(handle, bytes, properties, flags), HANDLE(*handle), bytes)
}

/* Of an array: elements of 4, 2 or, in formats not named here, 1 byte; a
   level of a mipmapped one has half the width, height and depth of the last. */
static uint64_t texels(uint64_t w, uint64_t h, uint64_t d, unsigned format, unsigned channels, unsigned levels) {
    uint64_t each = format == 0x03 || format == 0x0a || format == 0x20 ? 4 : format == 0x02 || format == 0x09 || format == 0x10 ? 2 : 1;
    uint64_t sum = 0;
    for (unsigned i = 0; i < levels && i < 32; i++, w /= 2, h /= 2, d /= 2)
        sum += (w ? w : 1) * (h ? h : 1) * (d ? d : 1) * each * (channels ? channels : 1);
    return sum;
}

static uint64_t array_bytes(const void *p, unsigned levels) {
    const struct {
        size_t width, height;
        unsigned format, channels;
    } *d = p;
    return d ? texels(d->width, d->height, 1, d->format, d->channels, levels) : 0;
}

static uint64_t array3d_bytes(const void *p, unsigned levels) {
    const struct {
        size_t width, height, depth;
        unsigned format, channels, flags;
    } *d = p;
    return d ? texels(d->width, d->height, d->depth, d->format, d->channels, levels) : 0;
}

#define GIVE(name, key) \
    WRAP(name, (word a0, word a1)) { \
        NEXT(name, word, word) \
        if (unlikely(inside)) \
            return next(a0, a1); \
        int r; \
        CALL(r, next(a0, a1)); \
        if (r == CU_SUCCESS) \
            memory_gave(key); \
        return r; \
    }
GIVE(cuMemFree, (unsigned)a0)
GIVE(cuMemFree_v2, a0)
GIVE(cuMemFreeAsync, a0)
GIVE(cuMemFreeAsync_ptsz, a0)
GIVE(cuMemRelease, HANDLE(a0))

/* Memory stays while it is mapped, whoever released its handle. */
WRAP(cuMemMap, (uint64_t at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)) {
    NEXT(cuMemMap, uint64_t, size_t, size_t, uint64_t, uint64_t)
    int r;
    CALL(r, next(at, bytes, offset, handle, flags));
    if (r == CU_SUCCESS && !inside)
        memory_mapped(at, bytes, HANDLE(handle));
    return r;
}

WRAP(cuMemUnmap, (uint64_t at, size_t bytes)) {
    NEXT(cuMemUnmap, uint64_t, size_t)
    int r;
    CALL(r, next(at, bytes));
    if (r == CU_SUCCESS && !inside)
        memory_unmapped(at, bytes);
    return r;
}

WRAP(cuMemRetainAllocationHandle, (uint64_t * handle, void *at)) {
    NEXT(cuMemRetainAllocationHandle, uint64_t *, void *)
    int r;
    CALL(r, next(handle, at));
    if (r == CU_SUCCESS && !inside)
        memory_held(HANDLE(*handle), 1);
    return r;
}

WRAP(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total_bytes)) {
    NEXT(cuMemGetInfo_v2, size_t *, size_t *)
    int r;
    CALL(r, next(free_bytes, total_bytes));
    if (r == CU_SUCCESS && !inside)
        memory_info(free_bytes, total_bytes);
    return r;
}

WRAP(cuDeviceTotalMem_v2, (size_t * bytes, int device)) {
    NEXT(cuDeviceTotalMem_v2, size_t *, int)
    int r;
    CALL(r, next(bytes, device));
    if (r == CU_SUCCESS && !inside) {
        member_seen();
        memory_info(NULL, bytes);
    }
    return r;
}

#define ARRAY(name, describe, levels, ...) \
    WRAP(name, (void **array, const void *d __VA_OPT__(, unsigned __VA_ARGS__))) { \
        NEXT(name, void **, const void * __VA_OPT__(, unsigned)) \
        TAKE(describe(d, levels), next(array, d __VA_OPT__(, __VA_ARGS__)), (uint64_t)*array, reserved) \
    }
ARRAY(cuArrayCreate_v2, array_bytes, 1)
ARRAY(cuArray3DCreate_v2, array3d_bytes, 1)
ARRAY(cuMipmappedArrayCreate, array3d_bytes, count, count)
GIVE(cuArrayDestroy, a0)
GIVE(cuMipmappedArrayDestroy, a0)

/* -- the way in -- */

WRAP(cuInit, (unsigned flags)) {
    NEXT(cuInit, unsigned)
    if (!inside)
        member_seen();
    int r;
    CALL(r, next(flags));
    return r;
}

WRAP(cuGetProcAddress, (const char *name, void **f, int version, uint64_t flags)) {
    NEXT(cuGetProcAddress, const char *, void **, int, uint64_t)
    if (inside)
        return next(name, f, version, flags);
    int r;
    CALL(r, next(name, f, version, flags));
    if (r == CU_SUCCESS)
        lookup_wrap(name, f, version, flags, DEFT_PATH_GETPROC);
    return r;
}

WRAP(cuGetProcAddress_v2, (const char *name, void **f, int version, uint64_t flags, int *status)) {
    NEXT(cuGetProcAddress_v2, const char *, void **, int, uint64_t, int *)
    if (inside)
        return next(name, f, version, flags, status);
    int r;
    CALL(r, next(name, f, version, flags, status));
    if (r == CU_SUCCESS)
        lookup_wrap(name, f, version, flags, DEFT_PATH_GETPROC_V2);
    return r;
}

WRAP(cuGetExportTable, (const void **table, const void *id)) {
    NEXT(cuGetExportTable, const void **, const void *)
    if (!inside)
        member_path(DEFT_PATH_EXPORT_TABLE);
    int r;
    CALL(r, next(table, id));
    return r;
}

/* -- the table -- */

void *const wrappers[ENTRIES] = {
#define ROW1(name) (void *)w_##name,
#define ROW2(name, x) (void *)w_##name,
    DEFT_ENTRIES(ROW1, ROW2, ROW2, ROW2, ROW2, ROW2)
};

/* -- coming and going -- */

static void forked(void) {
    member_forked();
    queue_forget();
    memory_forget();
    graphs_forget();
}

/* DEFT_JOIN=load joins every program that loads the library, not those alone
   that come to the driver: deft doctor wants to know. */
__attribute__((constructor)) static void loaded(void) {
    const char *when = secure_getenv("DEFT_JOIN");
    pthread_atfork(NULL, NULL, forked);
    if (when && strcmp(when, "load") == 0)
        member_seen();
}

__attribute__((destructor)) static void ended(void) {
    if (members[0].slot != &nobody && driver_handle())
        member_path(DEFT_PATH_LOADED);
    member_leave();
}
