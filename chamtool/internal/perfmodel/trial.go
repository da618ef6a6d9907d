package perfmodel

import (
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/interval"
	"github.com/foretime/foretime/shared/stats"
)

// trial is the probation of runs that were kept from earlier program runs: their
// function may have changed, or the machine.
type trial struct {
	misses [consecutiveRuns]float64 // |log(actual / predicted)| of the first runs
	n      int
}

// trialMiss is the largest median error that passes, as a logarithm: a half, unless the
// function's times vary more.
const trialMiss = 0.4

// isOnTrial reports whether what was kept has yet to prove itself.
func (e *Entry) isOnTrial() bool { return e.storedRuns > 0 && e.trial.n < consecutiveRuns }

// try compares one run with what was kept, before it is learned. Once enough did
// and most are far off, what was kept is dropped.
func (e *Entry) try(p *Prediction, y float64) {
	e.trial.misses[e.trial.n] = math.Abs(y - p.answers[local])
	if e.trial.n++; e.trial.n < consecutiveRuns {
		return
	}
	if stats.Median(e.trial.misses[:]) > math.Max(trialMiss, 3*e.usualMiss()) {
		e.dropKept()
	}
}

// usualMiss returns the median distance of the window's runs from the local law.
func (e *Entry) usualMiss() float64 {
	misses := make([]float64, len(e.samples))
	for i, s := range e.samples {
		s.f.locate(e.fits, &e.power, &e.local)
		misses[i] = math.Abs(s.y - s.f.local)
	}
	return stats.Median(misses)
}

// dropKept drops the kept runs, and what was fitted to them. The runs of this
// program run stay.
func (e *Entry) dropKept() {
	own := slices.DeleteFunc(slices.Clone(e.samples), func(s sample) bool { return s.order <= e.storedRuns })
	e.generation++
	e.unsaved = true
	e.ends = interval.Ends{}
	e.mixtures = newMixtures()
	e.samples = own
	e.neighbours = nil
	e.distance = level{}
	for _, f := range e.footprints {
		f.forget(e.generation)
	}
	for _, s := range own {
		s.f.learn(Moment{}, math.Exp(s.y), s.y, 0)
	}
	e.nextFit = e.learned + 1
}

// HasDroppedKept reports whether kept runs were dropped because they did not hold.
func (e *Entry) HasDroppedKept() bool { return e.generation > 0 }
