/*
 * A driver that looks its own functions up and calls what it finds, unless
 * that is the function itself. A hook that hands it a wrapper sends it round
 * for ever.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

static void *self_lookup(const char *name) {
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return self ? dlsym(self, name) : NULL;
}

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*get_fn)(const char *, void **, int, uint64_t, int *);

int cuInit(unsigned flags) { return (int)flags; }

static int launch(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h,
                  void *stream, void **params, void **extra) {
    launch_fn found = (launch_fn)self_lookup("cuLaunchKernel");
    return found && found != launch ? found(f, a, b, c, d, e, g, h, stream, params, extra) : 0;
}
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)
    __attribute__((alias("launch")));

static int get(const char *name, void **f, int version, uint64_t flags, int *status) {
    get_fn found = (get_fn)self_lookup("cuGetProcAddress_v2");
    if (found && found != get)
        return found(name, f, version, flags, status);
    *f = self_lookup(name);
    if (status)
        *status = *f ? 0 : 1;
    return *f ? 0 : 500;
}
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *) __attribute__((alias("get")));
