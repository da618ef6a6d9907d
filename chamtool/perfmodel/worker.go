package perfmodel

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// workerLaw is history, times how much slower the last runs of this worker were
// than history said: threads whose cores differ, or that share one with others.
type workerLaw struct {
	e     *Entry
	paces []pace // by worker
}

// mostWorkers bounds the workers that are told apart.
const mostWorkers = 512

func newWorker(e *Entry) law { return &workerLaw{e: e} }

func (*workerLaw) momentary() {}
func (*workerLaw) fit()       {}
func (l *workerLaw) forget()  { l.paces = l.paces[:0] }

func (l *workerLaw) learn(f *Footprint, m Moment, y float64, _ bool) {
	if m.Worker <= 0 || m.Worker > mostWorkers || f.fit != l.e.fits || l.e.fits == 0 {
		return
	}
	if m.Worker > len(l.paces) {
		l.paces = append(l.paces, make([]pace, m.Worker-len(l.paces))...)
	}
	l.paces[m.Worker-1].add(y - f.answers[l.e.model.history])
}

func (l *workerLaw) answer(f *Footprint, m Moment) float64 {
	if m.Worker <= 0 || m.Worker > len(l.paces) {
		return math.NaN()
	}
	return f.answers[l.e.model.history] + l.paces[m.Worker-1].middle()
}

// pace is how far history was off the last runs.
type pace struct {
	misses [paceRuns]float64 // log(actual / history)
	n      int
}

// paceRuns is how many runs tell the pace, and paceLeast the fewest.
const paceRuns, paceLeast = 9, 5

func (p *pace) add(miss float64) {
	p.misses[p.n%paceRuns] = miss
	p.n++
}

// middle is NaN where too few runs are known.
func (p *pace) middle() float64 {
	if p.n < paceLeast {
		return math.NaN()
	}
	sorted := p.misses
	last := sorted[:min(p.n, paceRuns)]
	slices.Sort(last)
	return stats.Sorted(last).Median()
}
