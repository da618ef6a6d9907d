package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// ErrInvalid is returned for a description of a device that cannot be right.
var ErrInvalid = errors.New("invalid device")

// Clocks that processors which run ONNX Runtime can have, in MHz.
const (
	slowestMHz = 50
	fastestMHz = 10000
)

// mostTasks is the greatest number of tasks that Linux has (PID_MAX_LIMIT).
const mostTasks = 1 << 22

// Device is a machine that could run a model, and its load at one moment. The
// JSON names are those of the profiling response where it has one.
type Device struct {
	Node  string `json:"node"`
	Class string `json:"class"`        // "Computer" or "VM"
	Model string `json:"device_model"` // such as "Raspberry Pi 4B"
	UUID  string `json:"node_uuid"`

	Arch      string `json:"arch,omitempty"`
	Processor string `json:"processor,omitempty"` // such as "Cortex-A72"
	Cores     int    `json:"cores"`
	// PhysicalCores is the number of cores without those that share one; 0 when unknown.
	PhysicalCores int     `json:"physical_cores,omitempty"`
	MaxMHz        float64 `json:"max_mhz,omitempty"` // 0 when unknown
	MemoryBytes   int64   `json:"memory_bytes,omitempty"`
	Load          Load    `json:"load"`
	// Calibration names the file with the device's own measured rates; without
	// one it is judged by those of another machine.
	Calibration string `json:"calibration,omitempty"`
}

// Load is the present use of a device.
type Load struct {
	CPUPercent float64 `json:"cpu_percent"` // of all cores, time not idle
	// GPUPercent is the load of the busiest GPU; nil when unknown.
	GPUPercent *float64 `json:"gpu_percent,omitempty"`
	// DiskPercent is the used share of the root file system; nil when unknown.
	DiskPercent *float64 `json:"disk_percent,omitempty"`
	// Load1 is the kernel's mean number of tasks that run, wait for a processor or
	// for a disk, over about a minute; 0 when unknown.
	Load1 float64 `json:"load1,omitempty"`
	// WaitingPercent is the share of time that some task waited for a processor;
	// nil when unknown.
	WaitingPercent *float64 `json:"waiting_percent,omitempty"`
	// Running is the number of tasks that run or wait for a processor, over about a minute; 0
	// if unknown.
	Running float64 `json:"running,omitempty"`
	// ProbedTasks is the number of competing tasks of usual weight that a [Probe] measured; nil if
	// none was made.
	ProbedTasks *float64 `json:"felt,omitempty"`
	// MemoryAvailableBytes is the memory left for new programs; 0 if unknown.
	MemoryAvailableBytes int64 `json:"memory_available_bytes,omitempty"`
}

// DefaultThreads returns the number of threads that ONNX Runtime takes for an inference unless
// a program says otherwise: one for each physical core.
func (d *Device) DefaultThreads() int {
	return cmp.Or(min(d.PhysicalCores, d.Cores), d.Cores)
}

// Check reports what is wrong with a description. The error matches [ErrInvalid].
func (d Device) Check() error {
	switch {
	case d.Node == "":
		return fmt.Errorf("%w: no name in field node", ErrInvalid)
	case d.Cores < 1:
		return fmt.Errorf("%w: %s: %d cores, want 1 or more", ErrInvalid, d.Node, d.Cores)
	case !percent(d.Load.CPUPercent):
		return fmt.Errorf("%w: %s: CPU load of %v %%, want 0 to 100", ErrInvalid, d.Node, d.Load.CPUPercent)
	case d.Load.DiskPercent != nil && !percent(*d.Load.DiskPercent):
		return fmt.Errorf("%w: %s: disk usage of %v %%, want 0 to 100", ErrInvalid, d.Node, *d.Load.DiskPercent)
	case d.Load.GPUPercent != nil && !percent(*d.Load.GPUPercent):
		return fmt.Errorf("%w: %s: GPU load of %v %%, want 0 to 100", ErrInvalid, d.Node, *d.Load.GPUPercent)
	case d.Load.WaitingPercent != nil && !percent(*d.Load.WaitingPercent):
		return fmt.Errorf("%w: %s: tasks wait %v %% of the time, want 0 to 100", ErrInvalid, d.Node, *d.Load.WaitingPercent)
	case !areTasks(d.Load.Load1) || !areTasks(d.Load.Running):
		return fmt.Errorf("%w: %s: load average %v, %v running tasks: want 0 to %d", ErrInvalid, d.Node, d.Load.Load1, d.Load.Running, mostTasks)
	case d.Load.ProbedTasks != nil && !areTasks(*d.Load.ProbedTasks):
		return fmt.Errorf("%w: %s: %v competing tasks, want 0 to %d", ErrInvalid, d.Node, *d.Load.ProbedTasks, mostTasks)
	case d.PhysicalCores < 0:
		return fmt.Errorf("%w: %s: %d physical cores, want 0 or more", ErrInvalid, d.Node, d.PhysicalCores)
	case !(d.MaxMHz == 0 || d.MaxMHz >= slowestMHz && d.MaxMHz <= fastestMHz):
		return fmt.Errorf("%w: %s: max_mhz of %v, want 0 (unknown) or %d to %d", ErrInvalid, d.Node, d.MaxMHz, slowestMHz, fastestMHz)
	case d.MemoryBytes < 0 || d.Load.MemoryAvailableBytes < 0:
		return fmt.Errorf("%w: %s: a size is negative", ErrInvalid, d.Node)
	}
	return nil
}

// Competitors returns the number of tasks that would compete with a new one: the measurement of a
// probe, or else the tasks that keep processors busy and those that wait for one. Tasks of the
// load average that wait for a disk do not count if the kernel reports the share of time in
// which one waited for a processor (its pressure stall information).
func (l *Load) Competitors(cores int) float64 {
	if l.ProbedTasks != nil {
		return *l.ProbedTasks
	}
	busy := l.CPUPercent / 100 * float64(cores)
	queue := l.Load1
	if l.Running > 0 {
		queue = l.Running
	} else if l.WaitingPercent != nil {
		queue = busy + *l.WaitingPercent/100*(queue-busy)
	}
	return max(busy, queue)
}

// IsSaturated reports whether all cores are in use: a further thread has to wait.
func (l *Load) IsSaturated(cores int) bool {
	return l.Competitors(cores) >= 0.95*float64(cores)
}

// areTasks reports whether a machine can have so many tasks.
func areTasks(n float64) bool { return n >= 0 && n <= mostTasks }

func percent(v float64) bool { return v >= 0 && v <= 100 }

// Exclusion is a device that was left out, and why.
type Exclusion struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Source lists devices with their load now; those of unknown load are excluded. Devices are
// ordered by name.
type Source interface {
	Devices(ctx context.Context) ([]Device, []Exclusion, error)
}
