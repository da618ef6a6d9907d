package perfmodel

import (
	"math"

	"github.com/foretime/foretime/shared/uncertainty"
)

// tracked follows the runs of one footprint in constant time: their median weighted by
// 1/seconds, which minimises the mean relative error (de Myttenaere, Golden, Le Grand and
// Rossi 2016), and the two ends of the interval by quantile tracking (Angelopoulos, Candès
// and Tibshirani 2023). Each end misses (1-level)/2 of the runs in the long run, whatever
// the runs do. It takes every run, also those that the mixture does not learn from.
type tracked struct {
	value     float64 // weighted median, in seconds; 0 before start
	spread    float64 // median distance of a run from value, as a share of value
	n         int     // runs that moved the ends
	low, high float64 // distance of the ends from the predicted value, as a share of the run there: predicted/low end - 1, high end/predicted - 1
}

const (
	// trackRate is the step of an end, as a share of its distance, times the miss rate.
	trackRate = 0.1
	// firstSteps are three times as long. Longer ones overshoot where many tasks are
	// predicted before the first of them ends.
	firstSteps = 200
	// spreadRate is the step of the spread, and valueRate that of the value as a share of
	// the spread.
	spreadRate, valueRate = 0.05, 0.1
	// mostWeight bounds how much more a fast run weighs than one that takes the median.
	mostWeight = 4
	// leastShare is the least distance that an end and the spread keep: less than a
	// clock of nanoseconds resolves in a task of a millisecond.
	leastShare = 1e-6
)

// start begins with a prediction.
func (t *tracked) start(p *Prediction) {
	t.value = p.Value
	t.low, t.high = 0.1, 0.1
	if p.Low > 0 && !math.IsInf(p.High, 1) {
		t.low, t.high = max(leastShare, p.Value/p.Low-1), max(leastShare, p.High/p.Value-1)
	}
	t.spread = min(t.low, t.high) / 2
}

// move takes a run into the median.
func (t *tracked) move(seconds float64) {
	off := seconds/t.value - 1
	if math.Abs(off) > t.spread {
		t.spread *= 1 + spreadRate
	} else {
		t.spread = max(leastShare, t.spread*(1-spreadRate))
	}
	step := min(valueRate*t.spread, 0.5) * min(t.value/seconds, mostWeight)
	switch {
	case off > 0:
		t.value *= 1 + min(step, off)
	case off < 0:
		t.value /= 1 + min(step, -off)
	}
}

// end takes a run into the ends, by the interval that was predicted for it. The first
// steps are longer: the interval may have begun with that of a few runs.
func (t *tracked) end(p *Prediction, seconds, level float64) {
	missed, held := trackMissed, trackHeld
	if t.n++; t.n < firstSteps || level != Level {
		tail, rate := (1-level)/2, trackRate
		if t.n < firstSteps {
			rate = 3 * trackRate
		}
		missed, held = math.Exp(rate*(1-tail)), math.Exp(-rate*tail)
	}
	t.low = moved(t.low, seconds < p.Low, missed, held)
	t.high = moved(t.high, seconds > p.High, missed, held)
}

// The factors of an end at trackRate and [Level].
var trackMissed, trackHeld = math.Exp(trackRate * (1 + Level) / 2), math.Exp(-trackRate * (1 - Level) / 2)

// moved is an end's distance after a run.
func moved(end float64, miss bool, missed, held float64) float64 {
	if miss {
		return end * missed
	}
	return max(leastShare, end*held)
}

// around is the interval about a value, with the ends moved by what all sizes of the
// function have in common.
func (t *tracked) around(value, level float64, c *common) uncertainty.Prediction {
	return uncertainty.Prediction{Value: value, Low: value / (1 + t.low*c.low), High: value * (1 + t.high*c.high), Level: level}
}

// common holds how much farther out the interval ends of all sizes of a function lie than each
// size has learned: a machine that changes its speed moves thousands of sizes at once, each of
// which runs rarely.
type common struct{ low, high float64 }

const (
	// commonRate is the step of a common end times the miss rate, and commonReturn the
	// share by which it comes back to 1 with each run.
	commonRate, commonReturn = 0.03, 1.0 / 2048
	// mostCommon bounds it.
	mostCommon = 30
)

// The factors of a common end.
var commonMissed, commonHeld = math.Exp(commonRate * (1 + Level) / 2), math.Exp(-commonRate * (1 - Level) / 2)

// end takes a run into the common ends.
func (c *common) end(p *Prediction, seconds float64) {
	c.low = c.moved(c.low, seconds < p.Low)
	c.high = c.moved(c.high, seconds > p.High)
}

func (*common) moved(end float64, miss bool) float64 {
	end += (1 - end) * commonReturn
	if miss {
		return min(end*commonMissed, mostCommon)
	}
	return max(end*commonHeld, 1.0/mostCommon)
}
