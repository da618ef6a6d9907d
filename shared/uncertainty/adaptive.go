package uncertainty

import (
	"fmt"
	"math"
	"sort"
)

// window is the number of errors that an Adaptive remembers, and rate the step by
// which it corrects its miss rates.
const (
	window = 64
	rate   = 0.01
)

// Adaptive gives the values of a stream intervals and learns from their outcomes:
// adaptive conformal inference (Gibbs and Candès, "Adaptive Conformal Inference
// Under Distribution Shift", NeurIPS 2021) over the last 64 errors, with a miss
// rate learnt for each tail. In the long run each tail misses (1-Level)/2, for any
// errors: drift, jumps and dependence included. In any short stretch it may miss
// more.
//
// It is a plain value of some 550 bytes, allocates nothing, and costs tens of
// nanoseconds per call. It is not safe for concurrent use.
type Adaptive struct {
	low, high float64 // current miss rates of the tails
	tail      float64 // promised miss rate of each
	n, next   uint16
	scale     Scale
	recent    [window]float32 // a ring, in order of arrival
	sorted    [window]float32
}

// NewAdaptive starts a stream. The level is at most 0.969: 64 errors do not show
// the tails of a higher one. The error wraps [ErrLevel].
func NewAdaptive(s Scale, level float64) (Adaptive, error) {
	tail := (1 - level) / 2
	if err := checkLevel(level); err != nil {
		return Adaptive{}, err
	}
	if minErrors(tail) > window {
		return Adaptive{}, fmt.Errorf("%w: %v: a tail of %v is not seen in %d errors", ErrLevel, level, tail, window)
	}
	return Adaptive{low: tail, high: tail, tail: tail, scale: s}, nil
}

// Predict returns the value with the interval for the outcome. Its ends are
// infinite until 2/(1-Level) - 1 errors were seen, 19 for a level of 0.9, and if
// the value has no error on the scale.
func (a *Adaptive) Predict(value float64) Prediction {
	low, high := a.ends(value)
	return Prediction{Value: value, Low: min(low, value), High: max(high, value), Level: 1 - 2*a.tail}
}

// Observe learns from the outcome y of a predicted value. The error is [ErrValue]
// if the two have no error on the scale; nothing is learnt then.
func (a *Adaptive) Observe(value, y float64) error {
	r, ok := a.scale.residual(value, y)
	if !ok {
		return ErrValue
	}
	if a.Ready() {
		low, high := a.ends(value)
		a.low += rate * (a.tail - missed(y < low))
		a.high += rate * (a.tail - missed(y > high))
	}
	a.remember(float32(r))
	return nil
}

func missed(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Ready reports whether enough errors were seen for the promised tails.
func (a *Adaptive) Ready() bool { return float64(a.n+1)*a.tail >= 1-slack }

func (a *Adaptive) ends(value float64) (low, high float64) {
	if !a.Ready() || a.scale == Factor && !(value > 0) {
		return math.Inf(-1), math.Inf(1)
	}
	low, high = a.scale.interval(value, a.tailError(a.low, 1), a.tailError(a.high, -1))
	if a.scale == Factor {
		low = max(low, 0)
	}
	return low, high
}

// tailError returns the error beyond which the fraction miss of errors lies, below
// for a step of 1 and above for -1: the rank (n+1) miss, interpolated between the
// two nearest errors. For a fraction too small to be seen it extrapolates beyond
// the farthest error, in proportion and without bound, so misses always end.
func (a *Adaptive) tailError(miss float64, step int) float64 {
	n := int(a.n)
	first := 0
	if step < 0 {
		first = n - 1
	}
	rank := min(float64(n+1)*miss, float64(n))
	if rank < 1 {
		extreme, middle := float64(a.sorted[first]), float64(a.sorted[n/2])
		return extreme + (extreme-middle)*(1-rank)
	}
	whole := int(rank)
	here := float64(a.sorted[first+step*(whole-1)])
	if whole == n {
		return here
	}
	return here + (rank-float64(whole))*(float64(a.sorted[first+step*whole])-here)
}

// remember replaces the oldest error by a new one.
func (a *Adaptive) remember(r float32) {
	if a.n == window {
		gone := a.place(a.recent[a.next])
		copy(a.sorted[gone:], a.sorted[gone+1:a.n])
		a.n--
	}
	to := a.place(r)
	copy(a.sorted[to+1:a.n+1], a.sorted[to:a.n])
	a.sorted[to] = r
	a.n++
	a.recent[a.next] = r
	a.next = (a.next + 1) % window
}

// place returns the index of the first error that is not below r.
func (a *Adaptive) place(r float32) int {
	return sort.Search(int(a.n), func(i int) bool { return a.sorted[i] >= r })
}
