package measurement

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Device types of the original collector.
var deviceTypes = []string{"desktop", "raspberrypi", "jetson"}

// ErrSetting is returned for an impossible setting, such as no threads.
var ErrSetting = errors.New("impossible setting")

// Setting describes how a model is run. A predictor treats each setting as a device of its own:
// several on one machine are emulated devices, with names that say so.
type Setting struct {
	Device  string // device type: desktop, raspberrypi or jetson
	Runtime string // "go" or "ort"
	Threads int
	CPUs    []int   // processors that the model may use; nil is any
	Quota   float64 // fraction of the time in which it may run, in (0, 1]
	Stress  bool    // a random background load during each inference
}

// Check reports what is wrong with a setting. The error matches [ErrSetting].
func (s Setting) Check() error {
	if !slices.Contains(deviceTypes, s.Device) || s.Runtime == "" || s.Threads < 1 || !(s.Quota > 0 && s.Quota <= 1) {
		return fmt.Errorf("%w: device %q (want one of %s), runtime %q, %d threads, quota %v", ErrSetting, s.Device, strings.Join(deviceTypes, ", "), s.Runtime, s.Threads, s.Quota)
	}
	return nil
}

// String names the setting: desktop-ort-t2-pin0.1-q50-stress.
func (s Setting) String() string {
	name := fmt.Sprintf("%s-%s-t%d", s.Device, s.Runtime, s.Threads)
	if len(s.CPUs) > 0 {
		name += "-pin" + s.CPUList(".")
	}
	if s.Quota < 1 {
		name += fmt.Sprintf("-q%.0f", 100*s.Quota)
	}
	if s.Stress {
		name += "-stress"
	}
	return name
}

// CPUList returns the processors, joined by a separator.
func (s Setting) CPUList(separator string) string {
	var out []string
	for _, cpu := range s.CPUs {
		out = append(out, strconv.Itoa(cpu))
	}
	return strings.Join(out, separator)
}

// LoadName returns the value of the column load: "stress" or "none".
func (s Setting) LoadName() string {
	if s.Stress {
		return "stress"
	}
	return "none"
}
