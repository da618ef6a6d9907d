package perfmodel

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// paceRuns is how many runs tell the pace, and paceLeast the fewest.
const paceRuns, paceLeast = 9, 5

// paceLaw is history, times how much slower the last runs of all sizes were than
// history said: when the machine changes its speed, sizes that have not run since
// are known as well.
type paceLaw struct {
	e      *Entry
	misses [paceRuns]float64 // log(actual / history)
	n      int
}

func newPace(e *Entry) law { return &paceLaw{e: e} }

func (*paceLaw) momentary() {}
func (*paceLaw) fit()       {}
func (l *paceLaw) forget()  { l.n = 0 }

func (l *paceLaw) learn(f *Footprint, _ Moment, y float64, _ bool) {
	if f.fit == l.e.fits && l.e.fits > 0 { // history has answered
		l.misses[l.n%paceRuns] = y - f.answers[base]
		l.n++
	}
}

func (l *paceLaw) answer(f *Footprint, _ Moment) float64 {
	if l.n < paceLeast {
		return math.NaN()
	}
	sorted := l.misses
	last := sorted[:min(l.n, paceRuns)]
	slices.Sort(last)
	return f.answers[base] + stats.Sorted(last).Median()
}
