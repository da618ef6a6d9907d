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
	Threads int
	CPUs    []int // processors that the model may use; nil is any
	Stress  bool  // a random background load during each inference
}

// Check reports what is wrong with a setting. The error matches [ErrSetting].
func (s Setting) Check() error {
	if !slices.Contains(deviceTypes, s.Device) || s.Threads < 1 {
		return fmt.Errorf("%w: device %q (want one of %s), %d threads", ErrSetting, s.Device, strings.Join(deviceTypes, ", "), s.Threads)
	}
	return nil
}

// String names the setting: desktop-t2-pin0.1-stress.
func (s Setting) String() string {
	name := fmt.Sprintf("%s-t%d", s.Device, s.Threads)
	if len(s.CPUs) > 0 {
		name += "-pin" + s.CPUList(".")
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
