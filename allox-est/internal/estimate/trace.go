package estimate

import (
	"iter"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// clock is one of the three times that a run has.
type clock int

// The clocks: wall time, wall time without the wait for a processor, and
// processor time.
const (
	wallTime clock = iota
	quietTime
	cpuTime
	clocks
)

// lap is the part of a run between two marks.
type lap struct {
	from, to float64 // units done before and after
	seconds  [clocks]float64
	stage    string
}

func (l lap) units() float64 { return l.to - l.from }

// rate returns the time of one of its units, in seconds.
func (l lap) rate(c clock) float64 { return l.seconds[c] / l.units() }

// trace is one run in its parts. Setup and teardown are the seconds before the
// first mark and after the last, with the units that no two marks bound.
type trace struct {
	laps            []lap
	length          float64 // units of the run
	setup, teardown [clocks]float64
	settled         bool // it has no warm-up
	read            bool // its processor time was read on the way
}

// allLaps returns the laps of all runs.
func allLaps(ts []trace) iter.Seq[*lap] {
	return func(yield func(*lap) bool) {
		for _, t := range ts {
			for i := range t.laps {
				if !yield(&t.laps[i]) {
					return
				}
			}
		}
	}
}

// hidden returns the number of units outside of the laps.
func (t trace) hidden() float64 {
	h := t.length
	for _, l := range t.laps {
		h -= l.units()
	}
	return max(0, h)
}

// Marks come together if they follow each other within a twentieth of the time before the first of
// them, but not less or more than these seconds: a buffer that is flushed, or a program that makes
// up for a delay, writes several at once.
const (
	togetherLeast = 1e-3
	togetherMost  = 10e-3
)

// newTrace cuts a run. Of marks that come together the last one counts.
func newTrace(r journal.Run, job Job) trace {
	marks := r.Timeline()
	t := trace{length: float64(r.Epochs), read: len(r.LapWait) > 0}
	times := lapTimes(r, marks)
	ends := findBursts(marks)
	from := ends[0]
	t.setup, t.teardown = sumTimes(times[:from+1]), times[len(times)-1]
	for _, to := range ends[1:] {
		l := lap{from: marks[from].Number, to: marks[to].Number, stage: job.stage(float64(r.Stage) + (marks[to-1].Number+marks[to].Number)/2)}
		l.seconds = sumTimes(times[from+1 : to+1])
		if l.units() > 0 {
			t.laps, from = append(t.laps, l), to
		}
	}
	return t
}

// findBursts returns the last of the marks of each burst, and at least the first mark and the
// last.
func findBursts(marks []progress.Mark) []int {
	var ends []int
	begin, within := 0, togetherLeast
	for i := range marks {
		if i < len(marks)-1 && marks[i+1].Seconds-marks[begin].Seconds < within {
			continue
		}
		ends, begin = append(ends, i), i+1
		if begin < len(marks) {
			within = min(togetherMost, max(togetherLeast, (marks[begin].Seconds-marks[i].Seconds)/20))
		}
	}
	if len(ends) == 1 && len(marks) > 1 {
		return []int{0, len(marks) - 1}
	}
	return ends
}

// sumTimes adds up laps of a run.
func sumTimes(laps [][clocks]float64) (sum [clocks]float64) {
	for _, lap := range laps {
		for c := range clocks {
			sum[c] += lap[c]
		}
	}
	return sum
}

// lapTimes returns the times of each lap of a run: up to the first mark, from mark to
// mark, and from the last to the end.
func lapTimes(r journal.Run, marks []progress.Mark) [][clocks]float64 {
	laps := progress.Laps(marks, r.Wall)
	times := make([][clocks]float64, len(laps))
	for i, seconds := range laps {
		t := [clocks]float64{seconds, seconds, seconds * r.CPU / r.Wall}
		if len(r.LapCPU) == len(laps) {
			t[cpuTime] = r.LapCPU[i]
		}
		if len(r.LapWait) == len(laps) {
			t[quietTime] = withoutWait(r, seconds, t[cpuTime], r.LapWait[i])
		}
		times[i] = t
	}
	return times
}
