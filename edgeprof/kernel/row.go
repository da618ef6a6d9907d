package kernel

import "github.com/foretime/foretime/edgeprof/onnx"

// Row is the time of one kernel of a model in one setting.
type Row struct {
	ModelName string  `dataset:"model_name"`
	Family    string  `dataset:"family"`
	Setting   string  `dataset:"setting"`
	Runtime   string  `dataset:"runtime"`
	Threads   float64 `dataset:"threads"`
	Quota     float64 `dataset:"quota"`
	Round     int     `dataset:"round"`
	Index     int     `dataset:"kernel"` // in the order of the model
	Op        string  `dataset:"op"`
	Class     string  `dataset:"class"`
	Joined    int     `dataset:"joined"` // nodes that it computes
	MACs      int64   `dataset:"macs"`

	ParameterBytes int64 `dataset:"parameter_bytes"`
	ReadBytes      int64 `dataset:"read_bytes"`
	WrittenBytes   int64 `dataset:"written_bytes"`
	Rows           int64 `dataset:"rows"`
	Depth          int64 `dataset:"depth"`
	Columns        int64 `dataset:"columns"`
	Window         int64 `dataset:"window"`
	Stride         int64 `dataset:"stride"`
	Groups         int64 `dataset:"groups"`

	// Times that the kernel runs in one inference; 0 is once.
	Times int64 `dataset:"-"`

	Runs int `dataset:"runs"`
	// Seconds is the mean of the shorter half of the runs, which other work
	// disturbed least; nil where the run time did not show the kernel.
	Seconds *float64 `dataset:"seconds"`
	Min     *float64 `dataset:"min_seconds"`
	P50     *float64 `dataset:"p50_seconds"`
	P90     *float64 `dataset:"p90_seconds"`
}

// Rows are rows with what is known of kernels before they run.
func Rows(kernels []onnx.Kernel) []Row {
	rows := make([]Row, len(kernels))
	for i, k := range kernels {
		rows[i] = Row{
			Index: i, Op: k.Op, Class: string(k.Class), Joined: len(k.Nodes), MACs: k.MACs, ParameterBytes: k.ParameterBytes, ReadBytes: k.ReadBytes,
			WrittenBytes: k.WrittenBytes, Rows: k.Rows, Depth: k.Depth, Columns: k.Columns, Window: k.Window, Stride: k.Stride, Groups: k.Groups, Times: k.Times,
		}
	}
	return rows
}
