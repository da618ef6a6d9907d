/*
 * The part of the CUDA driver interface that libdeft looks at, in its own
 * declarations. Handles are pointers, device addresses 64-bit integers.
 */
#ifndef DEFT_DRIVER_H
#define DEFT_DRIVER_H

#include "base.h"

enum {
    CU_SUCCESS = 0,
    CU_OUT_OF_MEMORY = 2,
    CU_STUB_LIBRARY = 34,
    CU_NOT_READY = 600
};

/* The newest CUDA version (major * 1000 + minor * 10) whose signatures the table
   below knows: those that nvidia-cuda-runtime 13.5's cudaTypedefs.h lists. */
enum { CU_KNOWN = 13050 };

enum { CU_GETPROC_PER_THREAD = 2 };    /* flag of cuGetProcAddress */
enum { CU_CAPTURE_NONE = 0 };          /* answer of cuStreamIsCapturing */
enum { CU_CAPTURE_RELAXED = 2 };       /* mode of cuThreadExchangeStreamCaptureMode */
enum { CU_LOCATION_HOST = 2 };         /* of CUmemLocation; the two after it are the host's too */
enum { CU_EVENT_NO_TIMING = 2 };       /* flag of cuEventCreate */
enum { CU_NODE_KERNEL = 0, CU_NODE_GRAPH = 4, CU_NODE_CONDITIONAL = 13 }; /* answers of cuGraphNodeGetType */

/* Streams without a handle of their own. */
#define CU_STREAM_LEGACY ((void *)1)
#define CU_STREAM_PER_THREAD ((void *)2)

/* CUlaunchConfig as of CUDA 11.8 to 13.0, x86-64 and arm64 */
struct launch_config {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
};
_Static_assert(__builtin_offsetof(struct launch_config, stream) == 32, "stream of CUlaunchConfig");
_Static_assert(sizeof(struct launch_config) == 56, "CUlaunchConfig");

/*
 * The entry points that libdeft wraps, by their exact exported names: ROW(kind, name, arg),
 * or PTSZ or PTDS for a name and its variant for the per-thread default stream. The other
 * functions, from LAUNCH on, take at most six arguments, all in integer registers, and
 * share one body per kind:
 *
 *   LONG ... BATCH  have a signature of their own (entry.c); BATCH: index of the stream
 *   LAUNCH          a kernel; arg is the index of the stream, or NO for the default one
 *   COPY            memcpy and memset; WAITS if the call returns after the work before it
 *                   on the default stream, as copies without a stream do
 *   SYNC            the program waits; ALL for the whole context, NO for an event
 *   QUERY           the program asks whether work is done: a wait if the answer was no
 *                   before; arg as for SYNC
 *   CAPTURE         a stream capture begins (1) or ends (0)
 *   LOSE            a stream goes away, ALL of a context or of a GREEN one, or the PRIMARY
 *                   one of a device may
 *   GRAPH           an executable graph is made, changed or destroyed
 *   ENTER           the thread's context changes
 *   TAKE, GIVE      device memory; arg says by which arguments
 *   POOL            a pool of memory; arg is the word of its properties that says where
 */
enum entry_kind {
    LONG, KERNEL, KERNEL_EX, COOPERATIVE, GRAPH_LAUNCH, HOST, HOST_V2, CALLBACK, BATCH,
    LAUNCH, COPY, SYNC, QUERY, CAPTURE, LOSE, GRAPH, ENTER, TAKE, GIVE, POOL
};
enum { NO = -1, ALL = -2, WAITS = -3, PRIMARY = -4, GREEN = -5 };
enum { INSTANTIATES, UPDATES, DESTROYS };
enum { BYTES, PITCH, CREATE, ARRAY, ARRAY3D, MIPMAPPED, ASYNC, POOLED };

#define PTSZ(ROW, kind, name, arg) ROW(kind, name, arg) ROW(kind, name##_ptsz, arg)
#define PTDS(ROW, kind, name, arg) ROW(kind, name, arg) ROW(kind, name##_ptds, arg)

#define DEFT_ENTRIES(ROW) \
    ROW(LONG, cuInit, 0) \
    ROW(LONG, cuGetProcAddress, 0) \
    ROW(LONG, cuGetProcAddress_v2, 0) \
    ROW(LONG, cuGetExportTable, 0) \
    PTSZ(ROW, KERNEL, cuLaunchKernel, 0) \
    PTSZ(ROW, KERNEL_EX, cuLaunchKernelEx, 0) \
    PTSZ(ROW, COOPERATIVE, cuLaunchCooperativeKernel, 0) \
    ROW(LAUNCH, cuLaunch, NO) \
    ROW(LAUNCH, cuLaunchGrid, NO) \
    ROW(LAUNCH, cuLaunchGridAsync, 3) \
    ROW(LAUNCH, cuLaunchCooperativeKernelMultiDevice, NO) \
    PTSZ(ROW, GRAPH_LAUNCH, cuGraphLaunch, 0) \
    ROW(GRAPH, cuGraphInstantiate, INSTANTIATES) \
    ROW(GRAPH, cuGraphInstantiate_v2, INSTANTIATES) \
    ROW(GRAPH, cuGraphInstantiateWithFlags, INSTANTIATES) \
    PTSZ(ROW, GRAPH, cuGraphInstantiateWithParams, INSTANTIATES) \
    ROW(GRAPH, cuGraphExecUpdate, UPDATES) \
    ROW(GRAPH, cuGraphExecUpdate_v2, UPDATES) \
    ROW(GRAPH, cuGraphExecDestroy, DESTROYS) \
    ROW(ENTER, cuCtxSetCurrent, 0) \
    ROW(ENTER, cuCtxPushCurrent, 0) \
    ROW(ENTER, cuCtxPushCurrent_v2, 0) \
    ROW(ENTER, cuCtxPopCurrent, 0) \
    ROW(ENTER, cuCtxPopCurrent_v2, 0) \
    ROW(ENTER, cuCtxCreate, 0) \
    ROW(ENTER, cuCtxCreate_v2, 0) \
    ROW(ENTER, cuCtxCreate_v3, 0) \
    ROW(ENTER, cuCtxCreate_v4, 0) \
    PTSZ(ROW, HOST, cuLaunchHostFunc, 0) \
    PTSZ(ROW, HOST_V2, cuLaunchHostFunc_v2, 0) \
    PTSZ(ROW, CALLBACK, cuStreamAddCallback, 0) \
    ROW(TAKE, cuMemAlloc_v2, BYTES) \
    ROW(TAKE, cuMemAllocManaged, BYTES) \
    ROW(TAKE, cuMemAllocPitch_v2, PITCH) \
    PTSZ(ROW, TAKE, cuMemAllocAsync, ASYNC) \
    PTSZ(ROW, TAKE, cuMemAllocFromPoolAsync, POOLED) \
    ROW(TAKE, cuMemCreate, CREATE) \
    ROW(POOL, cuMemPoolCreate, 2) \
    ROW(POOL, cuMemGetDefaultMemPool, 0) \
    ROW(POOL, cuMemGetMemPool, 0) \
    ROW(GIVE, cuMemFree_v2, BYTES) \
    PTSZ(ROW, GIVE, cuMemFreeAsync, BYTES) \
    ROW(GIVE, cuMemRelease, CREATE) \
    ROW(LONG, cuMemMap, 0) \
    ROW(LONG, cuMemUnmap, 0) \
    ROW(LONG, cuMemRetainAllocationHandle, 0) \
    ROW(LONG, cuMemGetInfo_v2, 0) \
    ROW(LONG, cuDeviceTotalMem_v2, 0) \
    ROW(TAKE, cuArrayCreate_v2, ARRAY) \
    ROW(TAKE, cuArray3DCreate_v2, ARRAY3D) \
    ROW(TAKE, cuMipmappedArrayCreate, MIPMAPPED) \
    ROW(GIVE, cuArrayDestroy, BYTES) \
    ROW(GIVE, cuMipmappedArrayDestroy, BYTES) \
    PTSZ(ROW, BATCH, cuMemcpyBatchAsync, 8) \
    PTSZ(ROW, BATCH, cuMemcpyBatchAsync_v2, 7) \
    PTSZ(ROW, BATCH, cuMemPrefetchBatchAsync, 7) \
    PTSZ(ROW, BATCH, cuMemDiscardAndPrefetchBatchAsync, 7) \
    PTDS(ROW, COPY, cuMemcpy, WAITS) \
    PTSZ(ROW, COPY, cuMemcpyAsync, 3) \
    PTDS(ROW, COPY, cuMemcpyPeer, WAITS) \
    PTSZ(ROW, COPY, cuMemcpyPeerAsync, 5) \
    PTDS(ROW, COPY, cuMemcpyHtoD_v2, WAITS) \
    PTDS(ROW, COPY, cuMemcpyDtoH_v2, WAITS) \
    PTDS(ROW, COPY, cuMemcpyDtoD_v2, WAITS) \
    PTSZ(ROW, COPY, cuMemcpyHtoDAsync_v2, 3) \
    PTSZ(ROW, COPY, cuMemcpyDtoHAsync_v2, 3) \
    PTSZ(ROW, COPY, cuMemcpyDtoDAsync_v2, 3) \
    PTDS(ROW, COPY, cuMemcpy2D_v2, WAITS) \
    PTDS(ROW, COPY, cuMemcpy2DUnaligned_v2, WAITS) \
    PTSZ(ROW, COPY, cuMemcpy2DAsync_v2, 1) \
    PTDS(ROW, COPY, cuMemcpy3D_v2, WAITS) \
    PTSZ(ROW, COPY, cuMemcpy3DAsync_v2, 1) \
    PTDS(ROW, COPY, cuMemcpy3DPeer, WAITS) \
    PTSZ(ROW, COPY, cuMemcpy3DPeerAsync, 1) \
    PTSZ(ROW, COPY, cuMemcpy3DBatchAsync, 4) \
    PTSZ(ROW, COPY, cuMemcpy3DBatchAsync_v2, 3) \
    PTSZ(ROW, COPY, cuMemcpyWithAttributesAsync, 4) \
    PTSZ(ROW, COPY, cuMemcpy3DWithAttributesAsync, 2) \
    PTDS(ROW, COPY, cuMemcpyAtoA_v2, WAITS) \
    PTDS(ROW, COPY, cuMemcpyAtoD_v2, WAITS) \
    PTDS(ROW, COPY, cuMemcpyDtoA_v2, WAITS) \
    PTDS(ROW, COPY, cuMemcpyAtoH_v2, WAITS) \
    PTDS(ROW, COPY, cuMemcpyHtoA_v2, WAITS) \
    PTSZ(ROW, COPY, cuMemcpyAtoHAsync_v2, 4) \
    PTSZ(ROW, COPY, cuMemcpyHtoAAsync_v2, 4) \
    PTSZ(ROW, COPY, cuFabricCpyBatchAsync, 3) \
    PTSZ(ROW, COPY, cuMemBatchDecompressAsync, 4) \
    PTSZ(ROW, COPY, cuMemDiscardBatchAsync, 4) \
    PTSZ(ROW, COPY, cuGraphUpload, 1) \
    PTSZ(ROW, COPY, cuMemPrefetchAsync, 3) \
    PTSZ(ROW, COPY, cuMemPrefetchAsync_v2, 4) \
    PTDS(ROW, COPY, cuMemsetD8_v2, NO) \
    PTDS(ROW, COPY, cuMemsetD16_v2, NO) \
    PTDS(ROW, COPY, cuMemsetD32_v2, NO) \
    PTDS(ROW, COPY, cuMemsetD2D8_v2, NO) \
    PTDS(ROW, COPY, cuMemsetD2D16_v2, NO) \
    PTDS(ROW, COPY, cuMemsetD2D32_v2, NO) \
    PTSZ(ROW, COPY, cuMemsetD8Async, 3) \
    PTSZ(ROW, COPY, cuMemsetD16Async, 3) \
    PTSZ(ROW, COPY, cuMemsetD32Async, 3) \
    PTSZ(ROW, COPY, cuMemsetD2D8Async, 5) \
    PTSZ(ROW, COPY, cuMemsetD2D16Async, 5) \
    PTSZ(ROW, COPY, cuMemsetD2D32Async, 5) \
    PTSZ(ROW, SYNC, cuStreamSynchronize, 0) \
    ROW(SYNC, cuCtxSynchronize, ALL) \
    ROW(SYNC, cuCtxSynchronize_v2, ALL) \
    ROW(SYNC, cuEventSynchronize, NO) \
    PTSZ(ROW, QUERY, cuStreamQuery, 0) \
    ROW(QUERY, cuEventQuery, NO) \
    PTSZ(ROW, CAPTURE, cuStreamBeginCapture, 1) \
    PTSZ(ROW, CAPTURE, cuStreamBeginCapture_v2, 1) \
    PTSZ(ROW, CAPTURE, cuStreamBeginCaptureToGraph, 1) \
    PTSZ(ROW, CAPTURE, cuStreamBeginRecaptureToGraph, 1) \
    PTSZ(ROW, CAPTURE, cuStreamBeginCaptureToCig, 1) \
    PTSZ(ROW, CAPTURE, cuStreamEndCapture, 0) \
    PTSZ(ROW, CAPTURE, cuStreamEndCaptureToCig, 0) \
    ROW(LOSE, cuStreamDestroy, 0) \
    ROW(LOSE, cuStreamDestroy_v2, 0) \
    ROW(LOSE, cuCtxDestroy, ALL) \
    ROW(LOSE, cuCtxDestroy_v2, ALL) \
    ROW(LOSE, cuCtxDetach, ALL) \
    ROW(LOSE, cuGreenCtxDestroy, GREEN) \
    ROW(LOSE, cuDevicePrimaryCtxRelease, PRIMARY) \
    ROW(LOSE, cuDevicePrimaryCtxRelease_v2, PRIMARY) \
    ROW(LOSE, cuDevicePrimaryCtxReset, PRIMARY) \
    ROW(LOSE, cuDevicePrimaryCtxReset_v2, PRIMARY)

enum entry_id {
#define NUMBER(kind, name, arg) E_##name,
    DEFT_ENTRIES(NUMBER) ENTRIES
#undef NUMBER
};

struct entry {
    void *next; /* what the wrapper calls: the driver, or another library's wrapper of it */
    void *raw;  /* the driver's own */
};

HIDDEN extern struct entry entries[ENTRIES];
HIDDEN extern void *const wrappers[ENTRIES]; /* entry.c has them */

HIDDEN const char *entry_name(int id);
HIDDEN int entry_find(const char *name);       /* -1: not wrapped */
HIDDEN int wrapper_find(const void *f);        /* the entry whose wrapper is f, or -1 */
HIDDEN bool ours(const void *f);
HIDDEN bool entry_per_thread(enum entry_id id); /* NULL is the per-thread default stream */
HIDDEN void *entry_raw(enum entry_id id);      /* NULL without a driver */

/* The function that a wrapper calls; resolves it where no lookup came before,
   which means that the program was linked to the driver. NULL without one. */
HIDDEN void *entry_resolve(enum entry_id id);
static inline void *entry_next(enum entry_id id) {
    void *f = acquire(&entries[id].next);
    return likely(f != NULL) ? f : entry_resolve(id);
}

/* Puts the wrapper in place of what the driver's own lookup gave. */
HIDDEN void lookup_wrap(const char *name, void **f, int version, uint64_t flags, uint32_t path);

HIDDEN void *driver_handle(void);
HIDDEN void *driver_symbol(const char *name); /* of the driver itself, wrapped or not */

/* The driver's function of a name as a value of this type, looked up once. */
#define RAW(type, name) ({ \
    static void *known; \
    void *f_ = load(&known); \
    if (unlikely(!f_)) { \
        f_ = driver_symbol(name); \
        store(&known, f_); \
    } \
    (type)f_; \
})

typedef void *(*dlsym_fn)(void *, const char *);
typedef void *(*dlopen_fn)(const char *, int);
HIDDEN extern dlsym_fn libc_dlsym, next_dlsym; /* libc's, and the next after this library */
HIDDEN extern dlopen_fn deft_next_dlopen;
HIDDEN void ensure_prepared(void); /* they are known */

/* Set while this thread is inside the driver: what the driver calls itself is
   its own affair, and goes to the driver without a second look. */
HIDDEN extern __thread int inside FAST;

/* The driver's answer to a call of its own function, by its name. */
typedef int (*one_fn)(void *);
typedef int (*two_fn)(void *, void *);

static inline int call1(one_fn f, void *a) {
    inside++;
    int r = f ? f(a) : CU_STUB_LIBRARY;
    inside--;
    return r;
}

static inline int call2(two_fn f, void *a, void *b) {
    inside++;
    int r = f ? f(a, b) : CU_STUB_LIBRARY;
    inside--;
    return r;
}

#define CALL3(name, a, b, c) ({ \
    int (*f)(void *, void *, void *) = RAW(int (*)(void *, void *, void *), name); \
    inside++; \
    int r_ = f ? f((void *)(a), (void *)(b), (void *)(c)) : CU_STUB_LIBRARY; \
    inside--; \
    r_; \
})
#define CALL1(name, a) call1(RAW(one_fn, name), (void *)(a))
#define CALL2(name, a, b) call2(RAW(two_fn, name), (void *)(a), (void *)(b))

#endif
