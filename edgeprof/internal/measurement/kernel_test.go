package measurement

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

func TestTimes(t *testing.T) {
	kernels := []onnx.Kernel{{Nodes: []int{0, 2}}, {Nodes: []int{1}}, {Nodes: []int{3}}}
	p := runtime.Profile{Nodes: []runtime.NodeTime{
		{Node: -1, Name: "ReorderInput", Seconds: 1}, {Node: 2, Seconds: 10}, {Node: -1, Name: "ReorderOutput_token_3", Seconds: 2},
		{Node: -1, Name: "gemm_input_reshape", Seconds: 4}, {Node: 1, Seconds: 20}, {Node: 0, Seconds: 100}, {Node: -1, Name: "x", Seconds: 8},
	}}
	if diff := cmp.Diff([]float64{1 + 10 + 2 + 100 + 8, 24, 0}, KernelTimes(kernels, p)); diff != "" {
		t.Error(diff)
	}
	skips := []onnx.Kernel{{Nodes: []int{0, 1}, Op: onnx.SkipNormalization}, {Nodes: []int{2}}}
	p = runtime.Profile{Nodes: []runtime.NodeTime{{Node: -1, Op: onnx.SkipNormalization, Seconds: 3}, {Node: 2, Seconds: 4}, {Node: -1, Op: onnx.SkipNormalization, Seconds: 5}}}
	if diff := cmp.Diff([]float64{3, 9}, KernelTimes(skips, p)); diff != "" {
		t.Error(diff)
	}
	if got := KernelTimes(nil, runtime.Profile{}); len(got) != 0 {
		t.Errorf("no kernels: %v", got)
	}
}
