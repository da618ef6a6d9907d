package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/file"
)

// Errors returned for a sweep of nothing.
var (
	// ErrIntervals is returned for an empty list of intervals or one below 1.
	ErrIntervals = errors.New("want at least one synchronization interval of 1 or more")
	// ErrNoPoints is returned for a file that holds no sweep.
	ErrNoPoints = errors.New("no intervals measured")
)

// Sweep holds an experiment under several synchronization intervals.
type Sweep struct {
	Policy string         `json:"policy"`
	Device string         `json:"device"`
	Clock  string         `json:"clock"`
	Alone  []report.Model `json:"alone"` // each model alone, in the order of the configuration
	Points []Point        `json:"points"`
	Sync   int            `json:"best_sync,omitempty"` // the interval of least total delay; 0: none had an effect
}

// Point holds the experiment under one interval.
type Point struct {
	Sync    int            `json:"sync"`
	Models  []report.Model `json:"models"`
	DelayMS float64        `json:"total_delay_ms"` // over all models: mean shared less mean alone
}

// Play runs an experiment.
type Play func(context.Context, *experiment.Experiment) (*Outcome, error)

// Alone runs each model by itself, with logs in a directory "alone" below its own,
// and returns a run of all.
func Alone(ctx context.Context, x *experiment.Experiment, play Play) (*report.Run, error) {
	x = withSubdir(x, "alone")
	var all *report.Run
	for i := range x.Models {
		one := *x
		one.Policy = "none"
		one.Models = x.Models[i : i+1]
		one.Warnings = nil
		o, err := play(ctx, &one)
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", x.Models[i].OutputName, err)
		}
		r := o.Run
		if all == nil {
			all = &report.Run{Policy: r.Policy, Device: r.Device, Clock: r.Clock}
		}
		all.Models = append(all.Models, r.Models...)
		all.Warnings = append(all.Warnings, r.Warnings...)
		all.Seconds += r.Seconds
	}
	return all, nil
}

// RunSweep measures the models alone and then together under each interval, in
// directories of their own below each model's.
func RunSweep(ctx context.Context, x *experiment.Experiment, intervals []int, play Play) (*Sweep, error) {
	if len(intervals) == 0 {
		return nil, ErrIntervals
	}
	for _, n := range intervals {
		if n < 1 {
			return nil, fmt.Errorf("%w, got %d", ErrIntervals, n)
		}
	}
	alone, err := Alone(ctx, x, play)
	if err != nil {
		return nil, err
	}
	s := &Sweep{Device: alone.Device, Clock: alone.Clock, Alone: alone.Models}
	for _, n := range intervals {
		o, err := play(ctx, withInterval(x, n))
		if err != nil {
			return nil, fmt.Errorf("interval %d: %w", n, err)
		}
		r := o.Run
		p := Point{Sync: n, Models: r.Models}
		for i, m := range r.Models {
			p.DelayMS += m.JCT.Mean - s.Alone[i].JCT.Mean
		}
		s.Policy = r.Policy
		s.Points = append(s.Points, p)
	}
	if slices.ContainsFunc(s.Points, Point.hasSyncs) {
		s.Sync = s.best().Sync
	}
	return s, nil
}

// withSubdir returns a copy of the experiment whose models write to a subdirectory.
func withSubdir(x *experiment.Experiment, name string) *experiment.Experiment {
	c := *x
	c.Models = append([]experiment.Model(nil), x.Models...)
	for i := range c.Models {
		c.Models[i].OutputDir = filepath.Join(c.Models[i].OutputDir, name)
	}
	return &c
}

// withInterval returns a copy of the experiment with an interval for the models that yield.
func withInterval(x *experiment.Experiment, n int) *experiment.Experiment {
	c := withSubdir(x, "sync_"+strconv.Itoa(n))
	var priorities []int
	for i := range c.Models {
		priorities = append(priorities, c.Models[i].Priority)
	}
	for i, priority := range priorities {
		if policy.IsBounded(priority, priorities) {
			c.Models[i].Control.SyncEvery = n
		}
	}
	return c
}

// hasSyncs reports whether a model waited at a synchronization point.
func (p Point) hasSyncs() bool {
	return slices.ContainsFunc(p.Models, func(m report.Model) bool { return m.Syncs > 0 })
}

// best returns the point of least total delay.
func (s *Sweep) best() Point {
	return slices.MinFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.DelayMS, b.DelayMS) })
}

// LoadSweep reads a sweep.
func LoadSweep(path string) (*Sweep, error) {
	text, err := file.ReadAll(path)
	if err != nil {
		return nil, err
	}
	s := &Sweep{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(s.Points) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoPoints)
	}
	for _, p := range s.Points {
		if len(p.Models) == 0 || len(p.Models) != len(s.Alone) {
			return nil, fmt.Errorf("%s: interval %d has %d models, but %d ran alone", path, p.Sync, len(p.Models), len(s.Alone))
		}
	}
	return s, nil
}

// Intervals returns a chart of every model's mean completion time over the synchronization
// interval, which is on a logarithmic axis.
func (s *Sweep) Intervals() chart.Lines {
	c := chart.Lines{Frame: chart.Frame{
		Title: "Cost of a synchronization interval", X: "synchronization interval (launches)", Y: "mean JCT (ms)",
		LogX: true,
	}}
	for i, alone := range s.Alone {
		series := chart.Series{Name: alone.Output}
		for _, p := range s.Points {
			series.X = append(series.X, float64(p.Sync))
			series.Y = append(series.Y, p.Models[i].JCT.Mean)
		}
		c.Series = append(c.Series, series)
	}
	return c
}
