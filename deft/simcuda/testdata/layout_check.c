/* Holds what this project declares of the driver API against NVIDIA's own
 * cuda.h, where there is one: it has only to compile.
 *
 *   cc -fsyntax-only -I/usr/local/cuda/include layout_check.c */
#include <cuda.h>
#include <stddef.h>

#define SAME(what, is) _Static_assert((what) == (is), #what)

SAME(sizeof(CUlaunchConfig), 56);
SAME(offsetof(CUlaunchConfig, gridDimX), 0);
SAME(offsetof(CUlaunchConfig, blockDimX), 12);
SAME(offsetof(CUlaunchConfig, sharedMemBytes), 24);
SAME(offsetof(CUlaunchConfig, hStream), 32);
SAME(offsetof(CUlaunchConfig, attrs), 40);
SAME(offsetof(CUlaunchConfig, numAttrs), 48);
SAME(sizeof(CUdeviceptr), 8);
SAME(sizeof(CUresult), sizeof(int));
SAME(CU_GET_PROC_ADDRESS_LEGACY_STREAM, 1);
SAME(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, 2);
SAME(CU_STREAM_NON_BLOCKING, 1);
SAME(CU_EVENT_DISABLE_TIMING, 2);
SAME(CU_STREAM_CAPTURE_STATUS_NONE, 0);
SAME(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1);
SAME(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2);
SAME(CU_STREAM_CAPTURE_MODE_GLOBAL, 0);
SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1);
SAME(CU_STREAM_CAPTURE_MODE_RELAXED, 2);
SAME(CUDA_ERROR_OUT_OF_MEMORY, 2);
SAME(CUDA_ERROR_NOT_INITIALIZED, 3);
SAME(CUDA_ERROR_STUB_LIBRARY, 34);
SAME(CUDA_ERROR_NOT_READY, 600);
SAME(CUDA_ERROR_LAUNCH_FAILED, 719);
SAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900);
SAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901);
SAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903);
SAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906);
SAME(CUDA_ERROR_CAPTURED_EVENT, 907);
SAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908);
