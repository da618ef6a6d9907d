package device

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// ErrInvalid is returned for a description of a device that cannot be right.
var ErrInvalid = errors.New("invalid device")

// Device is a machine that could run a model, and its load at one moment. The
// JSON names are those of the profiling response where it has one.
type Device struct {
	Node  string `json:"node"`
	Class string `json:"class"`        // "Computer" or "VM"
	Model string `json:"device_model"` // such as "Raspberry Pi 4B"
	UUID  string `json:"node_uuid"`

	Arch        string  `json:"arch,omitempty"`
	Cores       int     `json:"cores"`
	MaxMHz      float64 `json:"max_mhz,omitempty"` // 0 when unknown
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	Load        Load    `json:"load"`
	// Calibration names the file with the device's own measured rates; without
	// one it is judged by those of another machine.
	Calibration string `json:"calibration,omitempty"`
}

// Load is how busy a device is.
type Load struct {
	CPUPercent  float64 `json:"cpu_percent"`  // of all cores, time not idle
	DiskPercent float64 `json:"disk_percent"` // of the root file system, used
	// MemoryAvailableBytes is what new programs can have; 0 when unknown.
	MemoryAvailableBytes int64 `json:"memory_available_bytes,omitempty"`
}

// Check reports what is wrong with a description. The error matches [ErrInvalid].
func (d Device) Check() error {
	switch {
	case d.Node == "":
		return fmt.Errorf("%w: no node name", ErrInvalid)
	case d.Cores < 1:
		return fmt.Errorf("%w: %s: %d cores", ErrInvalid, d.Node, d.Cores)
	case !percent(d.Load.CPUPercent):
		return fmt.Errorf("%w: %s: CPU load of %v %%", ErrInvalid, d.Node, d.Load.CPUPercent)
	case !percent(d.Load.DiskPercent):
		return fmt.Errorf("%w: %s: disk usage of %v %%", ErrInvalid, d.Node, d.Load.DiskPercent)
	case d.MaxMHz < 0 || math.IsNaN(d.MaxMHz) || d.MemoryBytes < 0 || d.Load.MemoryAvailableBytes < 0:
		return fmt.Errorf("%w: %s: a negative size", ErrInvalid, d.Node)
	}
	return nil
}

func percent(v float64) bool { return v >= 0 && v <= 100 }

// Excluded is a device that was left out, and why.
type Excluded struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Source lists devices with their load now, those it cannot tell the load of
// as excluded. Devices come in order of their names.
type Source interface {
	Devices(ctx context.Context) ([]Device, []Excluded, error)
}
