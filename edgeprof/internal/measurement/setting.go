package measurement

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Device types of the original collector.
var deviceTypes = []string{"desktop", "raspberrypi", "jetson"}

// ErrSetting is returned for a setting that makes no sense.
var ErrSetting = errors.New("impossible setting")

// Setting is a way of running a model. To a predictor each is a device of its own:
// several on one machine are emulated devices, and carry names that say so.
type Setting struct {
	Device  string // device type: desktop, raspberrypi or jetson
	Runtime string // "go" or "ort"
	Threads int
	CPUs    []int   // processors that the model may use; nil is any
	Quota   float64 // share of time that it may run, in (0, 1]
	Stress  bool    // a random background load during each inference
}

// Check reports what is wrong with a setting. The error matches [ErrSetting].
func (s Setting) Check() error {
	known := false
	for _, d := range deviceTypes {
		known = known || s.Device == d
	}
	if !known || s.Runtime == "" || s.Threads < 1 || !(s.Quota > 0 && s.Quota <= 1) {
		return fmt.Errorf("%w: device %q (want one of %s), runtime %q, %d threads, quota %v", ErrSetting, s.Device, strings.Join(deviceTypes, ", "), s.Runtime, s.Threads, s.Quota)
	}
	return nil
}

// String names the setting: desktop-ort-t2-pin0.1-q50-stress.
func (s Setting) String() string {
	name := fmt.Sprintf("%s-%s-t%d", s.Device, s.Runtime, s.Threads)
	if len(s.CPUs) > 0 {
		name += "-pin" + s.Pin(".")
	}
	if s.Quota < 1 {
		name += fmt.Sprintf("-q%.0f", 100*s.Quota)
	}
	if s.Stress {
		name += "-stress"
	}
	return name
}

// Pin lists the processors, with a separator between.
func (s Setting) Pin(separator string) string {
	var out []string
	for _, cpu := range s.CPUs {
		out = append(out, strconv.Itoa(cpu))
	}
	return strings.Join(out, separator)
}

// LoadName is the value of the column load.
func (s Setting) LoadName() string {
	if s.Stress {
		return "stress"
	}
	return "none"
}
