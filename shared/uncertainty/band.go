package uncertainty

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/stats"
)

// Band is an error interval of a predictor, from values that it was not fitted on:
// split conformal prediction (Papadopoulos et al. 2002; Lei et al., JASA 113,
// 2018), each tail by its own rank, so neither misses more than (1-Level)/2. It
// assumes only that future errors are exchangeable with those it was made from. The
// interval always contains the predicted value.
type Band struct {
	Scale Scale   `json:"scale"`
	Level float64 `json:"level"`
	Low   float64 `json:"low"`  // error at the lower end: an offset of at most 0, or a factor of at most 1
	High  float64 `json:"high"` // error at the upper end: an offset of at least 0, or a factor of at least 1
	Cases int     `json:"cases"`
}

// NewBand returns a band from predictions and their outcomes. At least 2/(1-level)
// - 1 are needed, 19 for a level of 0.9 and 39 for 0.95; the error wraps
// [ErrTooFew], [ErrLevel], [ErrLength] or [ErrValue].
func NewBand(s Scale, level float64, predicted, actual []float64) (Band, error) {
	if err := checkLevel(level); err != nil {
		return Band{}, err
	}
	residuals, err := residualsOf(s, predicted, actual)
	if err != nil {
		return Band{}, err
	}
	need := minErrors((1 - level) / 2)
	if len(residuals) < need {
		return Band{}, fmt.Errorf("%w: have %d errors, need %d for a level of %v", ErrTooFew, len(residuals), need, level)
	}
	return bandOf(s, level, stats.Sort(residuals)), nil
}

func residualsOf(s Scale, predicted, actual []float64) ([]float64, error) {
	if len(predicted) != len(actual) {
		return nil, fmt.Errorf("%w: %d predicted, %d actual", ErrLength, len(predicted), len(actual))
	}
	residuals := make([]float64, len(predicted))
	for i := range predicted {
		r, ok := s.residual(predicted[i], actual[i])
		if !ok {
			return nil, fmt.Errorf("%w: no %s from predicted %v to actual %v (case %d)", ErrValue, s, predicted[i], actual[i], i)
		}
		residuals[i] = r
	}
	return residuals, nil
}

// slack is a margin for rounding, as in 20 × 0.05 < 1.
const slack = 1e-9

// minErrors returns the number of errors that a tail of a given probability needs.
func minErrors(tail float64) int { return int(math.Ceil(1/tail-slack)) - 1 }

func bandOf(s Scale, level float64, sorted stats.Sorted) Band {
	n := len(sorted)
	rank := int(float64(n+1)*(1-level)/2 + slack) // from 1, counted from either end
	return Band{
		Scale: s, Level: level, Cases: n,
		Low:  min(sorted[rank-1], s.identity()),
		High: max(sorted[n-rank], s.identity()),
	}
}

// Predict returns the value with its band.
func (b Band) Predict(value float64) Prediction {
	low, high := b.Scale.interval(value, b.Low, b.High)
	return Prediction{Value: value, Low: low, High: high, Level: b.Level}
}

// Bands are bands by group: the level then holds in each group and not only over
// all of them (Vovk's Mondrian conformal prediction, 2003).
type Bands[K comparable] struct {
	All    Band       `json:"all"`
	Groups map[K]Band `json:"groups"` // those with enough cases
}

// NewBands returns a band of all cases and one for each group that has enough. The
// errors are those of [NewBand] over all cases.
func NewBands[K comparable](s Scale, level float64, groups []K, predicted, actual []float64) (Bands[K], error) {
	all, err := NewBand(s, level, predicted, actual)
	if err != nil {
		return Bands[K]{}, err
	}
	if len(groups) != len(predicted) {
		return Bands[K]{}, fmt.Errorf("%w: %d groups, %d predicted", ErrLength, len(groups), len(predicted))
	}
	residuals := make(map[K][]float64)
	for i, g := range groups {
		r, _ := s.residual(predicted[i], actual[i]) // checked above
		residuals[g] = append(residuals[g], r)
	}
	b := Bands[K]{All: all, Groups: make(map[K]Band)}
	for g, r := range residuals {
		if len(r) >= minErrors((1-level)/2) {
			b.Groups[g] = bandOf(s, level, stats.Sort(r))
		}
	}
	return b, nil
}

// Of returns the band of a group; if the group has too few cases, the band of all
// cases and false.
func (b Bands[K]) Of(group K) (band Band, own bool) {
	if band, own = b.Groups[group]; !own {
		band = b.All
	}
	return band, own
}
