package perfmodel

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// Fit fits now. It is called by Observe when it is time.
func (e *Entry) Fit() {
	if e.n == 0 {
		return
	}
	e.fits++
	law := fitPower(&e.logs, max(e.width, 0))
	moved := e.fits == 1 || !law.near(&e.power, &e.logs)
	if moved {
		e.power = law
	}
	e.sortSamples(moved)
	e.local = fitLocal(e.samples, e.columns)
	for _, l := range e.laws {
		l.fit()
	}
	e.steadyState()
	e.next = e.n + max(8, min(e.n/4, 2048))
}

// sortSamples gives every sample its place along the power law, those of
// earlier fits only where the law moved; sorts them; and drops the oldest
// beyond the window.
func (e *Entry) sortSamples(moved bool) {
	if len(e.samples) > window {
		oldest := uint64(e.learned - window)
		kept := e.samples[:0]
		fresh := 0
		for i := range e.samples {
			if e.samples[i].order > oldest {
				if i >= len(e.samples)-e.fresh {
					fresh++
				}
				kept = append(kept, e.samples[i])
			}
		}
		clear(e.samples[len(kept):])
		e.samples, e.fresh = kept, fresh
	}
	first := len(e.samples) - e.fresh
	if moved {
		first = 0
	}
	for i := first; i < len(e.samples); i++ {
		e.samples[i].at = e.power.log(e.samples[i].f.x)
	}
	byPlace := func(a, b sample) int { return cmp.Compare(a.at, b.at) }
	old, fresh := e.samples[:len(e.samples)-e.fresh], e.samples[len(e.samples)-e.fresh:]
	slices.SortFunc(fresh, byPlace)
	if moved && !slices.IsSortedFunc(old, byPlace) {
		slices.SortFunc(old, byPlace)
	}
	e.samples = merge(old, fresh)
	e.fresh = 0
}

// merge merges two sorted stretches that lie one behind the other.
func merge(a, b []sample) []sample {
	out := a[:len(a)+len(b)]
	b = slices.Clone(b)
	i, j := len(a)-1, len(b)-1
	for at := len(out) - 1; j >= 0; at-- {
		if i >= 0 && out[i].at > b[j].at {
			out[at] = out[i]
			i--
		} else {
			out[at] = b[j]
			j--
		}
	}
	return out
}

// steadyState takes what is usual from the residuals: where they lie, and how far
// from each other.
func (e *Entry) steadyState() {
	residuals := slices.Clone(e.residual[:min(e.residuals, len(e.residual))])
	if len(residuals) < 8 {
		residuals = residuals[:0]
		for i := range e.samples {
			s := &e.samples[i]
			residuals = append(residuals, s.y-s.at-e.local.log(s.at))
		}
	}
	sorted := stats.Sort(residuals)
	e.centre, e.spread = sorted.Median(), 1.4826*sorted.MAD()
}

const (
	// stretch is how many residuals tell together where the runs lie.
	stretch = 32
	// lasting is how many stretches a change must last. One or two are soon
	// over: a few milliseconds in which the machine did something else.
	lasting = 4
)

// drifted reports whether each of the last stretches of residuals lies elsewhere
// than usual, all on the same side: by more than a quarter, and by more than
// five standard errors of a median.
func (e *Entry) drifted() bool {
	if e.residuals < lasting*stretch || e.n < lasting*stretch {
		return false
	}
	limit := math.Max(0.25, 5*1.2533*e.spread/math.Sqrt(stretch))
	last := e.shift(e.residuals - stretch)
	for i := 1; i <= lasting; i++ {
		shift := e.shift(e.residuals - i*stretch)
		if math.Abs(shift) <= limit || (shift > 0) != (last > 0) {
			return false
		}
	}
	return true
}

// shift is how far the median of a stretch of residuals lies from the usual.
func (e *Entry) shift(from int) float64 {
	var r [stretch]float64
	for i := range r {
		r[i] = e.residual[(from+i)%len(e.residual)]
	}
	slices.Sort(r[:])
	return stats.Sorted(r[:]).Median() - e.centre
}

// forget drops the past but for the runs of the last stretches, of which the one
// at hand is still to be learned.
func (e *Entry) forget() {
	e.drifts++
	oldest := uint64(e.learned - lasting*stretch + 1)
	e.forgetAllBut(func(s sample) bool { return s.order > oldest })
}

// forgetAllBut drops all that was learned, but for some of the window's runs.
func (e *Entry) forgetAllBut(keep func(sample) bool) {
	e.epoch++
	kept := slices.DeleteFunc(slices.Clone(e.samples), func(s sample) bool { return !keep(s) })
	slices.SortFunc(kept, func(a, b sample) int { return cmp.Compare(a.order, b.order) })
	e.samples, e.fresh = kept, len(kept)
	e.logs, e.n = moments{}, len(kept)
	for _, l := range e.laws {
		l.forget()
	}
	for _, s := range kept {
		e.logs.add(s.f.x, s.y, 1)
		s.f.observe(s.y, e.epoch)
		for _, l := range e.laws {
			l.learn(s.f, Moment{}, s.y, true)
		}
	}
	e.inherit()
	e.residuals, e.outlierRun, e.doubt, e.spread = 0, 0, 0, 0
	e.next = e.n + 1
}
