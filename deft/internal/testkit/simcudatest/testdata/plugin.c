/* A library linked to libcuda.so.1, to be opened by client.c with RTLD_LOCAL
 * or RTLD_DEEPBIND: launches kernels of 1 µs through its own bindings. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "driver.h"

typedef CUresult (*launch_fn)(CUhandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUhandle, void **, void **);

CUresult cuInit(unsigned flags);
CUresult cuCtxSynchronize(void);
CUresult cuLaunchKernel(CUhandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUhandle stream, void **args, void **extra);

static CUresult run(launch_fn launch, int kernels) {
    CUresult r = cuInit(0);
    for (int i = 0; i < kernels && !r; i++) r = launch(NULL, 1000, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    return r ? r : cuCtxSynchronize();
}

/* Through the binding of the dynamic linker. */
__attribute__((visibility("default"))) CUresult plugin_linked(int kernels) { return run(cuLaunchKernel, kernels); }

/* Through dlsym, as this library sees dlsym. */
__attribute__((visibility("default"))) CUresult plugin_looked_up(int kernels) {
    void *libcuda = dlopen("libcuda.so.1", RTLD_NOW);
    launch_fn launch = libcuda ? (launch_fn)dlsym(libcuda, "cuLaunchKernel") : 0;
    return launch ? run(launch, kernels) : CUDA_ERROR_NOT_FOUND;
}
