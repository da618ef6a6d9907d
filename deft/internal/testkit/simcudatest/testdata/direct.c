/* A program linked to libcuda.so.1: launches argv[1] kernels of 1 µs. */
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

CUresult cuInit(unsigned flags);
CUresult cuDevicePrimaryCtxRetain(CUhandle *context, CUdevice device);
CUresult cuCtxSetCurrent(CUhandle context);
CUresult cuCtxSynchronize(void);
CUresult cuLaunchKernel(CUhandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUhandle stream, void **args, void **extra);

int main(int argc, char **argv) {
    int kernels = argc > 1 ? atoi(argv[1]) : 10;
    CUhandle context;
    CUresult r = cuInit(0);
    if (!r) r = cuDevicePrimaryCtxRetain(&context, 0);
    if (!r) r = cuCtxSetCurrent(context);
    for (int i = 0; i < kernels && !r; i++) r = cuLaunchKernel(NULL, 1000, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    if (!r) r = cuCtxSynchronize();
    if (r) {
        fprintf(stderr, "direct: driver error %d\n", r);
        return 1;
    }
    printf("launches %d\n", kernels);
    return 0;
}
