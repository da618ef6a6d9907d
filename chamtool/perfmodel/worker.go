package perfmodel

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// workerLaw is history, times how much slower the last runs of this worker were
// than history said: threads whose cores differ, or that share one with others.
type workerLaw struct {
	e         *Entry
	slowdowns []slowdown // by worker
}

// mostWorkers bounds the workers that are told apart.
const mostWorkers = 512

func newWorker(e *Entry) law { return &workerLaw{e: e} }

func (*workerLaw) momentary() {}
func (*workerLaw) fit()       {}
func (l *workerLaw) forget()  { l.slowdowns = l.slowdowns[:0] }

func (l *workerLaw) learn(f *Footprint, m Moment, y float64, _ bool) {
	if m.Worker <= 0 || m.Worker > mostWorkers || f.fit != l.e.fits || l.e.fits == 0 {
		return
	}
	if m.Worker > len(l.slowdowns) {
		l.slowdowns = append(l.slowdowns, make([]slowdown, m.Worker-len(l.slowdowns))...)
	}
	l.slowdowns[m.Worker-1].add(y - f.answers[l.e.model.history])
}

func (l *workerLaw) answer(f *Footprint, m Moment) float64 {
	if m.Worker <= 0 || m.Worker > len(l.slowdowns) {
		return math.NaN()
	}
	return f.answers[l.e.model.history] + l.slowdowns[m.Worker-1].middle()
}

// slowdown is how far history was off the last runs.
type slowdown struct {
	misses [slowdownRuns]float64 // log(actual / history)
	n      int
}

// slowdownRuns is how many runs tell the pace, and paceLeast the fewest.
const slowdownRuns, slowdownLeast = 9, 5

func (p *slowdown) add(miss float64) {
	p.misses[p.n%slowdownRuns] = miss
	p.n++
}

// middle is NaN where too few runs are known.
func (p *slowdown) middle() float64 {
	if p.n < slowdownLeast {
		return math.NaN()
	}
	sorted := p.misses
	last := sorted[:min(p.n, slowdownRuns)]
	slices.Sort(last)
	return stats.Sorted(last).Median()
}
