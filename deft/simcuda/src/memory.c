/* Memory: address space that costs nothing until it is touched, and copies. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simcuda.h"

struct allocation {
    CUdeviceptr at;
    size_t bytes;
    int device;  /* whose memory it is; -1 the host's */
    int holders; /* of cuMemCreate's: its handle, retained ones, mappings */
    struct allocation *next;
};

static struct allocation *allocations;

/* Under the lock: where the allocation that begins at an address is linked, or would be. */
static struct allocation **find_allocation(CUdeviceptr at) {
    struct allocation **p = &allocations;
    while (*p && (*p)->at != at) p = &(*p)->next;
    return p;
}

static CUresult allocate(CUdeviceptr *at, size_t bytes, int device) {
    NEED_DRIVER;
    NEED(at && bytes, CUDA_ERROR_INVALID_VALUE);
    NEED(bytes < (1ull << 46), CUDA_ERROR_OUT_OF_MEMORY);
    struct allocation *a = malloc(sizeof *a);
    NEED(a, CUDA_ERROR_OUT_OF_MEMORY);
    if (device >= 0 && device_memory(ON(device), (int64_t)bytes)) {
        free(a);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        if (device >= 0) device_memory(ON(device), -(int64_t)bytes);
        free(a);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&process_lock);
    *a = (struct allocation){(CUdeviceptr)(uintptr_t)p, bytes, device, 1, allocations};
    allocations = a;
    pthread_mutex_unlock(&process_lock);
    *at = a->at;
    return CUDA_SUCCESS;
}

static CUresult release(CUdeviceptr at) {
    NEED_DRIVER;
    if (!at) return CUDA_SUCCESS;
    pthread_mutex_lock(&process_lock);
    struct allocation **p = find_allocation(at), *a = *p;
    if (a) *p = a->next;
    pthread_mutex_unlock(&process_lock);
    NEED(a, CUDA_ERROR_INVALID_VALUE);
    munmap((void *)(uintptr_t)a->at, a->bytes);
    if (a->device >= 0) device_memory(ON(a->device), -(int64_t)a->bytes);
    free(a);
    return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes) {
    CUresult r = disturb();
    return r ? r : allocate(at, bytes, context_device());
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
    CUresult r = allocate(&p, bytes, -1);
    *at = (void *)(uintptr_t)p;
    return r;
}
API CUresult cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
    (void)flags;
    return cuMemAllocHost_v2(at, bytes);
}
API CUresult cuMemFreeHost(void *at) { return release((CUdeviceptr)(uintptr_t)at); }

/* ---- pools: one for each device and one of host memory ---- */

struct pool pools[DEVICES + 1];

static CUresult trim(int device, uint64_t keep) {
    struct pool *p = &pools[device];
    pthread_mutex_lock(&process_lock);
    uint64_t back = p->kept > keep ? p->kept - keep : 0;
    p->kept -= back;
    pthread_mutex_unlock(&process_lock);
    if (back) device_memory(ON(device), -(int64_t)back);
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolTrimTo(CUhandle pool, size_t keep) {
    NEED_DRIVER;
    NEED(pool_of(pool) >= 0, CUDA_ERROR_INVALID_VALUE);
    return pool_of(pool) < DEVICES ? trim(pool_of(pool), keep) : CUDA_SUCCESS;
}

static CUresult alloc_async(struct stream *s, CUdeviceptr *at, size_t bytes) {
    CUresult r = submit(s, 0, 0);
    if (r) return r;
    struct pool *p = &pools[s->device];
    pthread_mutex_lock(&process_lock);
    uint64_t reused = p->kept < bytes ? p->kept : bytes;
    p->kept -= reused;
    pthread_mutex_unlock(&process_lock);
    if (reused) device_memory(ON(s->device), -(int64_t)reused); /* allocate takes it again */
    if (!(r = allocate(at, bytes, s->device))) __atomic_add_fetch(&p->used, bytes, __ATOMIC_RELAXED);
    return r;
}
static CUresult alloc_from_pool(struct stream *s, CUdeviceptr *at, size_t bytes, CUhandle pool) {
    return pool_of(pool) < DEVICES ? alloc_async(s, at, bytes) : allocate(at, bytes, -1);
}
BOTH(cuMemAllocAsync, cuMemAllocAsync_ptsz, (CUdeviceptr * at, size_t bytes, CUhandle stream), alloc_async, at, bytes)
BOTH(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * at, size_t bytes, CUhandle pool, CUhandle stream),
     alloc_from_pool, at, bytes, pool)

/* What is freed stays the pool's, up to its threshold. */
static CUresult free_async(struct stream *s, CUdeviceptr at) {
    CUresult r = submit(s, 0, 0);
    if (r) return r;
    struct pool *p = &pools[s->device];
    pthread_mutex_lock(&process_lock);
    struct allocation *a = *find_allocation(at);
    uint64_t bytes = a && a->device >= 0 ? a->bytes : 0;
    pthread_mutex_unlock(&process_lock);
    if ((r = release(at)) || !bytes) return r;
    __atomic_sub_fetch(&p->used, bytes < p->used ? bytes : p->used, __ATOMIC_RELAXED);
    pthread_mutex_lock(&process_lock);
    uint64_t room = p->threshold > p->kept ? p->threshold - p->kept : 0, keep = bytes < room ? bytes : room;
    p->kept += keep;
    pthread_mutex_unlock(&process_lock);
    if (keep && device_memory(ON(s->device), (int64_t)keep)) __atomic_sub_fetch(&p->kept, keep, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}
BOTH(cuMemFreeAsync, cuMemFreeAsync_ptsz, (CUdeviceptr at, CUhandle stream), free_async, at)

/* Memory by handle. Mappings of one handle do not share their bytes here. */
struct mapping {
    CUdeviceptr at, handle;
    size_t bytes;
    struct mapping *next;
};

static struct mapping *mappings;

/* Adds to what holds a handle's memory; the last one gone frees it. */
static CUresult hold(CUdeviceptr handle, int more) {
    pthread_mutex_lock(&process_lock);
    struct allocation *a = *find_allocation(handle);
    int left = a ? a->holders += more : -1;
    pthread_mutex_unlock(&process_lock);
    NEED(left >= 0, CUDA_ERROR_INVALID_VALUE);
    return left > 0 ? CUDA_SUCCESS : release(handle);
}

API CUresult cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags) {
    CUresult r = disturb();
    NEED(properties && !flags, CUDA_ERROR_INVALID_VALUE);
    return r ? r : allocate(handle, bytes, is_host(((const int *)properties)[2]) ? -1 : context_device());
}
API CUresult cuMemRelease(uint64_t handle) { return hold(handle, -1); }
API CUresult cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t alignment, CUdeviceptr wanted, uint64_t flags) {
    (void)alignment, (void)wanted, (void)flags;
    return allocate(at, bytes, -1);
}
API CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes) {
    (void)bytes;
    return release(at);
}
API CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
    (void)offset, (void)flags;
    NEED(at && bytes, CUDA_ERROR_INVALID_VALUE);
    struct mapping *m = malloc(sizeof *m);
    NEED(m, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult r = hold(handle, 1);
    if (r) {
        free(m);
        return r;
    }
    pthread_mutex_lock(&process_lock);
    *m = (struct mapping){at, handle, bytes, mappings};
    mappings = m;
    pthread_mutex_unlock(&process_lock);
    return CUDA_SUCCESS;
}
API CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) {
    for (CUdeviceptr end = at + bytes; at < end;) {
        pthread_mutex_lock(&process_lock);
        struct mapping **p = &mappings;
        while (*p && (*p)->at != at) p = &(*p)->next;
        struct mapping *m = *p;
        if (m) *p = m->next;
        pthread_mutex_unlock(&process_lock);
        NEED(m, CUDA_ERROR_INVALID_VALUE);
        at += m->bytes;
        CUresult r = hold(m->handle, -1);
        free(m);
        if (r) return r;
    }
    return CUDA_SUCCESS;
}
API CUresult cuMemRetainAllocationHandle(uint64_t *handle, void *at) {
    pthread_mutex_lock(&process_lock);
    struct mapping *m = mappings;
    while (m && ((CUdeviceptr)(uintptr_t)at < m->at || (CUdeviceptr)(uintptr_t)at >= m->at + m->bytes)) m = m->next;
    pthread_mutex_unlock(&process_lock);
    NEED(handle && m, CUDA_ERROR_INVALID_VALUE);
    *handle = m->handle;
    return hold(m->handle, 1);
}
API CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const void *access, size_t count) {
    NEED(at && bytes && access && count, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* Only what memory an address is in: 1 the context, 2 the kind (1 host, 2 device), 3 and 4
 * the address itself, 8 whether it is managed. */
API CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr at) {
    NEED_DRIVER;
    pthread_mutex_lock(&process_lock);
    struct allocation *a = allocations;
    while (a && (at < a->at || at >= a->at + a->bytes)) a = a->next;
    int device = a ? a->device : -2;
    pthread_mutex_unlock(&process_lock);
    NEED(value && device > -2, CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case 1: *(CUhandle *)value = context_current(); break;
    case 2: *(int *)value = device < 0 ? 1 : 2; break;
    case 3:
    case 4: *(CUdeviceptr *)value = at; break;
    case 8: *(int *)value = 0; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    NEED_DRIVER;
    NEED(free_bytes && total, CUDA_ERROR_INVALID_VALUE);
    device_memory_info(this_process.at[context_device()].device, free_bytes, total);
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
    if (!r) r = submit(s, (bytes * config.ns_per_kib + 1023) / 1024, 0);
    if (r) return r;
    if (!s->graph && bytes) memmove(to, from, bytes);
    if (when == AT_ONCE) device_wait(ON(s->device), __atomic_load_n(&s->last, __ATOMIC_RELAXED) - 1);
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
    CUresult r = submit(s, (count * width * config.ns_per_kib + 1023) / 1024, 0);
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
