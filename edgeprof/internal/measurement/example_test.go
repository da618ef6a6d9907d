package measurement_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// A file of the original collector: its times are hours, minutes and seconds,
// and it lacks our columns.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	text := "conv_layers,device,execution_time,model_name\n5,raspberrypi,00:00:02.500000,alexnet\n5,raspberrypi,,alexnet\n"
	if err := os.WriteFile(filepath.Join(dir, "alexnet.onnx-raspberrypi.csv"), []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	data, err := measurement.ReadDir(context.Background(), dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	row := data.Rows[0]
	fmt.Println(row.Family, row.Setting, row.Time.Value, "s;", data.Missing, "row without a time")
	// Output: alexnet raspberrypi 2.5 s; 1 row without a time
}

// What ONNX Runtime makes of a LeNet: activations run inside the
// kernels before them.
func ExampleNewKernels() {
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
	for _, row := range measurement.NewKernels(a.Kernels()) {
		fmt.Printf("%-8s %d nodes %7d multiply-accumulates\n", row.Op, len(row.Nodes), row.MACs)
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
