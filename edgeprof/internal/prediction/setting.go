package prediction

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// ErrSetting is returned for a trained model without measurements of a runtime.
var ErrSetting = errors.New("no setting of that runtime")

// runtimeORT is the name of ONNX Runtime in measurements.
const runtimeORT = "ort"

// Setting returns the calibration of a runtime that suits a device best: of that machine,
// else of its kind, else of any; among these those with this program's matrix products first,
// then those without a CPU quota, then the fewest threads, then by name. The error matches [ErrSetting].
func Setting(settings []*profiler.Calibration, d device.Device, runtime string) (*profiler.Calibration, error) {
	all, err := withRuntime(settings, runtime)
	if err != nil {
		return nil, err
	}
	return closest(all, d), nil
}

// withRuntime returns the calibrations of a runtime, at least one. The error matches
// [ErrSetting].
func withRuntime(settings []*profiler.Calibration, runtime string) ([]*profiler.Calibration, error) {
	var found []*profiler.Calibration
	var others []string
	for _, c := range settings {
		switch {
		case c.Facts.Runtime == runtime:
			found = append(found, c)
		case !slices.Contains(others, c.Facts.Runtime):
			others = append(others, c.Facts.Runtime)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %q; the model was trained on %q", ErrSetting, runtime, others)
	}
	return found, nil
}

// closest returns the calibration that suits a device best, of one or more.
func closest(settings []*profiler.Calibration, d device.Device) *profiler.Calibration {
	return slices.MinFunc(settings, func(a, b *profiler.Calibration) int { return compare(a.Facts, b.Facts, d) })
}

// compare returns a number below 0 if a suits the device better than b.
func compare(a, b profiler.Facts, d device.Device) int {
	distance := func(f profiler.Facts) int {
		switch {
		case d.UUID != "" && f.UUID == d.UUID:
			return 0
		case d.Model != "" && f.Device == d.Model:
			return 1
		}
		return 2
	}
	limited := func(f profiler.Facts) int {
		if f.Quota > 0 && f.Quota < 1 {
			return 1
		}
		return 0
	}
	otherProducts := func(f profiler.Facts) int {
		if f.OtherProducts() {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(otherProducts(a), otherProducts(b)), cmp.Compare(limited(a), limited(b)), cmp.Compare(a.Threads, b.Threads), cmp.Compare(a.Setting, b.Setting))
}

// defaultRuntime returns the runtime to predict if none is given: that of a model that was
// trained on one, ort if there are several.
func defaultRuntime(settings []*profiler.Calibration) (runtime string) {
	for _, c := range settings {
		if runtime == "" || c.Facts.Runtime == runtimeORT {
			runtime = c.Facts.Runtime
		}
	}
	return runtime
}
