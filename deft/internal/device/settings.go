package device

import (
	"os"
	"path/filepath"
	"time"
)

// Discipline is the order in which a device serves the kernels of several clients.
type Discipline string

// The disciplines.
const (
	FIFO  Discipline = "fifo"  // in order of launch, as within one context
	Turns Discipline = "turns" // contexts take turns, as a GPU without MPS does
	MPS   Discipline = "mps"   // one kernel of each context in turn, partly at the same time
)

// Settings holds the constants of a device. The zero value of a field is the default. The tags
// are for package experiment.
type Settings struct {
	Discipline Discipline    `field:"discipline" values:"fifo turns mps"` // default FIFO
	Turn       time.Duration `field:"slice_ms" unit:"ms"`                 // of turns: the time after which a kernel is interrupted for another context
	Switch     time.Duration `field:"switch_ns" unit:"ns"`                // of turns: idle time when another context gets the device; below 0 none
	Overlap    float64       `field:"overlap"`                            // of mps: the share of a kernel that runs while one of another context does; below 0 none
	Priorities bool          // of mps: a client of higher priority is served first (CUDA_MPS_CLIENT_PRIORITY)
	Ahead      int           `field:"ahead" low:"1"` // launches that a client may have on the device, after which its host waits
}

// Defaults of [Settings]. Turn and switch were measured on an H100 and an H200 (driver 580):
// 2.071 and 2.065 ms, 0.164 and 0.168 ms. Behind a running kernel the driver accepts 1021
// to 1025 launches of a stream before it blocks the host. The overlap was fitted to pairs
// of recorded programs on another H200: median error of the speed 0.065.
const (
	DefaultTurn    = 2070 * time.Microsecond
	DefaultSwitch  = 166 * time.Microsecond
	DefaultOverlap = 0.3
	DefaultAhead   = 1024
)

// WithDefaults returns the settings with their defaults.
func (s Settings) WithDefaults() Settings {
	if s.Discipline == "" {
		s.Discipline = FIFO
	}
	if s.Turn <= 0 {
		s.Turn = DefaultTurn
	}
	switch {
	case s.Discipline != Turns || s.Switch < 0:
		s.Switch = 0
	case s.Switch == 0:
		s.Switch = DefaultSwitch
	}
	switch {
	case s.Discipline != MPS || s.Overlap < 0:
		s.Overlap = 0
	case s.Overlap == 0:
		s.Overlap = DefaultOverlap
	}
	if s.Ahead <= 0 {
		s.Ahead = DefaultAhead
	}
	return s
}

// OfGPU returns the discipline of this machine's GPU for programs with an environment:
// MPS if its control daemon listens in the directory that they look into, else turns.
func OfGPU(environ func(string) string) Discipline {
	dir := environ("CUDA_MPS_PIPE_DIRECTORY")
	if dir == "" {
		dir = "/tmp/nvidia-mps"
	}
	if _, err := os.Stat(filepath.Join(dir, "control")); err != nil {
		return Turns
	}
	return MPS
}

// OfSimulated returns the discipline of the simulated device for programs with an
// environment.
func OfSimulated(environ func(string) string) Discipline {
	switch d := Discipline(environ("SIMCUDA_ORDER")); d {
	case Turns, MPS:
		return d
	}
	return FIFO
}
