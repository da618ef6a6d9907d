/*
 * Opens a CUDA run-time library and asks it what it can tell without a GPU:
 * prints the answers of cudaDriverGetVersion and cudaGetDeviceCount.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!lib) {
        puts(argc > 1 ? dlerror() : "no library named");
        return 1;
    }
    int (*version)(int *) = (int (*)(int *))dlsym(lib, "cudaDriverGetVersion");
    int (*count)(int *) = (int (*)(int *))dlsym(lib, "cudaGetDeviceCount");
    int v = 0, n = -1, r = version(&v), s = count(&n);
    printf("version %d %d, devices %d %d\n", r, v, s, n);
    return 0;
}
