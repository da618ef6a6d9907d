package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Errors returned when there is no estimate.
var (
	// ErrTooFew is returned when the runs are too few for the method.
	ErrTooFew = errors.New("too few runs")
	// ErrOneLength is returned when a line is asked for and all runs have the
	// same length.
	ErrOneLength = errors.New("all runs have the same length")
	// ErrBadRun is returned when a run holds what cannot be a time.
	ErrBadRun = errors.New("bad run")
	// ErrMethod is returned for an unknown method.
	ErrMethod = errors.New("unknown method")
)

// Method says how the epochs of the samples become those of the job.
type Method string

// The methods.
const (
	// Auto is the predictive model of this package; a job without marks gets Line.
	Auto Method = "auto"
	// Ratio scales the mean time of the samples by the number of epochs, as
	// if set-up and teardown came back with every epoch.
	Ratio Method = "ratio"
	// Line fits time against epochs over whole runs, by least squares.
	Line Method = "line"
)

// Methods returns all methods, Auto first.
func Methods() []Method { return []Method{Auto, Ratio, Line} }

// Settings of an estimate. The zero value is Auto at 95 %.
type Settings struct {
	Method Method
	Level  float64 // of the intervals
	// Past holds earlier whole runs of the job by device, as history.Whole returns them; they
	// correct its wall time.
	Past map[string][]history.Shape
	// Real reports whether a real machine will run the job: the intervals then allow for
	// a change of its speed. Simulated runs have none.
	Real bool
}

// Estimate holds the predicted time of a job. Times are in seconds.
type Estimate struct {
	// Wall is the time on the machine as it was while sampling; Uncontended
	// the time with no wait for a processor; CPU the processor time.
	Wall        uncertainty.Prediction `json:"wall_seconds"`
	Uncontended uncertainty.Prediction `json:"wall_uncontended_seconds"`
	CPU         uncertainty.Prediction `json:"cpu_seconds"`
	// Method says what was done.
	Method string `json:"method"`
	// Samples and Epochs count the runs used and the epochs in them; Seconds
	// is their wall time.
	Samples int     `json:"samples"`
	Epochs  int     `json:"-"`
	Seconds float64 `json:"-"`
	// Past counts the earlier whole runs that corrected Wall.
	Past     int       `json:"past_runs,omitempty"`
	Segments *Segments `json:"segments,omitempty"` // nil where the job reports no laps
	Warnings []error   `json:"-"`

	// HalfWidth is half the width of the interval of the uncontended time as a share of its
	// value; infinite if there is no interval. More samples narrow it; the doubt about the
	// machine's future load and speed is not in it.
	HalfWidth float64 `json:"-"`

	totals []float64 // drawn wall times; nil of a method without draws
}

// Segments are the parts of a job as the samples show them, in wall seconds
// with transient contention corrected, at the speed that they met.
type Segments struct {
	Setup    float64 `json:"setup_seconds"`
	WarmUp   int     `json:"warm_up_epochs"`
	Epoch    float64 `json:"epoch_seconds"` // of a steady epoch, recurring costs included
	Teardown float64 `json:"teardown_seconds"`
	Period   int     `json:"period_epochs,omitempty"` // of a recurring cost; 0 if none was seen
}

// New estimates a job from runs of it. Runs that failed are left out, with a
// warning. Errors wrap the sentinels of this package.
func New(runs []journal.Run, job Job, s Settings) (*Estimate, error) {
	s.Method = cmp.Or(s.Method, Auto)
	s.Level = cmp.Or(s.Level, 0.95)
	if job.Epochs < 1 {
		return nil, fmt.Errorf("%w: a job of %d epochs", ErrBadRun, job.Epochs)
	}
	used, warnings, err := usable(runs)
	if err != nil {
		return nil, err
	}
	e := &Estimate{Samples: len(used), Warnings: warnings}
	for _, r := range used {
		e.Epochs += r.Epochs
		e.Seconds += r.Wall
	}
	switch s.Method {
	case Ratio:
		err = e.ratio(used, job, s)
	case Line:
		err = e.line(used, job, s)
	case Auto:
		err = e.byMarks(used, job, s)
	default:
		err = fmt.Errorf("%w %q", ErrMethod, s.Method)
	}
	if err != nil {
		return nil, err
	}
	e.correctByPast(s.Past[job.Device])
	e.HalfWidth = math.Inf(1)
	if p := e.Uncontended; p.Value > 0 {
		e.HalfWidth = p.Width() / 2 / p.Value
	}
	e.Warnings = append(e.Warnings, doubts(used, job, e)...)
	unsure := e.Wall.IsBounded() && e.Wall.Width() > 0.5*e.Wall.Value // the value alone says little
	if s.Real {
		e.widenForMachine(s.Level)
	}
	if unsure {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: after %d %ss anything from %.4g to %.4g s is possible; longer samples or a less busy machine narrow it", ErrUnsure, e.Epochs, job.unit(), e.Wall.Low, e.Wall.High))
	}
	slices.SortStableFunc(e.Warnings, func(a, b error) int { return rank(a) - rank(b) })
	return e, nil
}

// usable leaves out failed runs and checks the others.
func usable(runs []journal.Run) (used []journal.Run, warnings []error, err error) {
	failed := 0
	for i, r := range runs {
		if r.HasFailed() {
			failed++
			continue
		}
		if err := check(r); err != nil {
			return nil, nil, fmt.Errorf("run %d: %w", i+1, err)
		}
		used = append(used, r)
	}
	if failed > 0 {
		warnings = append(warnings, fmt.Errorf("%w: %d of %d", ErrFailedRuns, failed, len(runs)))
	}
	if len(used) == 0 {
		return nil, nil, fmt.Errorf("%w: none succeeded", ErrTooFew)
	}
	return used, warnings, nil
}

func check(r journal.Run) error {
	if r.Epochs < 1 {
		return fmt.Errorf("%w: %d epochs", ErrBadRun, r.Epochs)
	}
	times := slices.Concat([]float64{r.Wall, r.CPU, r.Wait, r.Before, r.After}, r.Laps, r.LapCPU, r.LapWait)
	for _, x := range times {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: a time of %v s", ErrBadRun, x)
		}
	}
	switch n := len(r.Laps); {
	case r.Wall == 0:
		return fmt.Errorf("%w: no wall time", ErrBadRun)
	case n == 1, n > r.Epochs+2 && n != len(r.Marks)+1: // marks may be of parts of epochs
		return fmt.Errorf("%w: %d laps for %d epochs", ErrBadRun, n, r.Epochs)
	case len(r.LapCPU) != 0 && len(r.LapCPU) != n, len(r.LapWait) != 0 && len(r.LapWait) != n:
		return fmt.Errorf("%w: CPU or wait times for a different number of laps", ErrBadRun)
	}
	return nil
}
