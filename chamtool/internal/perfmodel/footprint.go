package perfmodel

import "github.com/foretime/foretime/chamtool/internal/interval"

// Footprint holds one combination of argument sizes, with the runs that had it.
type Footprint struct {
	Sizes []int64
	Mark  any       // the caller's own
	key   uint64    // hash of the sizes
	x     []float64 // features for the power law

	fit   int     // of the entry, that the next two are of
	along float64 // logarithm of the seconds by the power law
	local float64 // and by the local law

	history
	generation int         // of the entry, when the history began
	best       *Prediction // for no moment; nil if it is to be computed
	version    version     // of best
}

// history holds the runs of a footprint.
type history struct {
	runs    int // learned
	passed  int // that moved the middle and the ends only
	tracked tracked
	ends    interval.Ends
	near    creations // seconds of the last ones, by their creation
	level   level     // logarithms of their seconds, less the speed at which each ran
	last    float64   // seconds of the last one
}

// version identifies the state behind a cached answer: fits of the entry, runs of the
// footprint, and roughly the runs that the process learned from.
type version struct{ fits, runs, learned, passed int }

// learn takes a run, y the logarithm of its seconds, and the speed at which it ran.
func (f *Footprint) learn(m Moment, seconds, y, speed float64) {
	f.pass(m, seconds)
	f.level.add(y - speed)
	f.runs++
	f.best = nil
}

// pass takes a run that moves the middle only.
func (f *Footprint) pass(m Moment, seconds float64) {
	f.tracked.add(seconds)
	f.near.add(m.Created, seconds)
	f.last = seconds
}

// locate computes the times by the laws of a fit, unless it has.
func (f *Footprint) locate(fit int, power *powerLaw, local *localLaw) {
	if f.fit != fit {
		f.fit = fit
		f.along = power.log(f.x)
		f.local = f.along + local.log(local.place(f.x, f.along))
	}
}

// forget drops the runs.
func (f *Footprint) forget(generation int) {
	f.history = history{}
	f.fit = 0
	f.best = nil
	f.generation = generation
}
