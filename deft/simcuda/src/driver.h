/* Declarations of the CUDA driver API as far as this project calls or
 * simulates it, in our own words: handles are pointers, device pointers 64
 * bits, results ints. No CUDA header is needed to build anything here. */
#ifndef DEFT_DRIVER_H
#define DEFT_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef void *CUhandle; /* context, stream, event, function, module, graph */
typedef void (*CUhostFn)(void *data);

/* Errors: name, number, text. */
#define CUDA_ERRORS(ROW) \
    ROW(CUDA_SUCCESS, 0, "no error") \
    ROW(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument") \
    ROW(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory") \
    ROW(CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error") \
    ROW(CUDA_ERROR_NO_DEVICE, 100, "no simulated device") \
    ROW(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal") \
    ROW(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid device context") \
    ROW(CUDA_ERROR_INVALID_HANDLE, 400, "invalid resource handle") \
    ROW(CUDA_ERROR_NOT_FOUND, 500, "named symbol not found") \
    ROW(CUDA_ERROR_NOT_READY, 600, "not done yet") \
    ROW(CUDA_ERROR_LAUNCH_FAILED, 719, "simulated launch failure") \
    ROW(CUDA_ERROR_NOT_SUPPORTED, 801, "not on this device") \
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "not permitted while a stream is capturing") \
    ROW(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, "the capture failed earlier") \
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903, "the capture did not begin in this stream") \
    ROW(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906, "would depend on an uncaptured stream") \
    ROW(CUDA_ERROR_CAPTURED_EVENT, 907, "the event was recorded into a capture") \
    ROW(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, "the capture began in another thread")

enum {
#define NUMBER(name, number, text) name = number,
    CUDA_ERRORS(NUMBER)
#undef NUMBER
};

/* The two named streams that every context has. */
#define CU_STREAM_LEGACY ((CUhandle)0x1)
#define CU_STREAM_PER_THREAD ((CUhandle)0x2)

/* Flags of cuGetProcAddress: whose default stream the caller means. */
enum { CU_GET_PROC_LEGACY_STREAM = 1, CU_GET_PROC_PER_THREAD_STREAM = 2 };

/* What cuLaunchKernelEx takes: 56 bytes. */
typedef struct {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    CUhandle stream;
    void *attributes;
    unsigned attribute_count;
} CUlaunchConfig;

_Static_assert(sizeof(void *) == 8, "64-bit machines only");
_Static_assert(offsetof(CUlaunchConfig, block) == 12, "block");
_Static_assert(offsetof(CUlaunchConfig, shared_bytes) == 24, "shared_bytes");
_Static_assert(offsetof(CUlaunchConfig, stream) == 32, "stream");
_Static_assert(offsetof(CUlaunchConfig, attributes) == 40, "attributes");
_Static_assert(offsetof(CUlaunchConfig, attribute_count) == 48, "attribute_count");
_Static_assert(sizeof(CUlaunchConfig) == 56, "CUlaunchConfig");

#endif
