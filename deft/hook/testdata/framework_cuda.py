"""What a program does by cuda-python's driver API: a module from PTX, occupancy,
a memory pool, streams, events, a graph by capture.

usage: framework_cuda.py [SECONDS CSV]: jobs of 400 kernels of 100000 blocks, rows
of start and end in ns, milliseconds; it waits for a line when it is ready
"""

import ctypes
import sys
import time

from cuda.bindings import driver


def must(answer):
    assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer[0]
    return answer[1] if len(answer) == 2 else answer[1:]


must(driver.cuInit(0))
device = must(driver.cuDeviceGet(0))
must(driver.cuCtxSetCurrent(must(driver.cuDevicePrimaryCtxRetain(device))))
kernel = must(driver.cuModuleGetFunction(must(driver.cuModuleLoadData(b".version 8.0\n.target sm_90\n.entry k() { ret; }\0")), b"k"))
blocks = must(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, 256, 0))
pool = must(driver.cuDeviceGetDefaultMemPool(device))
must(driver.cuMemPoolSetAttribute(pool, driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, driver.cuuint64_t(1 << 30)))
stream, event = must(driver.cuStreamCreate(1)), must(driver.cuEventCreate(0))
memory = must(driver.cuMemAllocFromPoolAsync(1 << 20, pool, stream))
data = (ctypes.c_char * (1 << 20))()
must(driver.cuMemcpyHtoDAsync(memory, ctypes.addressof(data), 1 << 20, stream))


def launch(blocks=1000):
    must(driver.cuLaunchKernel(kernel, blocks, 1, 1, 256, 1, 1, 0, stream, 0, 0))


if len(sys.argv) > 1:
    launch()
    must(driver.cuStreamSynchronize(stream))
    print("model loaded", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + float(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        print("start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte", file=f)
        while time.monotonic() < until:
            begin = time.monotonic_ns()
            for _ in range(400):
                launch(100000)
            must(driver.cuStreamSynchronize(stream))
            end = time.monotonic_ns()
            print(f"{begin},{end},{(end - begin) / 1e6:.6f},0,0", file=f, flush=True)
    sys.exit()
for _ in range(100):
    launch()
must(driver.cuEventRecord(event, stream))
must(driver.cuEventSynchronize(event))
must(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
for _ in range(10):
    launch()
graph = must(driver.cuGraphInstantiate(must(driver.cuStreamEndCapture(stream)), 0))
for _ in range(5):
    must(driver.cuGraphLaunch(graph, stream))
must(driver.cuMemFreeAsync(memory, stream))
must(driver.cuStreamSynchronize(stream))
print("blocks", blocks)
