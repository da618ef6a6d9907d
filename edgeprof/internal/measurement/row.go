package measurement

import (
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Row is one measured inference. The columns of the original collector come
// first, in its order; ours follow. A column that a file lacks, or an empty
// cell, is nil.
type Row struct {
	OriginalColumns
	Run
	Host
	Graph
}

// OriginalColumns holds the columns of the original collector.
type OriginalColumns struct {
	ConvLayers      *float64 `dataset:"conv_layers"`
	Device          string   `dataset:"device,optional"` // raspberrypi, jetson or desktop
	StressCores     *float64 `dataset:"device_cpu_cores"`
	DiskPercent     *float64 `dataset:"device_disk_usage_percent"`
	LoadPercent     *float64 `dataset:"device_load_percent"` // of each stressed core
	ReadBytes       *float64 `dataset:"disk_io_read_bytes"`
	WrittenBytes    *float64 `dataset:"disk_io_write_bytes"`
	End             string   `dataset:"end_timestamp,optional"`
	Number          *int     `dataset:"execution_number"`
	Time            Seconds  `dataset:"execution_time,optional"`
	FilterDetails   *float64 `dataset:"filter_details"`
	FCLayers        *float64 `dataset:"fully_conn_layers"`
	ModelName       string   `dataset:"model_name,optional"`
	NetworkType     string   `dataset:"network_type,optional"`
	PoolLayers      *float64 `dataset:"pool_layers"`
	Start           string   `dataset:"start_timestamp,optional"`
	CPUPercent      *float64 `dataset:"total_cpu_usage_percent"`
	MemoryPercent   *float64 `dataset:"total_memory_usage_percent"`
	TotalParameters *float64 `dataset:"total_parameters"`
}

// Run holds the settings and the circumstances of an inference.
type Run struct {
	Setting string   `dataset:"setting,optional"` // a device, as far as its speed goes
	Family  string   `dataset:"family,optional"`
	Round   *int     `dataset:"round"`
	Threads *float64 `dataset:"threads"`
	Pin     string   `dataset:"pin,optional"` // processors, separated by spaces
	Load    string   `dataset:"load,optional"`
	Burst   *float64 `dataset:"burst"` // inferences that the time is the median of
	// Uncontended is their mean time less what they waited for processors.
	Uncontended Seconds `dataset:"uncontended_time,optional"`
}

// Host is the machine that it ran on.
type Host struct {
	UUID        string   `dataset:"node_uuid,optional"`
	DeviceModel string   `dataset:"device_model,optional"`
	Processor   string   `dataset:"processor,optional"`
	Cores       *float64 `dataset:"cores"`
	MaxMHz      *float64 `dataset:"max_mhz"`
}

// Graph holds the counts that follow from the model's shapes.
type Graph struct {
	ConvMACs       *float64 `dataset:"conv_macs"`
	DepthwiseMACs  *float64 `dataset:"depthwise_macs"`
	DenseMACs      *float64 `dataset:"dense_macs"`
	RecurrentMACs  *float64 `dataset:"recurrent_macs"`
	ParameterBytes *float64 `dataset:"parameter_bytes"`
	Activations    *float64 `dataset:"activation_bytes"`
	PeakBytes      *float64 `dataset:"peak_activation_bytes"`
	Nodes          *float64 `dataset:"nodes"`
	FusedNodes     *float64 `dataset:"fused_nodes"`
	Depth          *float64 `dataset:"depth"`
}

// NumberCell returns a number as the value of a cell that may be empty.
func NumberCell[T int | int64 | float64](v T) *float64 {
	f := float64(v)
	return &f
}

// ValueOr returns the value of a cell, or another if it is empty.
func ValueOr[T any](cell *T, otherwise T) T {
	if cell == nil {
		return otherwise
	}
	return *cell
}

// NewRow returns a row with the columns that follow from a model.
func NewRow(c *onnx.Characteristics) Row {
	return Row{
		OriginalColumns: OriginalColumns{
			ConvLayers: NumberCell(c.ConvLayers), ReadBytes: NumberCell(c.ModelInputSize), WrittenBytes: NumberCell(c.ModelOutputSize), FilterDetails: NumberCell(c.FilterDetails),
			FCLayers: NumberCell(c.FCLayers), PoolLayers: NumberCell(c.PoolLayers), TotalParameters: NumberCell(c.TotalParameters), NetworkType: networkType(c.Ops),
		},
		Graph: Graph{
			ConvMACs: NumberCell(c.MACs.Conv), DepthwiseMACs: NumberCell(c.MACs.Depthwise), DenseMACs: NumberCell(c.MACs.Dense), RecurrentMACs: NumberCell(c.MACs.Recurrent),
			ParameterBytes: NumberCell(c.ParameterBytes), Activations: NumberCell(c.ActivationBytes), PeakBytes: NumberCell(c.PeakActivationBytes),
			Nodes: NumberCell(c.Nodes), FusedNodes: NumberCell(c.FusedNodes), Depth: NumberCell(c.Depth),
		},
	}
}

// networkType returns the original collector's name for a model's kind.
func networkType(ops map[string]int) string {
	switch {
	case ops["Conv"] > 0:
		return "Convolutional Neural Network (CNN)"
	case ops["LSTM"]+ops["GRU"]+ops["RNN"] > 0:
		return "Recurrent Neural Network (RNN)"
	case ops["LayerNormalization"] > 0 && ops["MatMul"] > 0:
		return "Transformer"
	case ops["Gemm"]+ops["MatMul"] > 0:
		return "Fully Connected Neural Network (MLP)"
	}
	return "Unknown Network Type"
}

// ModelFamily returns a model's family by its name: the letters it begins with, and what
// belongs to them (mobilenetv2_w0.5 is a mobilenetv, resnet18 a resnet).
func ModelFamily(name string) string {
	name = strings.ToLower(name)
	if i := strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }); i > 0 {
		return name[:i]
	}
	return name
}
