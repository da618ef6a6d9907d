package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Model predicts. It is used by many goroutines at once.
type Model interface {
	// On binds the model to devices as they are loaded now. Devices that it
	// cannot judge are excluded, with the given ones.
	On(ctx context.Context, devices []device.Device, excluded []device.Excluded) (Fleet, error)
	// Facts say what the model is.
	Facts() Facts
}

// Fleet is a model bound to devices at one moment.
type Fleet interface {
	// Rank orders the devices for a model whose graph is known. The error
	// matches [placement.ErrNoDevice] or [onnx.ErrGraph].
	Rank(a *onnx.Analysis) (*placement.Ranking, error)
	// Profile orders the devices for a model of which only the counts are
	// known. The error matches [placement.ErrNoDevice].
	Profile(c placement.Counts) (*placement.Ranking, error)
	// Fastest is the first of Profile's candidates, without its reasons.
	Fastest(c placement.Counts) (placement.Candidate, error)
	// Warnings are those of Profile that are of the counts, whatever the device.
	Warnings(c placement.Counts) ([]string, error)
	// Layers are a model's kernels on the device of a name; nil where the model
	// that predicts knows nothing of kernels.
	Layers(a *onnx.Analysis, node string) []profiler.Layer
}

// Facts say what a model is and where it comes from.
type Facts struct {
	Kind    string  `json:"kind"`
	Runtime string  `json:"runtime"`      // that the times are of
	Device  string  `json:"device_model"` // that was measured
	When    string  `json:"measured_at"`
	Models  int     `json:"models"` // measured
	Level   float64 `json:"interval_level"`
	// Trained is what a trained model was learnt from; nil for rates alone.
	Trained *profiler.Training `json:"trained,omitempty"`
}

// Calibrated is a [Model] of calibrations: rates by class of operator for models
// whose graph is known, and the power laws that follow from them for counts.
type Calibrated struct {
	own   *profiler.Calibration
	law   *placement.Law
	rates func(device.Device) (*profiler.Calibration, error)

	// Trained is what the rates were learnt from, for [Facts]; nil for rates
	// that were measured by themselves.
	Trained *profiler.Training

	mutex sync.Mutex
	laws  map[*profiler.Calibration]*placement.Law // in use at the last On
}

var _ Model = (*Calibrated)(nil)

// NewCalibrated takes the calibration of devices that have none of their own;
// rates returns those of others, and nil for a device without. It may be nil
// itself. It returns the same calibration again while that stays the same.
func NewCalibrated(ctx context.Context, c *profiler.Calibration, rates func(device.Device) (*profiler.Calibration, error)) (*Calibrated, error) {
	law, err := placement.FitLaw(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Calibrated{own: c, law: law, rates: rates, laws: map[*profiler.Calibration]*placement.Law{c: law}}, nil
}

// Facts are the calibration's.
func (m *Calibrated) Facts() Facts {
	f := m.own.Facts
	kind := "rates by class of operator"
	if m.Trained != nil {
		kind = "a trained model of operators"
	}
	return Facts{kind, f.Runtime, f.Device, f.When, m.own.Models, profiler.Level, m.Trained}
}

// calibratedFleet is devices with the rates and the slowdown of each.
type calibratedFleet struct {
	foreign  []string // warnings of devices that were not calibrated
	devices  []device.Device
	machines []machine // of each device
	excluded []device.Excluded
}

type machine struct {
	rates  *profiler.Calibration
	law    *placement.Law
	slower float64 // than the calibrated machine, idle
	away   profiler.Away
}

// On finds each device's rates and how much slower it is.
func (m *Calibrated) On(ctx context.Context, devices []device.Device, excluded []device.Excluded) (Fleet, error) {
	fleet := &calibratedFleet{excluded: slices.Clone(excluded)}
	used := map[*profiler.Calibration]*placement.Law{m.own: m.law}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, d := range devices {
		rates := m.own
		var err error
		if m.rates != nil {
			rates, err = m.rates(d)
		}
		if rates == nil {
			rates = m.own
		}
		if err == nil && used[rates] == nil {
			if used[rates] = m.laws[rates]; used[rates] == nil {
				used[rates], err = placement.FitLaw(ctx, rates)
			}
		}
		if err != nil {
			fleet.excluded = append(fleet.excluded, device.Excluded{Node: d.Node, Reason: err.Error()})
			continue
		}
		factor, judged, err := placement.Slower(rates, d)
		if err != nil {
			fleet.excluded = append(fleet.excluded, device.Excluded{Node: d.Node, Reason: err.Error()})
			continue
		}
		fleet.devices = append(fleet.devices, d)
		for _, w := range judged.Warnings {
			if errors.Is(w, profiler.ErrForeign) {
				fleet.foreign = append(fleet.foreign, w.Error())
			}
		}
		fleet.machines = append(fleet.machines, machine{rates, used[rates], factor, rates.Away(&d)})
	}
	m.laws = used
	slices.SortStableFunc(fleet.excluded, func(a, b device.Excluded) int { return strings.Compare(a.Node, b.Node) })
	return fleet, nil
}

// Rank estimates operator by operator, with each device's rates.
func (f *calibratedFleet) Rank(a *onnx.Analysis) (*placement.Ranking, error) {
	estimate, err := placement.Graph(a, f.devices, func(i int) (*profiler.Calibration, error) { return f.machines[i].rates, nil })
	if err != nil {
		return nil, err
	}
	return placement.Rank(f.devices, f.excluded, estimate)
}

// Layers are predicted with the rates of the device.
func (f *calibratedFleet) Layers(a *onnx.Analysis, node string) []profiler.Layer {
	i := slices.IndexFunc(f.devices, func(d device.Device) bool { return d.Node == node })
	if i < 0 {
		return nil
	}
	layers, _ := f.machines[i].rates.Layers(a, f.devices[i])
	return layers
}

// Fastest estimates by each device's law, without saying why.
func (f *calibratedFleet) Fastest(c placement.Counts) (placement.Candidate, error) {
	return placement.Fastest(f.devices, f.excluded, f.byLaw(c))
}

// byLaw estimates from counts. Machines that share a law, as most do, share its
// answer.
func (f *calibratedFleet) byLaw(c placement.Counts) placement.Estimator {
	var law *placement.Law
	var idle uncertainty.Prediction
	return func(i int) (placement.Estimate, error) {
		m := &f.machines[i]
		if m.law != law {
			law, idle = m.law, m.law.Predict(c)
		}
		at := idle.Times(m.slower)
		return placement.Estimate{Seconds: m.away.Widen(at), Runtime: m.rates.Facts.Runtime}, nil
	}
}

// Profile estimates by each device's law.
func (f *calibratedFleet) Profile(c placement.Counts) (*placement.Ranking, error) {
	law := f.byLaw(c)
	r, err := placement.Rank(f.devices, f.excluded, func(i int) (placement.Estimate, error) {
		e, err := law(i)
		m := &f.machines[i]
		e.Reasons = []string{fmt.Sprintf("%.2f times the time of an idle %s, CPU load %.0f %%", m.slower, m.rates.Facts.Device, f.devices[i].Load.CPUPercent)}
		return e, err
	})
	if err == nil {
		r.Warnings = append(f.machines[0].coarse(c), f.foreign...)
	}
	return r, err
}

// Warnings say what a law cannot know.
func (f *calibratedFleet) Warnings(c placement.Counts) ([]string, error) {
	return f.machines[0].coarse(c), nil
}

// coarse says what a law cannot know.
func (m *machine) coarse(c placement.Counts) []string {
	if far := m.law.Outside(c); far != nil {
		return []string{fmt.Sprintf("far outside the fitted range, by more than a factor of 100: %s; the prediction is a lower bound", strings.Join(far, ", "))}
	}
	warnings := []string{fmt.Sprintf("predicted from counts only: median error factor %.1f on held-out model families", m.law.Error(c))}
	if unlike := m.law.Unlike(c); unlike != nil {
		warnings = append(warnings, fmt.Sprintf("%v: outside the fitted range by more than a factor of 10: %s", profiler.ErrUnlike, strings.Join(unlike, ", ")))
	}
	return warnings
}
