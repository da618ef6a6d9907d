package perfmodel

import (
	"math"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Footprint is one combination of argument sizes, with the runs that had it.
type Footprint struct {
	Sizes []int64
	Mark  any // the caller's own
	entry *Entry
	key   uint64    // hash of the sizes
	x     []float64 // features for the power law
	total float64   // sum of the sizes

	fit   int     // of the entry, that the next two are of
	along float64 // where the power law has it
	local float64 // where the local law has it

	generation int        // of the entry, when the runs below were taken
	runs       int        // learned
	logs       numbers    // logarithms of the last ones' seconds
	last       float64    // seconds of the last run
	near       creations  // and of those before, by their creation
	levels     [3]float64 // the last logarithms, less the speed at which each ran
	at         int        // where the next of them goes

	tracked  tracked               // of runs that the mixture does not learn from too
	interval *uncertainty.Adaptive // nil before recent runs
	best     *Prediction           // for no moment; nil where it is to be asked for
	version  version               // of best
	passed   int                   // runs that were tracked only
}

// version identifies the state behind a cached answer: fits of the entry, runs of the
// footprint, and roughly the runs that the process learned from.
type version struct{ fits, runs, learned, passed int }

// Hash returns the hash of the sizes, which is the same for equal sizes of any entry.
func (f *Footprint) Hash() uint64 { return f.key }

// Entry is the entry that the footprint is of.
func (f *Footprint) Entry() *Entry { return f.entry }

// Stats says what is known of a footprint.
type Stats struct {
	Runs      int     // learned
	Median    float64 // of the last ones, in seconds, as the figures below
	Trimmed   float64 // mean without the lowest and highest fifth
	Deviation float64 // median distance from the median, times 1.4826
}

// Stats returns what is known of the footprint.
func (f *Footprint) Stats() Stats {
	if f.runs == 0 {
		return Stats{}
	}
	seconds := make([]float64, len(f.logs.sorted))
	for i, y := range f.logs.sorted {
		seconds[i] = math.Exp(float64(y))
	}
	runs := stats.Sorted(seconds)
	return Stats{Runs: f.runs, Median: runs.Median(), Trimmed: runs.TrimmedMean(0.2), Deviation: 1.4826 * runs.MAD()}
}

// learn takes the logarithm of a run's seconds, and the speed at which it ran.
func (f *Footprint) learn(y, speed float64) {
	f.levelled(y - speed)
	f.logs.add(float32(y))
	f.runs++
	f.best = nil
}

// levelled takes the logarithm of a run's seconds, less the speed.
func (f *Footprint) levelled(y float64) {
	f.levels[f.at] = y
	f.at = (f.at + 1) % len(f.levels)
}

// ran takes what the next run may be like, and leaves the median as it is.
func (f *Footprint) ran(seconds float64, m Moment) {
	f.last = seconds
	f.near.add(m.Created, seconds)
}

// forget drops the runs.
func (f *Footprint) forget() {
	*f = Footprint{Sizes: f.Sizes, Mark: f.Mark, entry: f.entry, key: f.key, x: f.x, total: f.total, generation: f.entry.generation}
}

// fitted sees to where the entry's laws have the footprint.
func (f *Footprint) fitted() {
	if e := f.entry; f.fit != e.fits {
		f.fit, f.along = e.fits, e.power.log(f.x)
		f.local = f.along + e.local.log(e.local.place(f.x, f.along))
	}
}

// level returns the logarithm of the runs' seconds at the speed of the start: the middle of the
// last three, which one stall does not move, or the last one if there are fewer.
func (f *Footprint) level() float64 {
	if f.runs < len(f.levels) {
		return f.levels[f.at-1]
	}
	return medianOf3(f.levels)
}

// medianOf3 returns the middle of three numbers.
func medianOf3(x [3]float64) float64 {
	return max(min(x[0], x[1]), min(x[2], max(x[0], x[1])))
}
