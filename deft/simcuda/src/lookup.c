/* Errors by name, and entry points by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "entries.h"
#include "simcuda.h"

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


/* What trips hooks that record their own wrapper: the driver uses the dynamic
 * linker while it answers. */
static void find_own_symbol(void) {
    for (size_t i = 0; entry_name(i); i += 16) {
        void *libcuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (!libcuda) continue;
        (void)dlsym(libcuda, entry_name(i));
        (void)dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2");
        dlclose(libcuda);
    }
}

enum { FOUND, NO_SYMBOL, TOO_OLD }; /* what status says */

API CUresult cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status) {
    int known, ignored;
    if (!status) status = &ignored;
    *status = NO_SYMBOL;
    NEED(name && entry && (flags & ~3ull) == 0, CUDA_ERROR_INVALID_VALUE);
    if (config.look_up) find_own_symbol();
    const struct entry *e = entry_find(name, version, &known);
    *entry = NULL;
    if (!e) {
        if (known) *status = TOO_OLD;
        return CUDA_ERROR_NOT_FOUND;
    }
    *entry = (void *)(flags & CU_GET_PROC_PER_THREAD_STREAM && e->per_thread ? e->per_thread : e->plain);
    *status = FOUND;
    return CUDA_SUCCESS;
}

API CUresult cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, entry, version, flags, NULL);
}

API CUresult cuGetExportTable(const void **table, const void *id) {
    NEED(table && id, CUDA_ERROR_INVALID_VALUE);
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND; /* the private tables of the real driver are not simulated */
}
