package perfmodel

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// recent is how many runs of one footprint are remembered.
const recent = 15

// Footprint is one combination of argument sizes, with the runs that had it.
type Footprint struct {
	Sizes []int64
	Mark  any // the caller's own
	entry *Entry
	key   uint64    // hash of the sizes
	x     []float64 // features for the power law
	total float64   // sum of the sizes

	epoch  int             // of the entry, when the runs below were taken
	runs   int             // learned since the epoch began
	last   [recent]float64 // logarithms of seconds, the n-th run at n modulo recent
	sorted [recent]float64 // the same in ascending order

	all  []float32 // a sample of all of them, in ascending order
	thin uint8     // it is of every 2^thin-th run
	seen int       // runs that it is of
	era  int       // of the entry, when they were taken

	near     []neighbour // the last runs learned, with their creation
	nearNext int

	mhz     float64 // logarithm of the core's frequency, mean of the last runs
	clocked int     // runs of which it is known

	fit     int                 // of the entry, that made the answers below; 0 is none
	answers [mostModels]float64 // logarithms of seconds, NaN where there is none
	best    Prediction          // what is served
	stale   bool                // best is older than the runs or the answers
	moved   int                 // judged runs that its interval stands on
}

// Entry is the entry that the footprint is of.
func (f *Footprint) Entry() *Entry { return f.entry }

// Stats says what is known of a footprint.
type Stats struct {
	Runs      int     // learned since the entry last drifted
	Median    float64 // of the last 15, in seconds, as the figures below
	Trimmed   float64 // mean without the lowest and highest fifth
	Deviation float64 // median distance from the median, times 1.4826
}

// Stats returns what is known of the footprint.
func (f *Footprint) Stats() Stats {
	sorted := slices.Clone(f.sorted[:min(f.runs, recent)])
	if len(sorted) == 0 {
		return Stats{}
	}
	for i, y := range sorted {
		sorted[i] = math.Exp(y)
	}
	runs := stats.Sorted(sorted)
	return Stats{Runs: f.runs, Median: runs.Median(), Trimmed: runs.TrimmedMean(0.2), Deviation: 1.4826 * runs.MAD()}
}

func (f *Footprint) observe(y float64, epoch int) {
	if f.epoch != epoch {
		f.epoch, f.runs, f.near, f.nearNext = epoch, 0, f.near[:0], 0
	}
	n, slot := min(f.runs, recent), f.runs%recent
	if n == recent {
		i := 0
		for f.sorted[i] != f.last[slot] {
			i++
		}
		copy(f.sorted[i:], f.sorted[i+1:])
		n--
	}
	i := n
	for ; i > 0 && f.sorted[i-1] > y; i-- {
		f.sorted[i] = f.sorted[i-1]
	}
	f.sorted[i], f.last[slot] = y, y
	f.runs++
	f.stale = true
}

// remember keeps the run for the median of all of them: each one at first, then
// one in two, in four and so on, so that every part of the past counts alike.
func (f *Footprint) remember(y float64, era int) {
	if f.era != era {
		f.era, f.seen, f.thin, f.all = era, 0, 0, f.all[:0]
	}
	if f.seen++; f.seen&(1<<f.thin-1) != 0 {
		return
	}
	i, _ := slices.BinarySearch(f.all, float32(y))
	if f.all = slices.Insert(f.all, i, float32(y)); len(f.all) < mostKept {
		return
	}
	for i := range len(f.all) / 2 {
		f.all[i] = f.all[2*i+int(f.thin&1)]
	}
	f.all = f.all[:len(f.all)/2]
	f.thin++
}

// mostKept is how many runs of a footprint are kept for the median of all.
const mostKept = 256

// middleOfAll is the median logarithm of all runs.
func (f *Footprint) middleOfAll() float64 {
	n := len(f.all)
	return float64(f.all[(n-1)/2]+f.all[n/2]) / 2
}

// median is the median logarithm of the last runs; ok is false without any.
func (f *Footprint) median(epoch int) (mid float64, ok bool) {
	if f.runs == 0 || f.epoch != epoch {
		return 0, false
	}
	return stats.Sorted(f.sorted[:min(f.runs, recent)]).Median(), true
}
