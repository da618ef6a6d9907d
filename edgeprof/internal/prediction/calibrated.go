package prediction

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

// Calibrated is a [Predictor] of calibrations: rates by class of operator for models
// whose graph is known, and the power laws that follow from them for counts.
type Calibrated struct {
	usual   *profiler.Calibration // of devices that have no rates of their own
	catalog *Catalog              // nil: no device has its own
	threads int                   // per inference; 0: as many as ONNX Runtime takes
	profile *profiler.Profile     // of the model that is ranked; nil if there is none

	mutex sync.Mutex
	laws  map[*profiler.Calibration]*law // in use at the last On
}

var _ Predictor = (*Calibrated)(nil)

// NewCalibrated returns a predictor of a calibration. Devices that name rates of their own
// get these from the catalog. Without a catalog (nil) no device has its own.
func NewCalibrated(rates *profiler.Calibration, catalog *Catalog) *Calibrated {
	return &Calibrated{usual: rates, catalog: catalog, laws: map[*profiler.Calibration]*law{}}
}

// WithThreads returns the predictor for inferences with n threads on every device that has as
// many cores; 0 is the number that ONNX Runtime takes.
func (m *Calibrated) WithThreads(n int) *Calibrated {
	threaded := NewCalibrated(m.usual, m.catalog)
	threaded.threads, threaded.profile = n, m.profile
	return threaded
}

// WithProfile returns the predictor for the model of a profile of this machine. Its rates are
// those of devices without their own.
func (m *Calibrated) WithProfile(p *profiler.Profile) *Calibrated {
	profiled := NewCalibrated(p.Rates, m.catalog)
	profiled.threads, profiled.profile = m.threads, p
	return profiled
}

// threadsOn returns the number of threads of an inference on a device.
func (m *Calibrated) threadsOn(d *device.Device) int {
	if m.threads > 0 {
		return min(m.threads, d.Cores)
	}
	return d.DefaultThreads()
}

// Fit finds the law of devices without rates of their own, which is otherwise found when
// it is first needed.
func (m *Calibrated) Fit(ctx context.Context) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.laws[m.usual] = newLaw(ctx, m.usual)
	_, err := m.laws[m.usual].fit()
	return err
}

// law is the power law of a calibration, fitted when it is first needed.
type law struct {
	fit func() (*placement.PowerLaw, error)
}

func newLaw(ctx context.Context, c *profiler.Calibration) *law {
	ctx = context.WithoutCancel(ctx) // later requests use the law too
	return &law{sync.OnceValues(func() (*placement.PowerLaw, error) { return placement.FitPowerLaw(ctx, c) })}
}

// Facts returns those of the calibration.
func (m *Calibrated) Facts() Facts {
	f := &m.usual.Facts
	return Facts{Kind: "rates by class of operator", Device: f.Device, When: f.When, Models: m.usual.Models, Level: profiler.Level}
}

// calibratedFleet is devices with the rates and the slowdown of each.
type calibratedFleet struct {
	foreign  []string // warnings of devices that were not calibrated
	devices  []device.Device
	machines []machine // of each device
	excluded []device.Exclusion
}

type machine struct {
	rates  *profiler.Calibration // for this number of threads
	law    *law                  // of one thread
	slower float64               // than the calibrated machine, idle
	away   profiler.Away
	limits []string // reasons why the inference has fewer threads than asked for
}

// On finds each device's rates and how much slower it is.
func (m *Calibrated) On(ctx context.Context, devices []device.Device, excluded []device.Exclusion) Fleet {
	fleet := &calibratedFleet{excluded: slices.Clone(excluded)}
	used := map[*profiler.Calibration]*law{}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.laws[m.usual] != nil {
		used[m.usual] = m.laws[m.usual]
	}
	for _, d := range devices {
		base, err := m.rates(d)
		threads := m.threadsOn(&d)
		var factor float64
		var judged profiler.Prediction
		if err == nil {
			factor, judged, err = placement.Slowdown(base, d, threads)
		}
		if err != nil {
			fleet.excluded = append(fleet.excluded, device.Exclusion{Node: d.Node, Reason: err.Error()})
			continue
		}
		if used[base] == nil {
			if used[base] = m.laws[base]; used[base] == nil {
				used[base] = newLaw(ctx, base)
			}
		}
		rates := base.ForThreads(threads)
		if m.profile != nil {
			rates = rates.WithProfile(m.profile)
		}
		fleet.devices = append(fleet.devices, d)
		for _, w := range judged.Warnings {
			if errors.Is(w, profiler.ErrForeign) {
				fleet.foreign = append(fleet.foreign, w.Error())
			}
		}
		var limits []string
		if threads < m.threads {
			limits = []string{fmt.Sprintf("%d threads instead of %d, one for each core", threads, m.threads)}
		}
		fleet.machines = append(fleet.machines, machine{rates, used[base], factor, rates.Away(&d), limits})
	}
	m.laws = used
	slices.SortStableFunc(fleet.excluded, func(a, b device.Exclusion) int { return strings.Compare(a.Node, b.Node) })
	return fleet
}

// rates returns a device's own calibration, or the usual one.
func (m *Calibrated) rates(d device.Device) (*profiler.Calibration, error) {
	if d.Calibration != "" && m.catalog != nil {
		return m.catalog.Rates(d.Calibration)
	}
	return m.usual, nil
}

// Rank estimates operator by operator, with each device's rates.
func (f *calibratedFleet) Rank(a *onnx.Analysis) (*placement.Ranking, error) {
	rates := make([]*profiler.Calibration, len(f.machines))
	for i := range f.machines {
		rates[i] = f.machines[i].rates
	}
	estimate, err := placement.GraphEstimator(a, f.devices, rates)
	if err != nil {
		return nil, err
	}
	return placement.Rank(f.devices, f.excluded, func(i int) (placement.Estimate, error) {
		e, err := estimate(i)
		e.Reasons = append(e.Reasons, f.machines[i].limits...)
		return e, err
	})
}

// Layers predicts a model's kernels with the rates of the device.
func (f *calibratedFleet) Layers(a *onnx.Analysis, node string) ([]profiler.Layer, profiler.Prediction, error) {
	i := slices.IndexFunc(f.devices, func(d device.Device) bool { return d.Node == node })
	if i < 0 {
		return nil, profiler.Prediction{}, fmt.Errorf("%w: %s is not ranked", placement.ErrNoDevice, node)
	}
	layers, sum := f.machines[i].rates.Layers(a, f.devices[i])
	return layers, sum, nil
}

// Fastest estimates by each device's law, without saying why.
func (f *calibratedFleet) Fastest(c placement.Counts) (placement.Candidate, error) {
	return placement.FindFastest(f.devices, f.excluded, f.byLaw(c))
}

// byLaw estimates from counts. Machines that share a law, as most do, share its
// answer.
func (f *calibratedFleet) byLaw(c placement.Counts) placement.Estimator {
	var last *law
	var idle uncertainty.Prediction
	return func(i int) (placement.Estimate, error) {
		m := &f.machines[i]
		if m.law != last {
			fitted, err := m.law.fit()
			if err != nil {
				return placement.Estimate{}, err
			}
			last, idle = m.law, fitted.Predict(c)
		}
		at := idle.Times(m.slower)
		return placement.Estimate{Seconds: m.away.Widen(at), Threads: max(1, m.rates.Facts.Threads), Bytes: c.MemoryBytes()}, nil
	}
}

// Profile estimates by each device's law.
func (f *calibratedFleet) Profile(c placement.Counts) (*placement.Ranking, error) {
	estimate := f.byLaw(c)
	r, err := placement.Rank(f.devices, f.excluded, func(i int) (placement.Estimate, error) {
		e, err := estimate(i)
		m := &f.machines[i]
		e.Reasons = []string{fmt.Sprintf("%.2f times the time of an idle %s, CPU load %.0f %%", m.slower, m.rates.Facts.Device, f.devices[i].Load.CPUPercent)}
		e.Reasons = append(e.Reasons, m.limits...)
		return e, err
	})
	if err != nil {
		return nil, err
	}
	warnings, err := f.warnings(c)
	r.Warnings = append(warnings, f.foreign...)
	return r, err
}

// warnings say what a law cannot know.
func (f *calibratedFleet) warnings(c placement.Counts) ([]string, error) {
	fitted, err := f.machines[0].law.fit()
	if err != nil {
		return nil, err
	}
	if far := fitted.UnusableCounts(c); far != nil {
		return []string{fmt.Sprintf("far outside the fitted range, by more than a factor of 100: %s; the prediction has no interval", strings.Join(far, ", "))}, nil
	}
	warnings := []string{fmt.Sprintf("predicted from counts only: median error factor %.1f on held-out model families", fitted.PredictionError(c))}
	if far := fitted.UnfamiliarCounts(c); far != nil {
		warnings = append(warnings, fmt.Sprintf("%v: outside the fitted range by more than a factor of 10: %s", profiler.ErrUnlike, strings.Join(far, ", ")))
	}
	return warnings, nil
}
