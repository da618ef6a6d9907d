/* Launches ten times, half of them through cuGetProcAddress. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*get_fn)(const char *, void **, int, uint64_t, int *);

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *second = NULL;
    int status;
    if (!driver)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    launch_fn launch = (launch_fn)dlsym(driver, "cuLaunchKernel");
    get_fn get = (get_fn)dlsym(driver, "cuGetProcAddress_v2");
    if (get("cuLaunchKernel", &second, 13000, 0, &status) || !second)
        return 1;
    for (int i = 0; i < 5; i++)
        if (launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) ||
            ((launch_fn)second)(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL))
            return 1;
    puts("done");
    return 0;
}
