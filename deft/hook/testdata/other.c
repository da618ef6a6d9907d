/*
 * Another library of libdeft's kind, as others write them: it exports dlsym
 * and the launch, replaces what the driver's lookup gives, and counts. At the
 * end it writes the number of launches to the file OTHER_COUNT.
 *
 * With -DUNVERSIONED its dlsym carries no version.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*get_fn)(const char *, void **, int, uint64_t, int *);
typedef void *(*dlsym_fn)(void *, const char *);

static launch_fn launch;
static get_fn get;
static unsigned long count;

static dlsym_fn real_dlsym(void) {
    static dlsym_fn f;
    if (!f)
        f = (dlsym_fn)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    return f;
}

static int other_launch(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h,
                   void *stream, void **params, void **extra) {
    if (!launch)
        launch = (launch_fn)real_dlsym()(RTLD_NEXT, "cuLaunchKernel");
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    return launch(f, a, b, c, d, e, g, h, stream, params, extra);
}

__attribute__((visibility("default"), alias("other_launch")))
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static int other_get(const char *name, void **f, int version, uint64_t flags, int *status) {
    int r = get(name, f, version, flags, status);
    if (r == 0 && strcmp(name, "cuLaunchKernel") == 0 && *f != (void *)other_launch) {
        launch = (launch_fn)*f;
        *f = (void *)other_launch;
    }
    return r;
}

__attribute__((visibility("default")))
void *other_dlsym(void *handle, const char *name) {
    void *f = real_dlsym()(handle, name);
    if (f && strcmp(name, "cuLaunchKernel") == 0 && handle != RTLD_NEXT && f != (void *)other_launch) {
        launch = (launch_fn)f;
        return (void *)other_launch;
    }
    if (f && strcmp(name, "cuGetProcAddress_v2") == 0) {
        get = (get_fn)f;
        return (void *)other_get;
    }
    return f;
}

#ifdef UNVERSIONED
__attribute__((visibility("default"), alias("other_dlsym"))) void *dlsym(void *, const char *);
#else
__asm__(".symver other_dlsym,dlsym@@GLIBC_2.34");
#endif

__attribute__((destructor)) static void end(void) {
    FILE *out = getenv("OTHER_COUNT") ? fopen(getenv("OTHER_COUNT"), "w") : NULL;
    if (out) {
        fprintf(out, "%lu", count);
        fclose(out);
    }
}
