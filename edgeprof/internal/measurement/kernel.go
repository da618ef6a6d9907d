package measurement

import "github.com/foretime/foretime/edgeprof/internal/onnx"

// Kernel is the time of one kernel of a model in one setting. Read from a table,
// the kernel names no nodes and runs 0 times, which is once.
type Kernel struct {
	ModelName string  `dataset:"model_name"`
	Family    string  `dataset:"family"`
	Setting   string  `dataset:"setting"`
	Threads   float64 `dataset:"threads"`
	Round     int     `dataset:"round"`
	Index     int     `dataset:"kernel"` // in the order of the model
	onnx.Kernel
	Runs int `dataset:"runs"`
	// Seconds is the mean of the shorter half of the runs, which other work
	// disturbed least; nil where the runtime did not show the kernel.
	Seconds *float64 `dataset:"seconds"`
}

// NewKernels returns rows with the properties of kernels that are known before they run.
func NewKernels(kernels []onnx.Kernel) []Kernel {
	rows := make([]Kernel, len(kernels))
	for i, k := range kernels {
		rows[i] = Kernel{Index: i, Kernel: k}
	}
	return rows
}
