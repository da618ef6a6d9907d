package report

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Schema is the version of the report's form.
const Schema = 1

// minPair is the least number of samples without progress: one run has no set-up of its own.
const minPair = 2

// ErrNoEstimate is returned when no device has an estimate.
var ErrNoEstimate = errors.New("no estimate")

// Report holds the results of the samples of a job.
type Report struct {
	Schema   int                `json:"schema"`
	Job      string             `json:"job"`
	Epochs   int                `json:"epochs"`
	Unit     string             `json:"unit,omitempty"` // of Epochs, where it is not the epoch
	Devices  map[string]*Device `json:"devices"`
	Warnings []string           `json:"warnings"` // those about a device begin with its name

	// Unsure are those of Warnings that are printed first: the samples do not suffice.
	Unsure []string `json:"-"`

	order []string
	spec  *jobspec.Spec
}

// Device holds the results of a job's samples on one device: an estimate, or the reason why
// there is none. Times are in seconds.
type Device struct {
	*Estimate
	Error    string `json:"error,omitempty"`
	SpecHash string `json:"spec_hash"`
	*Validation
}

// Estimate is an estimate with the share of the job that was sampled.
type Estimate struct {
	*estimate.Estimate
	// NotEnough reports that the value is too uncertain to use without its interval.
	NotEnough bool `json:"not_enough_to_tell,omitempty"`
	// SampledFraction is the share of the job's epochs that was sampled,
	// SampledTimeFraction that of its estimated wall time.
	SampledFraction     float64    `json:"sampled_fraction"`
	SampledTimeFraction float64    `json:"sampled_time_fraction"`
	Conditions          Conditions `json:"conditions"`
}

// Conditions holds the conditions under which the samples were taken.
type Conditions struct {
	First     time.Time  `json:"first_sample"`
	Load      [2]float64 `json:"load"` // least and most at the start of a sample
	CPUs      int        `json:"cpus"`
	PeakBytes int64      `json:"peak_bytes"`
	GPUPeak   int64      `json:"gpu_peak_bytes,omitempty"`
}

// Validation compares an estimate with whole runs.
type Validation struct {
	Actual []Actual `json:"actual"`
	// RelativeError is the estimate over the mean of the whole runs, less one, by
	// clock: "wall", "wall_uncontended" and "cpu".
	RelativeError map[string]float64 `json:"relative_error"`
	// Covered reports, by clock, whether the interval contains every whole run.
	Covered map[string]bool `json:"covered"`
	// Spread is, by clock, the largest distance of a whole run from their mean, relative to
	// the mean.
	Spread map[string]float64 `json:"spread"`
}

// Actual is the time of a whole run, in seconds.
type Actual struct {
	Wall        float64 `json:"wall_seconds"`
	Uncontended float64 `json:"wall_uncontended_seconds"`
	CPU         float64 `json:"cpu_seconds"`
}

// clocks lists the estimated times with their names in JSON and in the table.
var clocks = []struct {
	key, name string
	estimate  func(*Estimate) uncertainty.Prediction
	actual    func(Actual) float64
}{
	{"wall", "wall as now", func(e *Estimate) uncertainty.Prediction { return e.Wall }, func(a Actual) float64 { return a.Wall }},
	{"wall_uncontended", "wall uncontended", func(e *Estimate) uncertainty.Prediction { return e.Uncontended }, func(a Actual) float64 { return a.Uncontended }},
	{"cpu", "CPU", func(e *Estimate) uncertainty.Prediction { return e.CPU }, func(a Actual) float64 { return a.CPU }},
}

// New reports on the samples of a job in a journal.
func New(spec *jobspec.Spec, devices []string, j *journal.Journal, s estimate.Settings) *Report {
	r := &Report{Schema: Schema, Job: spec.Name, Epochs: spec.Epochs, Unit: spec.Unit, Devices: map[string]*Device{}, Warnings: []string{}, order: devices, spec: spec}
	for _, w := range j.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	for _, name := range devices {
		r.Devices[name] = r.device(name, j.Of(r.spec.Hash(name), journal.Sample), s)
	}
	return r
}

// DeviceJob returns the job to estimate on a device.
func DeviceJob(spec *jobspec.Spec, device string) estimate.Job {
	return estimate.Job{Epochs: spec.Epochs, Unit: spec.Unit, Device: device, Stages: spec.Stages}
}

func (r *Report) device(name string, runs []journal.Run, s estimate.Settings) *Device {
	d := &Device{SpecHash: r.spec.Hash(name)}
	e, err := estimate.New(runs, DeviceJob(r.spec, name), s)
	if err == nil && e.Samples < minPair && e.Segments == nil {
		err = fmt.Errorf("%w: %d, want at least 2 for method %s", estimate.ErrTooFew, e.Samples, e.Method)
	}
	if err != nil {
		d.Error = reason(runs, err)
		return d
	}
	d.Estimate = &Estimate{
		Estimate: e, Conditions: conditions(runs),
		SampledFraction: float64(e.Epochs) / float64(r.spec.Epochs), SampledTimeFraction: e.Seconds / e.Wall.Value,
	}
	for _, run := range runs {
		if run.HasFailed() {
			r.warn(name, fmt.Sprintf("sample of %s failed: %s", plural.Count(run.Epochs, "epoch"), run.Error))
		}
		for _, w := range run.Warnings {
			r.warn(name, w)
		}
	}
	for _, w := range e.Warnings {
		r.warn(name, w.Error())
		if errors.Is(w, estimate.ErrUnsure) {
			d.NotEnough = true
			r.Unsure = append(r.Unsure, name+": "+w.Error())
		}
	}
	return d
}

// warn adds a warning about a device, once.
func (r *Report) warn(device, text string) {
	if text = device + ": " + text; !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

// reason says why a device has no estimate: the error of its last run, if that failed and
// there are too few runs.
func reason(runs []journal.Run, err error) string {
	if n := len(runs); errors.Is(err, estimate.ErrTooFew) && n > 0 && runs[n-1].HasFailed() {
		return runs[n-1].Error
	}
	return err.Error()
}

func conditions(runs []journal.Run) Conditions {
	c := Conditions{First: runs[0].Start, Load: [2]float64{runs[0].Load, runs[0].Load}}
	for _, r := range runs {
		c.Load = [2]float64{min(c.Load[0], r.Load), max(c.Load[1], r.Load)}
		c.CPUs, c.PeakBytes = max(c.CPUs, r.CPUs), max(c.PeakBytes, r.PeakBytes)
		c.GPUPeak = max(c.GPUPeak, r.GPUPeakBytes)
	}
	return c
}

// Err returns nil if any device has an estimate, and otherwise ErrNoEstimate
// with each device's reason.
func (r *Report) Err() error {
	err := ErrNoEstimate
	for _, name := range r.order {
		d := r.Devices[name]
		if d.Estimate != nil {
			return nil
		}
		err = fmt.Errorf("%w: %s: %s", err, name, d.Error)
	}
	return err
}

// Past returns, by device, the whole runs in a journal that have the job's length: of the job, or
// of its command with other seeds and paths. Now tells where and with what the job will run.
func Past(spec *jobspec.Spec, devices []string, j *journal.Journal, now journal.Identity) map[string][]history.Shape {
	past := map[string][]history.Shape{}
	for _, name := range devices {
		earlier := history.Of(j.Runs, journal.Run{Job: spec.Hash(name), Device: name, Command: spec.Command, Identity: now})
		past[name] = earlier.Wholes(float64(spec.Epochs))
	}
	return past
}

// Validate compares the estimates with the whole runs in a journal.
func (r *Report) Validate(j *journal.Journal) {
	for _, name := range r.order {
		d := r.Devices[name]
		if d.Estimate == nil {
			continue
		}
		var runs []journal.Run
		for _, run := range j.Of(r.spec.Hash(name), journal.Full) {
			switch {
			case run.HasFailed():
				r.warn(name, "whole run failed: "+run.Error)
			case run.Epochs != r.spec.Epochs:
				r.warn(name, fmt.Sprintf("whole run of %s not used", plural.Count(run.Epochs, "epoch")))
			default:
				runs = append(runs, run)
			}
		}
		if len(runs) > 0 {
			d.Validation = validate(d.Estimate, runs)
		}
	}
}

func validate(e *Estimate, runs []journal.Run) *Validation {
	v := &Validation{RelativeError: map[string]float64{}, Covered: map[string]bool{}, Spread: map[string]float64{}}
	for _, r := range runs {
		v.Actual = append(v.Actual, Actual{Wall: r.Wall, Uncontended: estimate.QuietWall(r), CPU: r.CPU})
	}
	for _, c := range clocks {
		var known []float64
		for _, a := range v.Actual {
			if x := c.actual(a); x > 0 {
				known = append(known, x)
			}
		}
		if len(known) > 0 {
			p := c.estimate(e)
			mean := stat.Mean(known, nil)
			least := slices.Min(known)
			most := slices.Max(known)
			v.RelativeError[c.key] = p.Value/mean - 1
			v.Spread[c.key] = max(most/mean-1, 1-least/mean)
			v.Covered[c.key] = p.Contains(most) && p.Contains(least)
		}
	}
	return v
}
