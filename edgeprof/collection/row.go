package collection

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Row is one measured inference. The columns of the original collector come
// first, in its order; ours follow. A column that a file lacks, or an empty
// cell, is nil.
type Row struct {
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

	Setting string   `dataset:"setting,optional"` // a device, as far as its speed goes
	Family  string   `dataset:"family,optional"`
	Round   *int     `dataset:"round"`
	Runtime string   `dataset:"runtime,optional"`
	Threads *float64 `dataset:"threads"`
	Pin     string   `dataset:"pin,optional"` // processors, separated by spaces
	Quota   *float64 `dataset:"quota"`        // share of time that the model may run
	Load    string   `dataset:"load,optional"`
	Burst   *float64 `dataset:"burst"` // inferences that the time is the median of

	UUID        string   `dataset:"node_uuid,optional"`
	DeviceModel string   `dataset:"device_model,optional"`
	Arch        string   `dataset:"arch,optional"`
	Cores       *float64 `dataset:"cores"`
	MaxMHz      *float64 `dataset:"max_mhz"`
	MHz         *float64 `dataset:"mhz"`
	Governor    string   `dataset:"governor,optional"`
	Load1       *float64 `dataset:"load_1m"`
	MemoryBytes *float64 `dataset:"memory_bytes"`

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

// KernelRow is the time of one kernel of a model in one setting.
type KernelRow struct {
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

	Runs int `dataset:"runs"`
	// Seconds is the mean of the shorter half of the runs, which other work
	// disturbed least; nil where the run time did not show the kernel.
	Seconds *float64 `dataset:"seconds"`
	Min     *float64 `dataset:"min_seconds"`
	P50     *float64 `dataset:"p50_seconds"`
	P90     *float64 `dataset:"p90_seconds"`
}

// Seconds is a time, or none: its zero value is missing, and empty as text.
// Otherwise it is a number of seconds, or hours, minutes and seconds as the
// original collector writes them (00:00:02.712345).
type Seconds struct {
	Value float64
	Known bool
}

// Took is a time that is known.
func Took(seconds float64) Seconds { return Seconds{seconds, true} }

// MarshalText writes a number of seconds.
func (s Seconds) MarshalText() ([]byte, error) {
	if !s.Known {
		return nil, nil
	}
	return strconv.AppendFloat(nil, s.Value, 'g', -1, 64), nil
}

var errTime = errors.New("want seconds or HH:MM:SS.ffffff, not below 0")

// UnmarshalText reads either form.
func (s *Seconds) UnmarshalText(text []byte) error {
	value := strings.TrimSpace(string(text))
	if value == "" {
		*s = Seconds{}
		return nil
	}
	sum, parts := 0.0, strings.Split(value, ":")
	if len(parts) != 1 && len(parts) != 3 {
		return errTime
	}
	for i, part := range parts {
		if i < len(parts)-1 && (part == "" || strings.Trim(part, "0123456789") != "") {
			return errTime
		}
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) || len(parts) == 3 && i > 0 && v >= 60 {
			return errTime
		}
		sum = 60*sum + v
	}
	*s = Took(sum)
	return nil
}

// number is a value for a cell.
func number[T int | int64 | float64](v T) *float64 {
	f := float64(v)
	return &f
}

// Device types of the original collector.
var deviceTypes = []string{"desktop", "raspberrypi", "jetson"}

// ErrSetting is returned for a setting that makes no sense.
var ErrSetting = errors.New("impossible setting")

// Setting is how a model is run. To a predictor each is a device of its own:
// several on one machine are emulated devices, and carry names that say so.
type Setting struct {
	Device  string // device type: desktop, raspberrypi or jetson
	Runtime string // "go" or "ort"
	Threads int
	CPUs    []int   // processors that the model may use; nil is any
	Quota   float64 // share of time that it may run, in (0, 1]
	Stress  bool    // a random background load beside each inference
}

// Check reports what is wrong with a setting. The error matches [ErrSetting].
func (s Setting) Check() error {
	known := false
	for _, d := range deviceTypes {
		known = known || s.Device == d
	}
	if !known || s.Runtime == "" || s.Threads < 1 || !(s.Quota > 0 && s.Quota <= 1) {
		return fmt.Errorf("%w: device %q (want one of %s), run time %q, %d threads, quota %v", ErrSetting, s.Device, strings.Join(deviceTypes, ", "), s.Runtime, s.Threads, s.Quota)
	}
	return nil
}

// String names the setting: desktop-ort-t2-pin0.1-q50-stress.
func (s Setting) String() string {
	name := fmt.Sprintf("%s-%s-t%d", s.Device, s.Runtime, s.Threads)
	if len(s.CPUs) > 0 {
		name += "-pin" + strings.Join(s.cpus(), ".")
	}
	if s.Quota < 1 {
		name += fmt.Sprintf("-q%.0f", 100*s.Quota)
	}
	if s.Stress {
		name += "-stress"
	}
	return name
}

func (s Setting) cpus() []string {
	var out []string
	for _, cpu := range s.CPUs {
		out = append(out, strconv.Itoa(cpu))
	}
	return out
}

// loadName is the value of the column load.
func (s Setting) loadName() string {
	if s.Stress {
		return "stress"
	}
	return "none"
}
