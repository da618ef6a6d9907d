package backtest

import (
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// bands give predicted waits their intervals: adaptive conformal ones, since
// queues drift, apart for short and long waits. Errors are offsets on the transformed
// scale.
type bands struct {
	level float64                // promised
	of    []uncertainty.Adaptive // by length of what was predicted
	all   uncertainty.Adaptive
	// errors are the latest of each, for the chance of a wait.
	errors [][]float64
}

// delayed is the share of the promised misses that the bands aim at: what came is
// known only when a job starts, so that they learn of long waits too late, and
// aiming at all of them misses more (chosen on hpc2n, wagap and LS6, February
// included).
const delayed = .6

// edges part the lengths of predicted waits, in seconds.
func edges() []float64 { return []float64{60, 600, 3600, 6 * 3600, 24 * 3600} }

// errorsKept is how many errors a chance is taken from.
const errorsKept = 200

func newBands(level float64) (bands, error) {
	one, err := uncertainty.NewAdaptive(uncertainty.Offset, 1-delayed*(1-level))
	b := bands{level: level, all: one, errors: make([][]float64, len(edges())+1)}
	for range b.errors {
		b.of = append(b.of, one)
	}
	return b, err
}

func place(seconds float64) int {
	at, _ := slices.BinarySearch(edges(), seconds)
	return at
}

// about is a predicted wait with its interval.
func (b *bands) about(seconds float64) uncertainty.Prediction {
	p := b.of[place(seconds)].Predict(transformed(seconds))
	if !p.Bounded() {
		p = b.all.Predict(transformed(seconds))
	}
	p.Value, p.Low, p.High, p.Level = seconds, min(inverse(p.Low), seconds), max(inverse(p.High), seconds), b.level
	return p
}

// learn takes in what came.
func (b *bands) learn(predicted, came float64) {
	at := place(predicted)
	// Waits are finite, so that there is no error.
	_ = b.of[at].Observe(transformed(predicted), transformed(came))
	_ = b.all.Observe(transformed(predicted), transformed(came))
	b.errors[at] = tail(append(b.errors[at], transformed(came)-transformed(predicted)), errorsKept)
}

// Answer is a predicted wait in seconds with its interval, and the chances of
// others.
type Answer struct {
	uncertainty.Prediction
	predicted float64
	bands     *bands
}

// Chance is how likely a wait of at most so many seconds is: the share of the
// latest errors at waits of such length that would have been so short; known is
// false where there were none.
func (a Answer) Chance(seconds float64) (share float64, known bool) {
	errors := a.bands.errors[place(a.predicted)]
	for _, e := range errors {
		if inverse(transformed(a.predicted)+e) <= seconds {
			share++
		}
	}
	return share / max(float64(len(errors)), 1), len(errors) > 0
}
