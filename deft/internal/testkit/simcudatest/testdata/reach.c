#include "reach.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

typedef CUresult (*get_v1)(const char *, void **, int, uint64_t);
typedef CUresult (*get_v2)(const char *, void **, int, uint64_t, int *);

enum { CUDA_11_8 = 11080, CUDA_12_9 = 12090 };

char reach_error[256];

static void *symbol(const char *name) {
    static void *libcuda;
    if (!libcuda) libcuda = dlopen("libcuda.so.1", RTLD_NOW);
    void *p = libcuda ? dlsym(libcuda, name) : NULL;
    if (!p) snprintf(reach_error, sizeof reach_error, "%s", dlerror());
    return p;
}

int reach_known(const char *path) {
    static const char *const paths[] = {"v2", "ptds", "v1", "double", "dlsym"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (!strcmp(paths[i], path)) return 1;
    return 0;
}

static void *find_v1(const char *name) {
    get_v1 get = (get_v1)symbol("cuGetProcAddress");
    void *p = NULL;
    return get && get(name, &p, CUDA_11_8, CU_GET_PROC_LEGACY_STREAM) == CUDA_SUCCESS ? p : NULL;
}

static void *find_v2(const char *name, int twice, uint64_t flags) {
    get_v2 get = (get_v2)symbol("cuGetProcAddress_v2");
    void *p = NULL;
    int found = 0;
    if (twice && get && get("cuGetProcAddress", &p, CUDA_12_9, 0, &found) == CUDA_SUCCESS) get = (get_v2)p;
    return get && get(name, &p, CUDA_12_9, flags, &found) == CUDA_SUCCESS && found == 0 ? p : NULL;
}

void *reach(const char *path, const char *name, const char *exported) {
    void *p;
    snprintf(reach_error, sizeof reach_error, "%s: cuGetProcAddress does not find it", name);
    if (!strcmp(path, "dlsym"))
        p = symbol(exported);
    else if (!strcmp(path, "v1"))
        p = find_v1(name);
    else
        p = find_v2(name, !strcmp(path, "double"), !strcmp(path, "ptds") ? CU_GET_PROC_PER_THREAD_STREAM : CU_GET_PROC_LEGACY_STREAM);
    return p;
}
