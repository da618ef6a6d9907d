package device

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// Settings holds the constants of a device. The zero value of a field is the default.
type Settings struct {
	Discipline Discipline    // default FIFO
	Turn       time.Duration // of turns: the time after which a kernel is interrupted for another context
	Switch     time.Duration // of turns: idle time when another context gets the device; below 0 none
	Overlap    float64       // of mps: the share of a kernel that runs while one of another context does; below 0 none
	Priorities bool          // of mps: a client of higher priority is served first (CUDA_MPS_CLIENT_PRIORITY)
	Ahead      int           // launches that a client may have on the device, after which its host waits
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

// ErrConstants is returned for a file that holds no constants of a device.
var ErrConstants = errors.New("not constants of a device")

// constants are settings as gpu/checks.py writes them (constants.json). A missing field is the
// default.
type constants struct {
	Turn    float64 `json:"turn_ms"`
	Switch  float64 `json:"switch_ms"`
	Overlap float64 `json:"overlap"`
	Ahead   int     `json:"launches_ahead"`
}

// LoadConstants returns the settings of a device from a JSON file with the fields turn_ms,
// switch_ms, overlap and launches_ahead. The discipline is left open.
func LoadConstants(path string) (Settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Settings{}, err
	}
	var c constants
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Settings{}, fmt.Errorf("%s: %w: %w", path, ErrConstants, err)
	}
	if c.Turn < 0 || c.Turn > 1e4 || c.Switch < 0 || c.Switch > 1e4 || c.Overlap < 0 || c.Overlap > 1 || c.Ahead < 0 {
		return Settings{}, fmt.Errorf("%s: %w: want times of 0 to 10 s, an overlap of 0 to 1 and launches from 0, have %s", path, ErrConstants, bytes.TrimSpace(text))
	}
	ms := float64(time.Millisecond)
	return Settings{Turn: time.Duration(c.Turn * ms), Switch: time.Duration(c.Switch * ms), Overlap: c.Overlap, Ahead: c.Ahead}, nil
}
