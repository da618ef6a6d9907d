package perfmodel

import (
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/interval"
)

// tracked is the middle of the runs of one footprint: the median of the first ones, then a
// value that each run moves, which takes constant time. The latter follows the median weighted
// by 1/seconds, which minimises the mean relative error (de Myttenaere, Golden, Le Grand and
// Rossi 2016).
type tracked struct {
	first  numbers // nil once value is followed
	value  float64 // seconds; 0 without a run
	spread float64 // median distance of a run from value, as a share of value
}

const (
	// spreadRate is the step of the spread, and valueRate that of the value as a share of
	// the spread.
	spreadRate, valueRate = 0.05, 0.1
)

// add takes a run.
func (t *tracked) add(seconds float64) {
	if t.spread > 0 {
		t.move(seconds)
		return
	}
	t.first.add(float32(seconds))
	t.value = t.first.middle()
	if len(t.first.order) < recentRuns {
		return
	}
	away := make([]float64, 0, recentRuns)
	for _, x := range t.first.order {
		away = append(away, math.Abs(float64(x)/t.value-1))
	}
	slices.Sort(away)
	t.spread = max(interval.LeastShare, away[len(away)/2])
	t.first = numbers{}
}

// move moves the value and the spread towards a run.
func (t *tracked) move(seconds float64) {
	off := seconds/t.value - 1
	if math.Abs(off) > t.spread {
		t.spread *= 1 + spreadRate
	} else {
		t.spread = max(interval.LeastShare, t.spread*(1-spreadRate))
	}
	step := min(valueRate*t.spread, 0.5) * t.value / seconds
	switch {
	case off > 0:
		t.value *= 1 + min(step, off)
	case off < 0:
		t.value /= 1 + min(step, -off)
	}
}
