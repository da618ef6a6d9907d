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
 * The entry points that libdeft wraps, by their exact exported names. LONG rows
 * have a wrapper written out; the others take at most six arguments, all in
 * integer registers, and so share one shape per kind:
 *
 *   LAUNCH(name, stream) a kernel; stream is the argument's index, or
 *                        NO for the default stream
 *   COPY(name, stream)   memcpy and memset; WAITS if the call returns after the work
 *                        before it on the default stream, as copies without a stream do
 *   SYNC(name, stream)   the program waits; ALL for the whole context, NO for
 *                        an event
 *   QUERY(name, stream)  the program asks whether work is done: a wait if the answer was
 *                        no before; stream as for SYNC
 *   CAPTURE(name, opens) a stream capture begins or ends
 *   LOSE(name, what)     a stream goes away, ALL of a context or of a GREEN one, or the
 *                        PRIMARY one of a device may
 *
 * Names with _ptsz and _ptds work on the per-thread default stream.
 */
#define NO (-1)
#define ALL (-2)
#define WAITS (-3)
#define PRIMARY (-4)
#define GREEN (-5)

#define DEFT_ENTRIES(LONG, LAUNCH, COPY, SYNC, QUERY, CAPTURE, LOSE) \
    LONG(cuInit) \
    LONG(cuGetProcAddress) \
    LONG(cuGetProcAddress_v2) \
    LONG(cuGetExportTable) \
    LONG(cuLaunchKernel) \
    LONG(cuLaunchKernel_ptsz) \
    LONG(cuLaunchKernelEx) \
    LONG(cuLaunchKernelEx_ptsz) \
    LONG(cuLaunchCooperativeKernel) \
    LONG(cuLaunchCooperativeKernel_ptsz) \
    LAUNCH(cuLaunch, NO) \
    LAUNCH(cuLaunchGrid, NO) \
    LAUNCH(cuLaunchGridAsync, 3) \
    LAUNCH(cuLaunchCooperativeKernelMultiDevice, NO) \
    LONG(cuGraphLaunch) \
    LONG(cuGraphLaunch_ptsz) \
    LONG(cuGraphInstantiate) \
    LONG(cuGraphInstantiate_v2) \
    LONG(cuGraphInstantiateWithFlags) \
    LONG(cuGraphInstantiateWithParams) \
    LONG(cuGraphInstantiateWithParams_ptsz) \
    LONG(cuGraphExecUpdate) \
    LONG(cuGraphExecUpdate_v2) \
    LONG(cuGraphExecDestroy) \
    LONG(cuCtxSetCurrent) \
    LONG(cuCtxPushCurrent) \
    LONG(cuCtxPushCurrent_v2) \
    LONG(cuCtxPopCurrent) \
    LONG(cuCtxPopCurrent_v2) \
    LONG(cuCtxCreate) \
    LONG(cuCtxCreate_v2) \
    LONG(cuCtxCreate_v3) \
    LONG(cuCtxCreate_v4) \
    LONG(cuLaunchHostFunc) \
    LONG(cuLaunchHostFunc_ptsz) \
    LONG(cuLaunchHostFunc_v2) \
    LONG(cuLaunchHostFunc_v2_ptsz) \
    LONG(cuStreamAddCallback) \
    LONG(cuStreamAddCallback_ptsz) \
    LONG(cuMemAlloc_v2) \
    LONG(cuMemAllocManaged) \
    LONG(cuMemAllocPitch_v2) \
    LONG(cuMemAllocAsync) \
    LONG(cuMemAllocAsync_ptsz) \
    LONG(cuMemAllocFromPoolAsync) \
    LONG(cuMemAllocFromPoolAsync_ptsz) \
    LONG(cuMemCreate) \
    LONG(cuMemFree_v2) \
    LONG(cuMemFreeAsync) \
    LONG(cuMemFreeAsync_ptsz) \
    LONG(cuMemRelease) \
    LONG(cuMemMap) \
    LONG(cuMemUnmap) \
    LONG(cuMemRetainAllocationHandle) \
    LONG(cuMemGetInfo_v2) \
    LONG(cuDeviceTotalMem_v2) \
    LONG(cuArrayCreate_v2) \
    LONG(cuArray3DCreate_v2) \
    LONG(cuMipmappedArrayCreate) \
    LONG(cuArrayDestroy) \
    LONG(cuMipmappedArrayDestroy) \
    LONG(cuMemcpyBatchAsync) \
    LONG(cuMemcpyBatchAsync_ptsz) \
    LONG(cuMemcpyBatchAsync_v2) \
    LONG(cuMemcpyBatchAsync_v2_ptsz) \
    LONG(cuMemPrefetchBatchAsync) \
    LONG(cuMemPrefetchBatchAsync_ptsz) \
    LONG(cuMemDiscardAndPrefetchBatchAsync) \
    LONG(cuMemDiscardAndPrefetchBatchAsync_ptsz) \
    COPY(cuMemcpy, WAITS) \
    COPY(cuMemcpy_ptds, WAITS) \
    COPY(cuMemcpyAsync, 3) \
    COPY(cuMemcpyAsync_ptsz, 3) \
    COPY(cuMemcpyPeer, WAITS) \
    COPY(cuMemcpyPeer_ptds, WAITS) \
    COPY(cuMemcpyPeerAsync, 5) \
    COPY(cuMemcpyPeerAsync_ptsz, 5) \
    COPY(cuMemcpyHtoD_v2, WAITS) \
    COPY(cuMemcpyHtoD_v2_ptds, WAITS) \
    COPY(cuMemcpyDtoH_v2, WAITS) \
    COPY(cuMemcpyDtoH_v2_ptds, WAITS) \
    COPY(cuMemcpyDtoD_v2, WAITS) \
    COPY(cuMemcpyDtoD_v2_ptds, WAITS) \
    COPY(cuMemcpyHtoDAsync_v2, 3) \
    COPY(cuMemcpyHtoDAsync_v2_ptsz, 3) \
    COPY(cuMemcpyDtoHAsync_v2, 3) \
    COPY(cuMemcpyDtoHAsync_v2_ptsz, 3) \
    COPY(cuMemcpyDtoDAsync_v2, 3) \
    COPY(cuMemcpyDtoDAsync_v2_ptsz, 3) \
    COPY(cuMemcpy2D_v2, WAITS) \
    COPY(cuMemcpy2D_v2_ptds, WAITS) \
    COPY(cuMemcpy2DUnaligned_v2, WAITS) \
    COPY(cuMemcpy2DUnaligned_v2_ptds, WAITS) \
    COPY(cuMemcpy2DAsync_v2, 1) \
    COPY(cuMemcpy2DAsync_v2_ptsz, 1) \
    COPY(cuMemcpy3D_v2, WAITS) \
    COPY(cuMemcpy3D_v2_ptds, WAITS) \
    COPY(cuMemcpy3DAsync_v2, 1) \
    COPY(cuMemcpy3DAsync_v2_ptsz, 1) \
    COPY(cuMemcpy3DPeer, WAITS) \
    COPY(cuMemcpy3DPeer_ptds, WAITS) \
    COPY(cuMemcpy3DPeerAsync, 1) \
    COPY(cuMemcpy3DPeerAsync_ptsz, 1) \
    COPY(cuMemcpy3DBatchAsync, 4) \
    COPY(cuMemcpy3DBatchAsync_ptsz, 4) \
    COPY(cuMemcpy3DBatchAsync_v2, 3) \
    COPY(cuMemcpy3DBatchAsync_v2_ptsz, 3) \
    COPY(cuMemcpyWithAttributesAsync, 4) \
    COPY(cuMemcpyWithAttributesAsync_ptsz, 4) \
    COPY(cuMemcpy3DWithAttributesAsync, 2) \
    COPY(cuMemcpy3DWithAttributesAsync_ptsz, 2) \
    COPY(cuMemcpyAtoA_v2, WAITS) \
    COPY(cuMemcpyAtoA_v2_ptds, WAITS) \
    COPY(cuMemcpyAtoD_v2, WAITS) \
    COPY(cuMemcpyAtoD_v2_ptds, WAITS) \
    COPY(cuMemcpyDtoA_v2, WAITS) \
    COPY(cuMemcpyDtoA_v2_ptds, WAITS) \
    COPY(cuMemcpyAtoH_v2, WAITS) \
    COPY(cuMemcpyAtoH_v2_ptds, WAITS) \
    COPY(cuMemcpyHtoA_v2, WAITS) \
    COPY(cuMemcpyHtoA_v2_ptds, WAITS) \
    COPY(cuMemcpyAtoHAsync_v2, 4) \
    COPY(cuMemcpyAtoHAsync_v2_ptsz, 4) \
    COPY(cuMemcpyHtoAAsync_v2, 4) \
    COPY(cuMemcpyHtoAAsync_v2_ptsz, 4) \
    COPY(cuFabricCpyBatchAsync, 3) \
    COPY(cuFabricCpyBatchAsync_ptsz, 3) \
    COPY(cuMemBatchDecompressAsync, 4) \
    COPY(cuMemBatchDecompressAsync_ptsz, 4) \
    COPY(cuMemDiscardBatchAsync, 4) \
    COPY(cuMemDiscardBatchAsync_ptsz, 4) \
    COPY(cuGraphUpload, 1) \
    COPY(cuGraphUpload_ptsz, 1) \
    COPY(cuMemPrefetchAsync, 3) \
    COPY(cuMemPrefetchAsync_ptsz, 3) \
    COPY(cuMemPrefetchAsync_v2, 4) \
    COPY(cuMemPrefetchAsync_v2_ptsz, 4) \
    COPY(cuMemsetD8_v2, NO) \
    COPY(cuMemsetD8_v2_ptds, NO) \
    COPY(cuMemsetD16_v2, NO) \
    COPY(cuMemsetD16_v2_ptds, NO) \
    COPY(cuMemsetD32_v2, NO) \
    COPY(cuMemsetD32_v2_ptds, NO) \
    COPY(cuMemsetD2D8_v2, NO) \
    COPY(cuMemsetD2D8_v2_ptds, NO) \
    COPY(cuMemsetD2D16_v2, NO) \
    COPY(cuMemsetD2D16_v2_ptds, NO) \
    COPY(cuMemsetD2D32_v2, NO) \
    COPY(cuMemsetD2D32_v2_ptds, NO) \
    COPY(cuMemsetD8Async, 3) \
    COPY(cuMemsetD8Async_ptsz, 3) \
    COPY(cuMemsetD16Async, 3) \
    COPY(cuMemsetD16Async_ptsz, 3) \
    COPY(cuMemsetD32Async, 3) \
    COPY(cuMemsetD32Async_ptsz, 3) \
    COPY(cuMemsetD2D8Async, 5) \
    COPY(cuMemsetD2D8Async_ptsz, 5) \
    COPY(cuMemsetD2D16Async, 5) \
    COPY(cuMemsetD2D16Async_ptsz, 5) \
    COPY(cuMemsetD2D32Async, 5) \
    COPY(cuMemsetD2D32Async_ptsz, 5) \
    SYNC(cuStreamSynchronize, 0) \
    SYNC(cuStreamSynchronize_ptsz, 0) \
    SYNC(cuCtxSynchronize, ALL) \
    SYNC(cuCtxSynchronize_v2, ALL) \
    SYNC(cuEventSynchronize, NO) \
    QUERY(cuStreamQuery, 0) \
    QUERY(cuStreamQuery_ptsz, 0) \
    QUERY(cuEventQuery, NO) \
    CAPTURE(cuStreamBeginCapture, 1) \
    CAPTURE(cuStreamBeginCapture_ptsz, 1) \
    CAPTURE(cuStreamBeginCapture_v2, 1) \
    CAPTURE(cuStreamBeginCapture_v2_ptsz, 1) \
    CAPTURE(cuStreamBeginCaptureToGraph, 1) \
    CAPTURE(cuStreamBeginCaptureToGraph_ptsz, 1) \
    CAPTURE(cuStreamBeginRecaptureToGraph, 1) \
    CAPTURE(cuStreamBeginRecaptureToGraph_ptsz, 1) \
    CAPTURE(cuStreamBeginCaptureToCig, 1) \
    CAPTURE(cuStreamBeginCaptureToCig_ptsz, 1) \
    CAPTURE(cuStreamEndCapture, 0) \
    CAPTURE(cuStreamEndCapture_ptsz, 0) \
    CAPTURE(cuStreamEndCaptureToCig, 0) \
    CAPTURE(cuStreamEndCaptureToCig_ptsz, 0) \
    LOSE(cuStreamDestroy, 0) \
    LOSE(cuStreamDestroy_v2, 0) \
    LOSE(cuCtxDestroy, ALL) \
    LOSE(cuCtxDestroy_v2, ALL) \
    LOSE(cuCtxDetach, ALL) \
    LOSE(cuGreenCtxDestroy, GREEN) \
    LOSE(cuDevicePrimaryCtxRelease, PRIMARY) \
    LOSE(cuDevicePrimaryCtxRelease_v2, PRIMARY) \
    LOSE(cuDevicePrimaryCtxReset, PRIMARY) \
    LOSE(cuDevicePrimaryCtxReset_v2, PRIMARY)

enum entry_id {
#define ROW1(name) E_##name,
#define ROW2(name, x) E_##name,
    DEFT_ENTRIES(ROW1, ROW2, ROW2, ROW2, ROW2, ROW2, ROW2)
#undef ROW1
#undef ROW2
    ENTRIES
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

HIDDEN void *driver_handle(void);
HIDDEN void *driver_symbol(const char *name); /* of the driver itself, wrapped or not */

/* The driver's function of a name as a value of this type, looked up once. */
#define RAW(type, name) ({     static void *known;     void *f_ = load(&known);     if (unlikely(!f_)) {         f_ = driver_symbol(name);         store(&known, f_);     }     (type)f_; })

typedef void *(*dlsym_fn)(void *, const char *);
typedef void *(*dlopen_fn)(const char *, int);
HIDDEN extern dlsym_fn libc_dlsym, next_dlsym; /* libc's, and the next after this library */
HIDDEN extern dlopen_fn deft_next_dlopen;
HIDDEN void ensure_prepared(void); /* they are known */

/* Set while this thread is inside the driver: what the driver calls itself is
   its own affair, and goes to the driver without a second look. */
HIDDEN extern __thread int inside FAST;

#endif
