/*
 * Calls three versions of one entry point, each as the driver gave it: v1 has
 * three arguments, v2 four, and one of a CUDA that is not out yet has five.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*get_fn)(const char *, void **, int, uint64_t, int *);
static get_fn get;

static void *ask(int version, uint64_t flags) {
    void *f = NULL;
    int status;
    if (get("cuLaunchHostFunc", &f, version, flags, &status)) {
        printf("no version %d\n", version);
        exit(1);
    }
    return f;
}

static void nothing(void *data) { (void)data; }

static void call(const char *what, int r, int want) {
    if (r != want) {
        printf("%s: %d, want %d\n", what, r, want);
        exit(1);
    }
}

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (!driver)
        return 2;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
    int (*current)(void *) = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
    get = (get_fn)dlsym(driver, "cuGetProcAddress_v2");
    call("start", init(0) || retain(&context, 0) || current(context), 0);
    for (int i = 0; i < 2; i++) /* in both orders */
        for (uint64_t flags = 0; flags <= 2; flags += 2) {
            int (*v1)(void *, void *, void *) = (int (*)(void *, void *, void *))ask(12000, flags);
            int (*v2)(void *, void *, void *, unsigned) = (int (*)(void *, void *, void *, unsigned))ask(13010 + 40 * i, flags);
            int (*later)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t) =
                (int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t))ask(90000, flags);
            call("v2", v2(NULL, (void *)nothing, NULL, 1), 0);
            call("v2, a mode that there is not", v2(NULL, (void *)nothing, NULL, 7), 1);
            call("v1", v1(NULL, (void *)nothing, NULL), 0);
            call("v2 after v1, a mode that there is not", v2(NULL, (void *)nothing, NULL, 7), 1);
            call("later", later(1, 2, 3, 4, 5), 0);
        }
    puts("ok");
    return 0;
}
