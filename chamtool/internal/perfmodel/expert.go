package perfmodel

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/mixture"
	"github.com/foretime/foretime/shared/registry"
)

// The experts' places in a mixture.
const (
	median = iota
	local
	near
	paced
	experts
)

// Models returns the ways to predict; New is the place in the mixture.
func Models() registry.List[int] {
	return registry.List[int]{
		{Name: "median", Help: "the median of the runs of equal sizes", New: median},
		{Name: "local", Help: "the median of the runs of the nearest sizes, scaled by a power law", New: local},
		{Name: "near", Help: "the run of equal sizes created closest to this task", New: near},
		{Name: "speed", Help: "the median of the last three runs of equal sizes, times the slowdown of process and worker since", New: paced},
	}
}

var names = Models().Names()

// Auto is the name of the mixture of all experts.
const Auto = "auto"

// Names returns the names that [Options.Serve] takes, Auto first.
func Names() []string { return append([]string{Auto}, Models().Names()...) }

// Check refuses a name that no expert has. The error matches [ErrKind] and names
// the choices.
func Check(name string) error {
	if name == "" || slices.Contains(Names(), name) {
		return nil
	}
	_, err := Models().Find(name)
	return fmt.Errorf("%w: %w", ErrKind, err)
}

// expertSeconds is the CPU time of asking the experts for one task and telling them its
// run, as measured with caches warm.
const expertSeconds = 0.25e-6

// expertCosts returns the costs of the experts that are evaluated for every task, as shares of the
// run's seconds: an expert must gain more than it costs.
func expertCosts(seconds float64) (costs [mixture.MaxExperts]float64) {
	share := expertSeconds / seconds
	costs[near] = share
	costs[paced] = share
	return costs
}

// asleep holds the answers of experts that were not asked.
var asleep = func() (a mixture.Answers) {
	for k := range a {
		a[k] = math.NaN()
	}
	return a
}()

// answers returns the answers of all experts for one task, as logarithms of seconds.
func (e *Entry) answers(f *Footprint, m Moment) mixture.Answers {
	a := asleep
	if e.fits > 0 {
		f.locate(e.fits, &e.power, &e.local)
		a[local] = f.local
	}
	now := e.model.speed.current(m)
	if f.runs > 0 {
		a[median] = math.Log(f.tracked.value)
		a[near] = math.Log(f.near.next(m.Created))
		a[paced] = f.level.value() + now
	} else if e.fits > 0 {
		a[paced] = f.along + e.distance.value() + now
		a[near] = f.along + e.neighbours.next(m.Created)
	}
	for k := range a {
		a[k] = e.clamp(a[k])
	}
	return a
}

// logMargin is the logarithm of the factor by which an answer may leave the times that were
// seen: a power law of a few sizes says nothing a hundred times as far away.
const logMargin = math.Ln10

// clamp keeps an answer within a factor of ten of the runs that were seen, and NaN as it
// is.
func (e *Entry) clamp(log float64) float64 {
	if log < e.logShortest-logMargin {
		return e.logShortest - logMargin
	}
	if log > e.logLongest+logMargin {
		return e.logLongest + logMargin
	}
	return log
}
