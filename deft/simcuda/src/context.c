/* Devices, contexts and modules. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda.h"

enum { MULTIPROCESSORS = 132, CONTEXT_MAGIC = 0x63747831 };

static struct context primary[DEVICES] = {{CONTEXT_MAGIC, 0, NULL}, {CONTEXT_MAGIC, 1, NULL}, {CONTEXT_MAGIC, 2, NULL}, {CONTEXT_MAGIC, 3, NULL}};
static __thread struct context *current;

#define EXISTS(ordinal) ((ordinal) >= 0 && (ordinal) < this_process.devices)

static int is_primary(const struct context *c) { return c >= primary && c < primary + DEVICES; }

API CUresult cuDeviceGetCount(int *count) {
    NEED_DRIVER;
    NEED(count, CUDA_ERROR_INVALID_VALUE);
    *count = this_process.devices;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    NEED_DRIVER;
    NEED(device, CUDA_ERROR_INVALID_VALUE);
    NEED(EXISTS(ordinal), CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    NEED_DRIVER;
    NEED(name && size > 0, CUDA_ERROR_INVALID_VALUE);
    NEED(EXISTS(device), CUDA_ERROR_INVALID_DEVICE);
    snprintf(name, (size_t)size, "simulated device");
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(unsigned char uuid[16], CUdevice device) {
    NEED_DRIVER;
    NEED(uuid, CUDA_ERROR_INVALID_VALUE);
    NEED(EXISTS(device), CUDA_ERROR_INVALID_DEVICE);
    memcpy(uuid, "simcuda-device-0", 16);
    uuid[15] = (unsigned char)('0' + device);
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetUuid(unsigned char uuid[16], CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    uint64_t unused, total;
    NEED_DRIVER;
    NEED(bytes, CUDA_ERROR_INVALID_VALUE);
    NEED(EXISTS(device), CUDA_ERROR_INVALID_DEVICE);
    device_memory_info(this_process.at[device].device, &unused, &total);
    *bytes = total;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    NEED_DRIVER;
    NEED(value, CUDA_ERROR_INVALID_VALUE);
    NEED(EXISTS(device), CUDA_ERROR_INVALID_DEVICE);
    switch (attribute) {
    case 1:                                   /* threads of a block, and its dimensions */
    case 2:
    case 3: *value = 1024; break;
    case 4: *value = 64; break;
    case 5: *value = INT_MAX; break;          /* blocks of a grid */
    case 6:
    case 7: *value = 65535; break;
    case 8: *value = 48 << 10; break;         /* shared memory of a block, */
    case 97: *value = 227 << 10; break;       /* the most on request, */
    case 81: *value = 228 << 10; break;       /* and of a multiprocessor */
    case 9: *value = 64 << 10; break;         /* constant memory */
    case 10: *value = 32; break;              /* warp */
    case 12:                                  /* registers of a block, of a multiprocessor */
    case 82: *value = 64 << 10; break;
    case 13: *value = 1000000; break;         /* clock, kHz */
    case 16: *value = MULTIPROCESSORS; break; /* multiprocessors */
    case 39: *value = 2048; break;            /* threads of a multiprocessor */
    case 41:                                  /* unified addressing */
    case 83:                                  /* managed memory, */
    case 89:                                  /* also while kernels run */
    case 95:                                  /* cooperative launch */
    case 115: *value = 1; break;              /* memory pools */
    case 75: *value = 9; break;               /* compute capability */
    case 106: *value = 32; break;             /* blocks of a multiprocessor */
    default: *value = 0;
    }
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRetain(CUhandle *context, CUdevice device) {
    NEED_DRIVER;
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    NEED(EXISTS(device), CUDA_ERROR_INVALID_DEVICE);
    *context = &primary[device];
    return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    NEED_DRIVER;
    return EXISTS(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
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

struct context *context_of(CUhandle h) {
    struct context *c = h;
    return c && c->magic == CONTEXT_MAGIC ? c : NULL;
}

CUhandle context_current(void) { return current ? current : &primary[0]; }
int context_device(void) { return current ? current->device : 0; }

static CUresult create_context(CUhandle *context, CUdevice device) {
    NEED_DRIVER;
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    NEED(EXISTS(device), CUDA_ERROR_INVALID_DEVICE);
    struct context *c = calloc(1, sizeof *c);
    NEED(c, CUDA_ERROR_OUT_OF_MEMORY);
    c->magic = CONTEXT_MAGIC;
    c->device = device;
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
    NEED(c && !is_primary(c), CUDA_ERROR_INVALID_CONTEXT);
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
    if (!is_primary(c)) c->below = current;
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
    *device = current->device;
    return CUDA_SUCCESS;
}
API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    NEED_DRIVER;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

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
