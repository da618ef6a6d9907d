package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// ErrSetting is returned for a trained model without measurements of a run time.
var ErrSetting = errors.New("no setting of that runtime")

// Setting chooses the rates that stand for a device among those that a model was
// trained on: of that machine, else of its kind, else of any; among these
// unbounded runs before bounded ones, then the fewest threads, then by name.
// The error matches [ErrSetting].
func Setting(settings []*profiler.Calibration, d device.Device, runtime string) (*profiler.Calibration, error) {
	var best *profiler.Calibration
	for _, c := range settings {
		if c.Facts.Runtime == runtime && (best == nil || compare(c.Facts, best.Facts, d) < 0) {
			best = c
		}
	}
	if best == nil {
		var have []string
		for _, c := range settings {
			if !slices.Contains(have, c.Facts.Runtime) {
				have = append(have, c.Facts.Runtime)
			}
		}
		return nil, fmt.Errorf("%w: %q; the model was trained on %q", ErrSetting, runtime, have)
	}
	return best, nil
}

// compare is below 0 when a stands for the device rather than b.
func compare(a, b profiler.Facts, d device.Device) int {
	strange := func(f profiler.Facts) int {
		switch {
		case d.UUID != "" && f.UUID == d.UUID:
			return 0
		case d.Model != "" && f.Device == d.Model:
			return 1
		}
		return 2
	}
	bounded := func(f profiler.Facts) int {
		if f.Quota > 0 && f.Quota < 1 {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(strange(a), strange(b)), cmp.Compare(bounded(a), bounded(b)), cmp.Compare(a.Threads, b.Threads), cmp.Compare(a.Setting, b.Setting))
}
