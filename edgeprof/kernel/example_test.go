package kernel_test

import (
	"fmt"

	"github.com/foretime/foretime/edgeprof/kernel"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/synth"
)

// What ONNX Runtime makes of a LeNet: activations run inside the
// kernels before them.
func Example() {
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range kernel.Rows(a.Kernels(kernel.FusionOf("ort"))) {
		fmt.Printf("%-8s %d nodes %7d multiply-accumulates\n", row.Op, row.Joined, row.MACs)
	}
	// Output:
	// Conv     2 nodes  117600 multiply-accumulates
	// MaxPool  1 nodes       0 multiply-accumulates
	// Conv     2 nodes  240000 multiply-accumulates
	// MaxPool  1 nodes       0 multiply-accumulates
	// Flatten  1 nodes       0 multiply-accumulates
	// Gemm     2 nodes   48000 multiply-accumulates
	// Gemm     2 nodes   10080 multiply-accumulates
	// Gemm     1 nodes     840 multiply-accumulates
	// Softmax  1 nodes       0 multiply-accumulates
}
