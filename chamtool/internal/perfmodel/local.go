package perfmodel

import (
	"cmp"
	"math"
	"slices"
)

// sample is one run in the window.
type sample struct {
	y     float64 // the logarithm of its seconds
	f     *Footprint
	order int // of the learned runs, from 1
}

// place holds a run's position along the axis of a local law, and its distance from the power
// law. Both are logarithms.
type place struct {
	at, off float64
	order   int // of the runs
}

// localLaw is a table of the distance of runs from the power law, by their place along an
// axis: the middle of each stretch of runs that are neighbours there. Both are logarithms.
type localLaw struct {
	axis    int // 0 for the power law itself, else the number of a feature, from 1
	at, off []float64
}

// place returns the place along the axis of features whose time by the power law is along.
func (l *localLaw) place(x []float64, along float64) float64 {
	if l.axis == 0 {
		return along
	}
	return feature(x, l.axis-1)
}

// consecutiveRuns is the number of runs in a row that are no accident: that all lie on one side of
// what is known happens by chance once in 64 times.
const consecutiveRuns = 7

const (
	// window is the number of recent runs that the local law is fitted to; it bounds
	// the cost of a fit. 4096 gave the same errors.
	window = 2048
	// stretches is the number of stretches in the window; a stretch has a few runs at least.
	stretches = 20
	// quantile is the middle. A relative error counts an answer that is too high
	// in full and one that is too low as at most 1, so the answer that keeps it
	// small lies a little under the median: 0.45 was better than 0.475, whichever log
	// was left out.
	quantile = 0.45
	// clearly is the factor by which the runs must lie nearer to a law along one feature
	// than to the law along the power law: with 1.1 the MAPE of the recorded QR was 113 %
	// instead of 108, with 1.35 half of the gain was lost on one of four programs.
	clearly = 1.2
)

// fitAxis fits a local law to samples along the power law, or along the feature that
// explains them clearly better, as where tasks below a threshold work differently; or along
// one given axis, unless it is negative. It returns room, grown to the samples.
func fitAxis(samples []sample, power *powerLaw, given int, room []place) (best localLaw, _ []place) {
	least := math.Inf(1)
	for axis := range len(power.b) + 1 {
		if varies := axis == 0 || power.b[axis-1] != 0; !varies || given >= 0 && axis != given {
			continue
		}
		room = room[:0]
		law := localLaw{axis: axis}
		for i := range samples {
			s := &samples[i]
			along := power.log(s.f.x)
			room = append(room, place{at: law.place(s.f.x, along), off: s.y - along, order: s.order})
		}
		law.fit(room)
		miss := 0.0
		for _, r := range room {
			miss += math.Abs(r.off - law.log(r.at))
		}
		if axis > 0 {
			miss *= clearly
		}
		if miss < least {
			least, best = miss, law
		}
	}
	return best, room
}

// fit fits the table to the places of runs, and sorts them. Each stretch overlaps half of
// the one before. If a stretch is full of runs at one place, such as those of equal
// sizes, the last runs there make its offset, up to four stretches of them, and no others.
func (l *localLaw) fit(runs []place) {
	slices.SortFunc(runs, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), a.order-b.order) })
	n := len(runs)
	long := min(n, max(consecutiveRuns, n/stretches))
	room := make([]float64, 0, 2*long)
	for from := 0; from+long <= n; from += max(1, long/2) {
		if n-from < long+long/2 { // the last one takes what is left
			long = n - from
		}
		begin, end := from, from+long
		at := runs[from+long/2].at
		first, last := samePlace(runs, from+long/2)
		if last-first >= long {
			begin, end = max(first, last-4*long), last
		}
		if k := len(l.at); k > 0 && at == l.at[k-1] {
			continue
		}
		off := room[:0]
		for _, r := range runs[begin:end] {
			off = append(off, r.off)
		}
		slices.Sort(off)
		l.at, l.off = append(l.at, at), append(l.off, off[int(quantile*float64(len(off)))])
		room = off
	}
}

// samePlace returns the range of the runs at the place of run i.
func samePlace(runs []place, i int) (first, last int) {
	by := func(r place, at float64) int { return cmp.Compare(r.at, at) }
	first, _ = slices.BinarySearchFunc(runs, runs[i].at, by)
	last, _ = slices.BinarySearchFunc(runs, math.Nextafter(runs[i].at, math.Inf(1)), by)
	return first, last
}

// log returns the offset at a place, straight between the knots and constant
// beyond them.
func (l *localLaw) log(at float64) float64 {
	n := len(l.at)
	i, _ := slices.BinarySearchFunc(l.at, at, cmp.Compare[float64])
	switch {
	case n == 0:
		return 0
	case i == 0:
		return l.off[0]
	case i == n:
		return l.off[n-1]
	}
	share := (at - l.at[i-1]) / (l.at[i] - l.at[i-1])
	return l.off[i-1] + share*(l.off[i]-l.off[i-1])
}
