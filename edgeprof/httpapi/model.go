package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/placement"
	"github.com/foretime/foretime/edgeprof/profiler"
	"github.com/foretime/foretime/edgeprof/profiling"
	"github.com/foretime/foretime/shared/regression"
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
	Profile(c profiling.Counts) (*placement.Ranking, error)
	// Fastest is the first of Profile's candidates, without its reasons.
	Fastest(c profiling.Counts) (placement.Candidate, error)
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
	law   *profiling.Law
	rates func(device.Device) (*profiler.Calibration, error)

	// Trained is what the rates were learnt from, for [Facts]; nil for rates
	// that were measured by themselves.
	Trained *profiler.Training

	mutex sync.Mutex
	laws  map[*profiler.Calibration]*profiling.Law // in use at the last On
}

var _ Model = (*Calibrated)(nil)

// NewCalibrated takes the calibration of devices that have none of their own;
// rates returns those of others, and nil for a device without. It may be nil
// itself. It returns the same calibration again while that stays the same.
func NewCalibrated(ctx context.Context, c *profiler.Calibration, rates func(device.Device) (*profiler.Calibration, error)) (*Calibrated, error) {
	law, err := profiling.Fit(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Calibrated{own: c, law: law, rates: rates, laws: map[*profiler.Calibration]*profiling.Law{c: law}}, nil
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
	machines []machine
	excluded []device.Excluded
}

type machine struct {
	device device.Device
	rates  *profiler.Calibration
	law    *profiling.Law
	slower float64 // than the calibrated machine, idle
	judged profiler.Prediction
}

// On finds each device's rates and how much slower it is.
func (m *Calibrated) On(ctx context.Context, devices []device.Device, excluded []device.Excluded) (Fleet, error) {
	fleet := &calibratedFleet{excluded: slices.Clone(excluded)}
	used := map[*profiler.Calibration]*profiling.Law{m.own: m.law}
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
				used[rates], err = profiling.Fit(ctx, rates)
			}
		}
		if err != nil {
			fleet.excluded = append(fleet.excluded, device.Excluded{Node: d.Node, Reason: err.Error()})
			continue
		}
		factor, judged, err := profiling.Slower(rates, d)
		if err != nil {
			fleet.excluded = append(fleet.excluded, device.Excluded{Node: d.Node, Reason: err.Error()})
			continue
		}
		fleet.machines = append(fleet.machines, machine{d, rates, used[rates], factor, judged})
	}
	m.laws = used
	slices.SortStableFunc(fleet.excluded, func(a, b device.Excluded) int { return strings.Compare(a.Node, b.Node) })
	return fleet, nil
}

// Rank is [placement.Rank] with each device's rates.
func (f *calibratedFleet) Rank(a *onnx.Analysis) (*placement.Ranking, error) {
	rates := map[string]*profiler.Calibration{}
	devices := make([]device.Device, len(f.machines))
	for i, m := range f.machines {
		devices[i], rates[m.device.Node] = m.device, m.rates
	}
	return placement.Rank(a, devices, f.excluded, func(d device.Device) (*profiler.Calibration, error) { return rates[d.Node], nil })
}

// on is a law's time on one machine.
func (m *machine) on(p regression.Prediction) regression.Prediction {
	return regression.Prediction{Value: p.Value * m.slower, Low: p.Low * m.slower, High: p.High * m.slower}
}

func (m *machine) candidate(p regression.Prediction) placement.Candidate {
	d := m.device
	return placement.Candidate{
		Node: d.Node, Class: d.Class, Model: d.Model, UUID: d.UUID, Runtime: m.rates.Facts.Runtime, Seconds: p.Value, Low: p.Low, High: p.High,
	}
}

// Fastest goes through the machines once.
func (f *calibratedFleet) Fastest(c profiling.Counts) (placement.Candidate, error) {
	if len(f.machines) == 0 {
		return placement.Candidate{}, f.none()
	}
	var best, idle regression.Prediction
	var law *profiling.Law
	at := 0
	for i := range f.machines {
		m := &f.machines[i]
		if m.law != law { // most machines share one
			law, idle = m.law, m.law.Predict(c)
		}
		if p := m.on(idle); i == 0 || p.Value < best.Value {
			best, at = p, i
		}
	}
	return f.machines[at].candidate(best), nil
}

// Profile orders the machines by the predicted time, then by name.
func (f *calibratedFleet) Profile(c profiling.Counts) (*placement.Ranking, error) {
	if len(f.machines) == 0 {
		return nil, f.none()
	}
	r := &placement.Ranking{Excluded: append([]device.Excluded{}, f.excluded...), Warnings: []string{
		fmt.Sprintf("predicted from counts alone: off by a factor of %.1f at the median on families of models that were left out", f.machines[0].law.Error(c)),
	}}
	if unlike := f.machines[0].law.Unlike(c); unlike != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%v: more than ten times as many as in any model that was fitted: %s", profiler.ErrUnlike, strings.Join(unlike, ", ")))
	}
	for i := range f.machines {
		m := &f.machines[i]
		candidate := m.candidate(m.on(m.law.Predict(c)))
		candidate.Reasons = []string{fmt.Sprintf("%.2f times the time on an idle %s, at a CPU load of %.0f %%", m.slower, m.rates.Facts.Device, m.device.Load.CPUPercent)}
		r.Candidates = append(r.Candidates, candidate)
		for _, w := range m.judged.Warnings {
			if errors.Is(w, profiler.ErrForeign) { // the others are of no model in particular
				r.Warnings = append(r.Warnings, w.Error())
			}
		}
	}
	slices.SortStableFunc(r.Candidates, func(x, y placement.Candidate) int {
		if x.Seconds < y.Seconds {
			return -1
		}
		if x.Seconds > y.Seconds {
			return 1
		}
		return strings.Compare(x.Node, y.Node)
	})
	return r, nil
}

func (f *calibratedFleet) none() error {
	var reasons []string
	for _, e := range f.excluded {
		reasons = append(reasons, e.Node+": "+e.Reason)
	}
	if len(reasons) == 0 {
		reasons = []string{"the source lists none"}
	}
	return fmt.Errorf("%w: %s", placement.ErrNoDevice, strings.Join(reasons, "; "))
}
