package perfmodel

import (
	"math"
	"slices"
)

const (
	// window is how many of the last runs the local model stands on.
	window = 4096
	// knotsMost bounds the table that answers; between knots it interpolates.
	knotsMost = 64
	// neighboursMost is the most runs that one knot looks at.
	neighboursMost = 121
	// quantile is the one that serves. A relative error counts an answer
	// that is too high in full and one that is too low as at most 1, so the
	// answer that keeps it small lies a little under the median.
	quantile = 0.475
)

// sample is one run in the window.
type sample struct {
	at    float64 // the power law's logarithm for its sizes
	y     float64 // the logarithm of its seconds
	f     *Footprint
	order uint64 // when it was observed
}

// localModel answers by the table that lies along the entry's power law.
type localModel struct{ e *Entry }

func newLocal(e *Entry) law { return localModel{e} }

func (localModel) learn(*Footprint, Moment, float64, bool) {}
func (localModel) fit()                                    {}
func (localModel) forget()                                 {}

func (l localModel) answer(f *Footprint, _ Moment) float64 {
	at := l.e.power.log(f.x)
	return at + l.e.local.log(at)
}

// localLaw is a table of how far runs lay from the power law, by the place
// along it. Both are logarithms.
type localLaw struct {
	at, off []float64
}

// columns are the places and offsets of samples, for loops that read nothing
// else. A fit uses them again and again.
type columns struct {
	at, off []float64
}

func (c *columns) fill(sorted []sample) (low, high float64) {
	c.at, c.off = c.at[:0], c.off[:0]
	low, high = math.Inf(1), math.Inf(-1)
	for i := range sorted {
		r := sorted[i].y - sorted[i].at
		c.at, c.off = append(c.at, sorted[i].at), append(c.off, r)
		low, high = min(low, r), max(high, r)
	}
	return low, high
}

// fitLocal fits to samples that are sorted by their place.
func fitLocal(sorted []sample, c *columns) localLaw {
	n := len(sorted)
	if n == 0 {
		return localLaw{}
	}
	low, high := c.fill(sorted)
	at, off := c.at, c.off
	h := histogram{low: low, step: (high - low) / histogramBins}
	reach := min(neighboursMost, max(7, n/20), n)
	knots := min(knotsMost, n)
	l := localLaw{at: make([]float64, 0, knots), off: make([]float64, 0, knots)}
	from := 0
	for k := range knots {
		i := n / 2
		if knots > 1 {
			i = k * (n - 1) / (knots - 1)
		}
		if len(l.at) > 0 && at[i] <= l.at[len(l.at)-1] {
			continue
		}
		from = nearest(at, at[i], from, reach)
		l.at = append(l.at, at[i])
		l.off = append(l.off, h.middle(at[from:from+reach], off[from:from+reach], at[i]))
	}
	return l
}

// nearest is where the stretch of n places nearest to a place begins, at or
// behind from.
func nearest(at []float64, place float64, from, n int) int {
	for from+n < len(at) && at[from+n]-place < place-at[from] {
		from++
	}
	return from
}

const histogramBins = 256

// histogram finds weighted quantiles of offsets without sorting them.
type histogram struct {
	low, step float64
	bins      [histogramBins]float64
}

// middle is the quantile of the offsets, each weighted by how near its place
// is, straight within a bin.
func (h *histogram) middle(at, off []float64, place float64) float64 {
	if h.step <= 0 {
		return h.low
	}
	reach := max(place-at[0], at[len(at)-1]-place)*1.0001 + 1e-12
	clear(h.bins[:])
	scale, step, sum := 1/reach, 1/h.step, 0.0
	for i, a := range at {
		w := 1.000001 - math.Abs(a-place)*scale
		h.bins[min(int((off[i]-h.low)*step), histogramBins-1)] += w
		sum += w
	}
	target, below := quantile*sum, 0.0
	for i, w := range h.bins {
		if below+w >= target && w > 0 {
			return h.low + (float64(i)+(target-below)/w)*h.step
		}
		below += w
	}
	return h.low
}

// log is the offset at a place, straight between the knots and constant
// beyond them.
func (l *localLaw) log(at float64) float64 {
	n := len(l.at)
	switch {
	case n == 0:
		return 0
	case at <= l.at[0]:
		return l.off[0]
	case at >= l.at[n-1]:
		return l.off[n-1]
	}
	i, _ := slices.BinarySearch(l.at, at)
	if i == 0 {
		return l.off[0]
	}
	share := (at - l.at[i-1]) / (l.at[i] - l.at[i-1])
	return l.off[i-1] + share*(l.off[i]-l.off[i-1])
}
