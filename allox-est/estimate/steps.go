package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrUnsure warns that the steps seen say too little of those to come.
var ErrUnsure = errors.New("not enough to tell")

// What a run's first steps leave open of the rest, as a share of the estimate:
// machines and inputs change over hours and months, and change more where steps
// already differ. Chosen on measured series (DESIGN.md).
const (
	driftBase    = 0.055
	driftNoise   = 55   // times the relative variance of the steps seen
	driftMost    = 0.4  // of that
	samplingMost = 0.15 // of few steps that follow each other, whose persistence is hardly known
	unsureCV     = 0.11
)

// Total predicts what n steps of one run take together from the first of them,
// in their unit, which may be any. Unsure says that the steps seen differ so much
// that the interval is all there is to know. At least 3 steps are needed, finite
// and not negative, and n no less than are seen. Errors wrap ErrTooFew or
// ErrBadRun.
func Total(first []float64, n int, level float64) (p uncertainty.Prediction, unsure bool, err error) {
	seen := len(first)
	if seen < 3 || n < seen {
		return p, false, fmt.Errorf("%w: %d steps seen of %d, want 3 or more", ErrTooFew, seen, n)
	}
	for i, x := range first {
		if !(x >= 0) || math.IsInf(x, 0) {
			return p, false, fmt.Errorf("%w: step %d takes %v", ErrBadRun, i+1, x)
		}
	}
	warm := warmUp([]track{{epochs: slices.Clone(first), first: 1, run: seen}})
	steady := first[warm:]
	l := locate([][]float64{steady}, Mean, prior{df: 1}, 0)
	left := float64(n - seen)
	if l.mean <= 0 {
		return uncertainty.Point(sum(first)), true, nil
	}
	cv := math.Sqrt(variance(steady)) / l.mean
	drift := driftBase + min(driftMost, driftNoise*cv*cv)
	sampling := student(level, l.withinDF) * math.Sqrt(l.within+l.noise/max(1, left)) / l.mean
	half := max(drift, min(sampling, samplingMost))
	// As likely twice as half: the interval is one of factors.
	return uncertainty.Prediction{
		Value: sum(first) + left*l.mean, Level: level,
		Low: sum(first) + left*l.mean*math.Exp(-half), High: sum(first) + left*l.mean*math.Exp(half),
	}, cv > unsureCV, nil
}
