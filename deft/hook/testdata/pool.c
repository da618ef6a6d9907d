/* Allocates 1 MB from a pool of memory at a location of each given type, and prints what the
 * driver answers. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FIND(f) ((int (*)())dlsym(driver, f))

int main(int argc, char **argv) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context, *pool;
    if (!driver || FIND("cuInit")(0) || FIND("cuDevicePrimaryCtxRetain")(&context, 0) || FIND("cuCtxSetCurrent")(context))
        return 1;
    for (int i = 1; i < argc; i++) {
        struct {
            int type, handles, where, id;
            char rest[72];
        } properties = {1, 0, atoi(argv[i]), 0, {0}};
        uint64_t at;
        if (FIND("cuMemPoolCreate")(&pool, &properties))
            return 2;
        printf("%d ", FIND("cuMemAllocFromPoolAsync")(&at, (size_t)1000000, pool, NULL));
    }
}
