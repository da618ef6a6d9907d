package timing

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Change bounds the factor by which the time of future work may differ from that of the
// samples. Low is at most 1, High at least 1.
type Change struct{ Low, High float64 }

// changeSD is the standard deviation of the logarithm of a machine's speed from the
// samples to the predicted work: 95 % of such changes are within a factor of 1.6. On a
// virtual machine of two cores without other work, the same training epochs became 1.6
// times as fast within a minute, and 1.3 times slower in the next run.
const changeSD = 0.24

// SpeedChange returns the factors by which a machine may be faster or slower after the
// samples than during them, at a level in (0, 1). The variation within the samples is
// part of a prediction's own interval.
func SpeedChange(level float64) Change {
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	factor := math.Exp(z * changeSD)
	return Change{Low: 1 / factor, High: factor}
}

// changeSeconds is the time in which a machine's speed may become another one: on that machine
// it changed within a minute.
const changeSeconds = 60

// MeanSpeedChange returns the factors by which the mean speed over the seconds ahead may differ
// from that over the seconds seen just before: those of SpeedChange if both are at most a minute,
// less where changes average out.
func MeanSpeedChange(level, seen, ahead float64) Change {
	number := func(seconds float64) float64 { return max(1, seconds/changeSeconds) }
	part := math.Sqrt((1/number(seen) + 1/number(ahead)) / 2)
	factor := math.Pow(SpeedChange(level).High, part)
	return Change{Low: 1 / factor, High: factor}
}

// Share returns the change of a time of which the fraction share, 0 to 1, changes.
func (c Change) Share(share float64) Change {
	return Change{Low: 1 + share*(c.Low-1), High: 1 + share*(c.High-1)}
}

// Widen returns a prediction whose interval includes the change: the logarithms of
// the two factors to each side are independent, so they add in squares. A
// prediction without ends, or not above zero, is returned unchanged.
func (c Change) Widen(p uncertainty.Prediction) uncertainty.Prediction {
	if !p.IsBounded() || !(p.Value > 0) {
		return p
	}
	if p.Low > 0 {
		low := math.Hypot(math.Log(min(1, p.Low/p.Value)), math.Log(c.Low))
		p.Low = p.Value * math.Exp(-low)
	}
	high := math.Hypot(math.Log(max(1, p.High/p.Value)), math.Log(c.High))
	p.High = p.Value * math.Exp(high)
	return p
}
