/* What compilers with their own runtime (Taichi, Halide) look up when they start, whether
 * they use it or not. */
#include <stddef.h>
#include <string.h>

#include "simcuda.h"

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
API CUresult cuEventDestroy_v2(CUhandle event);
API CUresult cuStreamDestroy_v2(CUhandle stream);

/* Names without a version. */
API CUresult cuEventDestroy(CUhandle event) { return cuEventDestroy_v2(event); }
API CUresult cuStreamDestroy(CUhandle stream) { return cuStreamDestroy_v2(stream); }
API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) { return cuDeviceTotalMem_v2(bytes, device); }
API CUresult cuProfilerStart(void) { return usable(); }
API CUresult cuProfilerStop(void) { return usable(); }

API CUresult cuMemAdvise(CUdeviceptr at, size_t bytes, int advice, CUdevice device) {
    (void)advice, (void)device;
    NEED(at && bytes, CUDA_ERROR_INVALID_VALUE);
    return usable();
}

/* Kernels are only times here, so a module has no variables. */
API CUresult cuModuleGetGlobal_v2(CUdeviceptr *at, size_t *bytes, CUhandle module, const char *name) {
    (void)at, (void)bytes, (void)module, (void)name;
    NEED_DRIVER;
    return CUDA_ERROR_NOT_FOUND;
}

/* What a box of bytes is copied from or to. */
struct side {
    size_t x, y, z, lod;
    unsigned type; /* 1 the host, 2 the device, 3 an array, 4 unified */
    const void *host;
    CUdeviceptr device;
    CUhandle array;
    void *reserved;
    size_t pitch, height;
};
struct box {
    struct side from, to;
    size_t width, height, depth; /* the width in bytes */
};
_Static_assert(sizeof(struct box) == 200 && offsetof(struct side, pitch) == 72, "CUDA_MEMCPY3D");

static CUdeviceptr line(const struct side *s, size_t y, size_t z) {
    CUdeviceptr base = s->type == 1 ? (CUdeviceptr)(uintptr_t)s->host : s->type == 3 ? (CUdeviceptr)(uintptr_t)s->array : s->device;
    return base ? base + ((s->z + z) * s->height + s->y + y) * s->pitch + s->x : 0;
}

API CUresult cuMemcpy3D_v2(const struct box *b) {
    NEED_DRIVER;
    NEED(b && b->from.type >= 1 && b->from.type <= 4 && b->to.type >= 1 && b->to.type <= 4, CUDA_ERROR_INVALID_VALUE);
    for (size_t z = 0; z < b->depth; z++)
        for (size_t y = 0; y < b->height; y++) {
            CUresult r = cuMemcpy(line(&b->to, y, z), line(&b->from, y, z), b->width);
            if (r) return r;
        }
    return CUDA_SUCCESS;
}

/* ---- sharing with Vulkan: not on this device ---- */

#define NOT_HERE(name) \
    API CUresult name(void) { return CUDA_ERROR_NOT_SUPPORTED; }
NOT_HERE(cuImportExternalMemory)
NOT_HERE(cuExternalMemoryGetMappedBuffer)
NOT_HERE(cuExternalMemoryGetMappedMipmappedArray)
NOT_HERE(cuDestroyExternalMemory)
NOT_HERE(cuMipmappedArrayGetLevel)
NOT_HERE(cuSurfObjectCreate)
NOT_HERE(cuImportExternalSemaphore)
NOT_HERE(cuSignalExternalSemaphoresAsync)
NOT_HERE(cuWaitExternalSemaphoresAsync)
