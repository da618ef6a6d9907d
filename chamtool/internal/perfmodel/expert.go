package perfmodel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/mixture"
)

// ErrKind is returned when the asked kind of model is unknown.
var ErrKind = errors.New("unknown model")

// The experts' places in a mixture.
const (
	median = iota // of the runs of equal sizes
	local         // the median of the runs of the nearest sizes, scaled by a power law
	near          // the run of equal sizes created closest to the task
	paced         // the median of the last three runs of equal sizes, times the slowdown of process and worker since
	experts
)

// names are those of the experts.
var names = []string{median: "median", local: "local", near: "near", paced: "speed"}

// Auto is the name of the mixture of all experts.
const Auto = "auto"

// Names returns the names that [New] takes, Auto first.
func Names() []string { return append([]string{Auto}, names...) }

// Check refuses a name that no expert has. The error matches [ErrKind] and names
// the choices.
func Check(name string) error {
	if name == "" || slices.Contains(Names(), name) {
		return nil
	}
	return fmt.Errorf("%w: %q, want one of %s", ErrKind, name, strings.Join(Names(), ", "))
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
