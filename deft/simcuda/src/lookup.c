/* Errors by name, and entry points by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "simcuda.h"

/* Declares the entry points under other names and without parameters: only addresses are taken. */
#define AT(f) void at_##f(void) __asm__(#f);
#define ONE(base, since, f) AT(f)
#define TWO(base, since, f, second) AT(f) AT(second)
#include "table.h"
#undef ONE
#undef TWO

static const struct entry {
    const char *name;
    int since; /* CUDA version: major * 1000 + minor * 10 */
    void (*plain)(void);
    void (*per_thread)(void); /* NULL: the same as plain */
} entries[] = {
#define ONE(base, since, f) {#base, since, at_##f, NULL},
#define TWO(base, since, f, second) {#base, since, at_##f, at_##second},
#include "table.h"
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
#define ROW(name, number, text) {name, #name, text},
    CUDA_ERRORS(ROW)
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
    for (size_t i = 0; i < ENTRIES; i += 16) {
        void *libcuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (!libcuda) continue;
        (void)dlsym(libcuda, entries[i].name);
        (void)dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2");
        dlclose(libcuda);
    }
}

enum { FOUND, NO_SYMBOL, TOO_OLD }; /* values of status */

API CUresult cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status) {
    const struct entry *e = NULL; /* the newest of the name that is not newer than the version */
    int ignored;
    if (!status) status = &ignored;
    *status = NO_SYMBOL;
    NEED(name && entry && (flags & ~3ull) == 0, CUDA_ERROR_INVALID_VALUE);
    if (config.look_up) find_own_symbol();
    for (size_t i = 0; i < ENTRIES; i++) {
        if (strcmp(entries[i].name, name)) continue;
        *status = TOO_OLD;
        if (entries[i].since <= version && (!e || entries[i].since > e->since)) e = &entries[i];
    }
    *entry = NULL;
    NEED(e, CUDA_ERROR_NOT_FOUND);
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
