/* What frameworks ask before they work: capability, kernels' attributes and
 * occupancy, peers, and pools of memory. */
#include <string.h>

#include "simcuda.h"

enum { THREADS_OF_A_MULTIPROCESSOR = 2048, THREADS_OF_A_BLOCK = 1024 };

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);

API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    CUresult r = cuDeviceGetAttribute(major, 75, device);
    return r ? r : cuDeviceGetAttribute(minor, 76, device);
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    NEED_DRIVER;
    NEED(can, CUDA_ERROR_INVALID_VALUE);
    NEED(device >= 0 && device < this_process.devices && peer >= 0 && peer < this_process.devices, CUDA_ERROR_INVALID_DEVICE);
    *can = device != peer;
    return CUDA_SUCCESS;
}
API CUresult cuCtxEnablePeerAccess(CUhandle peer, unsigned flags) {
    NEED_DRIVER;
    return context_of(peer) && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
API CUresult cuCtxGetLimit(size_t *value, int limit) {
    (void)limit;
    NEED_DRIVER;
    NEED(value, CUDA_ERROR_INVALID_VALUE);
    *value = 1 << 20;
    return CUDA_SUCCESS;
}
API CUresult cuCtxSetLimit(int limit, size_t value) {
    (void)limit, (void)value;
    return usable();
}
API CUresult cuCtxGetFlags(unsigned *flags) {
    NEED_DRIVER;
    NEED(flags, CUDA_ERROR_INVALID_VALUE);
    *flags = 0;
    return CUDA_SUCCESS;
}
API CUresult cuCtxGetApiVersion(CUhandle context, unsigned *version) {
    (void)context;
    NEED_DRIVER;
    NEED(version, CUDA_ERROR_INVALID_VALUE);
    *version = 3020;
    return CUDA_SUCCESS;
}

/* ---- kernels ---- */

API CUresult cuFuncGetAttribute(int *value, int attribute, CUhandle function) {
    (void)function;
    NEED_DRIVER;
    NEED(value, CUDA_ERROR_INVALID_VALUE);
    *value = attribute == 0 ? THREADS_OF_A_BLOCK : attribute == 4 ? 32 : 0; /* threads, registers */
    return CUDA_SUCCESS;
}
API CUresult cuKernelGetAttribute(int *value, int attribute, CUhandle kernel, CUdevice device) {
    (void)device;
    return cuFuncGetAttribute(value, attribute, kernel);
}
API CUresult cuKernelSetAttribute(int attribute, int value, CUhandle kernel, CUdevice device) {
    (void)attribute, (void)value, (void)kernel, (void)device;
    return usable();
}
API CUresult cuFuncSetCacheConfig(CUhandle function, int config) {
    (void)function, (void)config;
    return usable();
}
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUhandle function, int threads, size_t shared, unsigned flags) {
    (void)function, (void)shared, (void)flags;
    NEED_DRIVER;
    NEED(blocks && threads > 0 && threads <= THREADS_OF_A_BLOCK, CUDA_ERROR_INVALID_VALUE);
    *blocks = THREADS_OF_A_MULTIPROCESSOR / threads;
    return CUDA_SUCCESS;
}
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUhandle function, int threads, size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUhandle function, size_t (*shared)(int), size_t bytes, int limit) {
    (void)shared, (void)bytes;
    NEED_DRIVER;
    NEED(grid && block, CUDA_ERROR_INVALID_VALUE);
    *block = limit > 0 && limit < THREADS_OF_A_BLOCK ? limit : THREADS_OF_A_BLOCK;
    CUresult r = cuDeviceGetAttribute(grid, 16, context_device());
    (void)function;
    return r;
}

/* ---- pools ---- */

int pool_of(CUhandle h) {
    ptrdiff_t i = (struct pool *)h - pools;
    return h && i >= 0 && i <= DEVICES && h == &pools[i] ? (int)i : -1;
}

API CUresult cuDeviceGetDefaultMemPool(CUhandle *pool, CUdevice device) {
    NEED_DRIVER;
    NEED(pool, CUDA_ERROR_INVALID_VALUE);
    NEED(device >= 0 && device < this_process.devices, CUDA_ERROR_INVALID_DEVICE);
    *pool = &pools[device];
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetMemPool(CUhandle *pool, CUdevice device) { return cuDeviceGetDefaultMemPool(pool, device); }
API CUresult cuDeviceSetMemPool(CUdevice device, CUhandle pool) {
    CUhandle own;
    NEED(pool_of(pool) >= 0, CUDA_ERROR_INVALID_VALUE);
    return cuDeviceGetDefaultMemPool(&own, device);
}
API CUresult cuMemPoolCreate(CUhandle *pool, const void *properties) {
    CUresult r = cuDeviceGetDefaultMemPool(pool, 0);
    if (!r && properties && is_host(((const int *)properties)[2])) *pool = &pools[DEVICES];
    return r;
}
API CUresult cuMemPoolDestroy(CUhandle pool) { return pool_of(pool) >= 0 ? usable() : CUDA_ERROR_INVALID_VALUE; }
API CUresult cuMemPoolSetAttribute(CUhandle pool, int attribute, void *value) {
    NEED(pool_of(pool) >= 0 && value, CUDA_ERROR_INVALID_VALUE);
    if (attribute == 4) __atomic_store_n(&pools[pool_of(pool)].threshold, *(uint64_t *)value, __ATOMIC_RELAXED);
    return usable();
}
API CUresult cuMemPoolGetAttribute(CUhandle pool, int attribute, void *value) {
    NEED(pool_of(pool) >= 0 && value, CUDA_ERROR_INVALID_VALUE);
    struct pool *p = &pools[pool_of(pool)];
    uint64_t used = __atomic_load_n(&p->used, __ATOMIC_RELAXED), kept = __atomic_load_n(&p->kept, __ATOMIC_RELAXED);
    if (attribute <= 3)
        memset(value, 0, sizeof(int));
    else
        *(uint64_t *)value = attribute == 4 ? p->threshold : attribute <= 6 ? used + kept : used;
    return usable();
}
