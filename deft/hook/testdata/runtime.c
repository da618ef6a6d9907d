/*
 * Opens a CUDA run-time library, which looks the driver up, and then calls
 * what that library holds, as NVIDIA's own cuda.h declares it: launches,
 * captures, replays, copies, host functions of each version. Prints each call
 * with its answer and what came of it.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LEGACY = 0, KERNELS = 10, REPLAYS = 5 };

static PFN_cuGetProcAddress_v12000 look_up;
static const char *runtime;
static int failed;

/* Whether the run-time library keeps the address among its data. */
static int scan(struct dl_phdr_info *o, size_t size, void *p) {
    (void)size;
    for (int i = 0; strcmp(o->dlpi_name, runtime) == 0 && i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &o->dlpi_phdr[i];
        void **at = (void **)(o->dlpi_addr + h->p_vaddr);
        for (size_t k = 0; h->p_type == PT_LOAD && h->p_flags & PF_W && k < h->p_memsz / sizeof *at; k++)
            if (at[k] == p)
                return 1;
    }
    return 0;
}

static void *held(const char *name, int version) {
    void *p = NULL;
    CUdriverProcAddressQueryResult found;
    CUresult r = look_up(name, &p, version, LEGACY, &found);
    int keeps = !r && dl_iterate_phdr(scan, p);
    printf("%s %d: %d, held %d\n", name, version, r, keeps);
    failed |= r != CUDA_SUCCESS;
    return p;
}

#define GET(name, version) PFN_##name##_v##version name##_ = (PFN_##name##_v##version)held(#name, version)

static void want(const char *what, int holds) {
    printf("%s: %s\n", what, holds ? "ok" : "NO");
    failed |= !holds;
}
#define WANT(what) want(#what, what)

static CUstream stream;
static PFN_cuStreamSynchronize_v2000 synchronize;

static void start(void) {
    CUcontext context;
    GET(cuInit, 2000);
    GET(cuDevicePrimaryCtxRetain, 7000);
    GET(cuCtxSetCurrent, 4000);
    GET(cuStreamCreate, 2000);
    GET(cuStreamSynchronize, 2000);
    synchronize = cuStreamSynchronize_;
    WANT(cuInit_(0) == CUDA_SUCCESS);
    WANT(cuDevicePrimaryCtxRetain_(&context, 0) == CUDA_SUCCESS);
    WANT(cuCtxSetCurrent_(context) == CUDA_SUCCESS);
    WANT(cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
}

static void launches(void) {
    GET(cuLaunchKernel, 4000);
    GET(cuLaunchKernelEx, 11060);
    GET(cuLaunchCooperativeKernel, 9000);
    CUlaunchConfig c = {.gridDimX = 1000, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .hStream = stream};
    WANT(cuLaunchKernel_(NULL, 1000, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) == CUDA_SUCCESS);
    WANT(cuLaunchKernel_(NULL, 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuLaunchKernelEx_(&c, NULL, NULL, NULL) == CUDA_SUCCESS);
    WANT(cuLaunchCooperativeKernel_(NULL, 1000, 1, 1, 1, 1, 1, 0, stream, NULL) == CUDA_SUCCESS);
    WANT(synchronize(stream) == CUDA_SUCCESS);
}

static void graphs(void) {
    GET(cuLaunchKernel, 4000);
    GET(cuStreamBeginCapture, 10010);
    GET(cuStreamEndCapture, 10000);
    GET(cuStreamIsCapturing, 10000);
    GET(cuGraphGetNodes, 10000);
    GET(cuGraphInstantiateWithFlags, 11040);
    GET(cuGraphLaunch, 10000);
    GET(cuGraphExecDestroy, 10000);
    GET(cuGraphDestroy, 10000);
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    size_t nodes = 0;
    int bad = 0;
    WANT(cuStreamBeginCapture_(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    for (int i = 0; i < KERNELS; i++)
        bad |= cuLaunchKernel_(NULL, 1000, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    WANT(cuStreamIsCapturing_(stream, &status) == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    WANT(cuStreamEndCapture_(stream, &graph) == CUDA_SUCCESS);
    WANT(cuGraphGetNodes_(graph, NULL, &nodes) == CUDA_SUCCESS && nodes == KERNELS);
    WANT(cuGraphInstantiateWithFlags_(&exec, graph, 0) == CUDA_SUCCESS);
    for (int i = 0; i < REPLAYS; i++)
        bad |= cuGraphLaunch_(exec, stream);
    WANT(bad == 0);
    WANT(synchronize(stream) == CUDA_SUCCESS);
    WANT(cuGraphExecDestroy_(exec) == CUDA_SUCCESS && cuGraphDestroy_(graph) == CUDA_SUCCESS);
}

static void copies(void) {
    GET(cuMemAlloc, 3020);
    GET(cuMemAllocAsync, 11020);
    GET(cuMemcpyHtoD, 3020);
    GET(cuMemcpyDtoDAsync, 3020);
    GET(cuMemcpyDtoHAsync, 3020);
    GET(cuMemsetD8Async, 3020);
    GET(cuMemFreeAsync, 11020);
    GET(cuMemFree, 3020);
    unsigned char there[1000], back[1000] = {0};
    CUdeviceptr at, other;
    for (size_t i = 0; i < sizeof there; i++)
        there[i] = (unsigned char)(i * 7);
    WANT(cuMemAlloc_(&at, sizeof there) == CUDA_SUCCESS);
    WANT(cuMemAllocAsync_(&other, sizeof there, stream) == CUDA_SUCCESS);
    WANT(cuMemcpyHtoD_(at, there, sizeof there) == CUDA_SUCCESS);
    WANT(cuMemcpyDtoDAsync_(other, at, sizeof there, stream) == CUDA_SUCCESS);
    WANT(cuMemsetD8Async_(other, 'x', 10, stream) == CUDA_SUCCESS);
    WANT(cuMemcpyDtoHAsync_(back, other, sizeof back, stream) == CUDA_SUCCESS);
    WANT(synchronize(stream) == CUDA_SUCCESS);
    WANT(memcmp(back, "xxxxxxxxxx", 10) == 0 && memcmp(back + 10, there + 10, sizeof there - 10) == 0);
    WANT(cuMemFreeAsync_(other, stream) == CUDA_SUCCESS && cuMemFree_(at) == CUDA_SUCCESS);
}

static int called;
static void CUDA_CB count(void *by) { __atomic_add_fetch(&called, *(int *)by, __ATOMIC_RELAXED); }

static int comes_to(int sum) {
    for (int i = 0; i < 30000 && __atomic_load_n(&called, __ATOMIC_RELAXED) != sum; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return __atomic_load_n(&called, __ATOMIC_RELAXED) == sum;
}

static void host_functions(void) {
    static int ten = 10;
    GET(cuLaunchHostFunc, 10000);
    WANT(cuLaunchHostFunc_(stream, count, &ten) == CUDA_SUCCESS);
    WANT(synchronize(stream) == CUDA_SUCCESS && comes_to(10));
#if CUDA_VERSION >= 13010
    static int three = 3;
    PFN_cuLaunchHostFunc_v13010 second = (PFN_cuLaunchHostFunc_v13010)held("cuLaunchHostFunc", 13010);
    WANT(second(stream, count, &three, 1) == CUDA_SUCCESS);
    WANT(second(stream, count, &three, 7) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuLaunchHostFunc_(stream, count, &ten) == CUDA_SUCCESS);
    WANT(synchronize(stream) == CUDA_SUCCESS && comes_to(23));
#endif
}

int main(int argc, char **argv) {
    void *lib = dlopen(runtime = argc > 1 ? argv[1] : "libcudart.so", RTLD_NOW), *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib || !driver) {
        puts(dlerror());
        return 1;
    }
    int version = 0, (*ask)(int *) = (int (*)(int *))dlsym(lib, "cudaDriverGetVersion");
    look_up = (PFN_cuGetProcAddress_v12000)dlsym(driver, "cuGetProcAddress_v2");
    WANT(ask(&version) == 0 && version > 0);
    start();
    launches();
    graphs();
    copies();
    host_functions();
    puts(failed ? "failed" : "ok");
    return 0;
}
