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

// place is where a run lies along the power law, and how far from it. Both are
// logarithms.
type place struct {
	at, off float64
	order   int // of the runs
}

// localLaw is a table of how far runs lay from the power law, by the place
// along it: the middle of each stretch of runs that are neighbours there. Both are
// logarithms.
type localLaw struct {
	at, off []float64
}

// consecutive is the number of runs in a row that are no accident: that all lie on one side of what is
// known happens by chance once in 64 times.
const consecutive = 7

const (
	// window is the number of recent runs that the local law is fitted to; it bounds
	// the cost of a fit. 4096 gave the same errors.
	window = 2048
	// stretches is how many times a stretch goes into the window; it has a few runs
	// at least.
	stretches = 20
	// quantile is the middle. A relative error counts an answer that is too high
	// in full and one that is too low as at most 1, so the answer that keeps it
	// small lies a little under the median: 0.45 was better than 0.475, whichever log
	// was left out.
	quantile = 0.45
)

// fitLocal fits to the places of runs, and sorts them. Each stretch overlaps half of
// the one before. If a stretch is full of runs at one place, such as those of equal
// sizes, the last runs there make its offset, up to four stretches of them, and no others.
func fitLocal(runs []place) (l localLaw) {
	slices.SortFunc(runs, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), a.order-b.order) })
	n := len(runs)
	long := min(n, max(consecutive, n/stretches))
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
	return l
}

// samePlace returns the range of the runs at the place of run i.
func samePlace(runs []place, i int) (first, last int) {
	by := func(r place, at float64) int { return cmp.Compare(r.at, at) }
	first, _ = slices.BinarySearchFunc(runs, runs[i].at, by)
	last, _ = slices.BinarySearchFunc(runs, math.Nextafter(runs[i].at, math.Inf(1)), by)
	return first, last
}

// log is the offset at a place, straight between the knots and constant
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
