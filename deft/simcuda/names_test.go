package simcuda_test

import (
	"debug/elf"
	"slices"
	"testing"
)

// Names that Taichi 1.7 and Halide 21 look up when they start; a missing one stops them.
var lookedUp = []string{
	"cuCtxGetApiVersion", "cuCtxSetLimit", "cuDeviceTotalMem", "cuEventDestroy", "cuExternalMemoryGetMappedBuffer",
	"cuExternalMemoryGetMappedMipmappedArray", "cuImportExternalMemory", "cuImportExternalSemaphore", "cuMemAdvise",
	"cuMemAllocAsync", "cuMemAllocManaged", "cuMemcpy3D_v2", "cuMemsetD32_v2", "cuMipmappedArrayGetLevel",
	"cuModuleLoadDataEx", "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuPointerGetAttribute", "cuProfilerStop",
	"cuSignalExternalSemaphoresAsync", "cuSurfObjectCreate", "cuWaitExternalSemaphoresAsync",
}

func TestNames(t *testing.T) {
	b := newBench(t)
	f, err := elf.Open(b.Driver)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lookedUp {
		if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == name && s.Section != elf.SHN_UNDEF }) {
			t.Errorf("libcuda.so.1 has no %s", name)
		}
	}
}
