package regression

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Metrics are the errors of predictions. Relative errors are fractions: 0.08 is 8
// %. A metric that is undefined for the data is NaN.
type Metrics struct {
	MAE  float64 // mean |predicted - actual|, in the target's unit
	RMSE float64 // root of the mean squared error, in the target's unit
	// MAPE is the mean of |predicted - actual| / |actual| over the pairs whose
	// actual value is not zero.
	MAPE     float64
	Within5  float64 // fraction of the same ratios that are at most 0.05
	Within10 float64 // fraction of the same ratios that are at most 0.10
	R2       float64 // 1 - residual sum of squares / sum of squares about the mean
	Spearman float64 // rank correlation, ties given their average rank
}

// Evaluate compares predictions with actual values. The error matches
// [ErrDimension], [ErrNotFinite] or [ErrTooFew] (no pair at all).
func Evaluate(actual, predicted []float64) (Metrics, error) {
	if err := checkPairs(actual, predicted, 1); err != nil {
		return Metrics{}, err
	}
	n := float64(len(actual))
	ratios := relativeErrors(actual, predicted)
	m := Metrics{
		MAE: floats.Distance(actual, predicted, 1) / n, RMSE: floats.Distance(actual, predicted, 2) / math.Sqrt(n),
		MAPE: stat.Mean(ratios, nil), Within5: shareWithin(ratios, 0.05), Within10: shareWithin(ratios, 0.10),
		R2: math.NaN(), Spearman: rankCorrelation(actual, predicted),
	}
	if slices.Min(actual) < slices.Max(actual) {
		m.R2 = stat.RSquaredFrom(predicted, actual, nil)
	}
	return m, nil
}

// Spearman returns the rank correlation of a and b: Pearson's correlation of their
// ranks, with average ranks for ties. The error matches [ErrUndefined] if either is
// constant.
func Spearman(a, b []float64) (float64, error) {
	if err := checkPairs(a, b, 1); err != nil {
		return 0, err
	}
	r := rankCorrelation(a, b)
	if math.IsNaN(r) {
		return 0, fmt.Errorf("Spearman: %w: one side is constant", ErrUndefined)
	}
	return r, nil
}

// rankCorrelation returns NaN if either side is constant.
func rankCorrelation(a, b []float64) float64 { return stat.Correlation(ranks(a), ranks(b), nil) }

// ranks returns the ranks of values from 1; ties get their average rank.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]float64, len(values))
	for first := 0; first < len(order); {
		last := first
		for last+1 < len(order) && values[order[last+1]] == values[order[first]] {
			last++
		}
		for _, i := range order[first : last+1] {
			out[i] = float64(first+last)/2 + 1
		}
		first = last + 1
	}
	return out
}

func checkPairs(actual, predicted []float64, need int) error {
	if len(actual) != len(predicted) {
		return Dimension("predicted values", len(predicted), len(actual))
	}
	if err := checkValues("actual value", actual, need); err != nil {
		return err
	}
	return checkValues("predicted value", predicted, need)
}

// relativeErrors returns |p-a|/|a|, sorted, of the pairs whose a is not zero.
func relativeErrors(actual, predicted []float64) []float64 {
	var out []float64
	for i, a := range actual {
		if a != 0 {
			out = append(out, math.Abs(predicted[i]-a)/math.Abs(a))
		}
	}
	slices.Sort(out)
	return out
}

// shareWithin returns the fraction of sorted ratios that are at most limit.
func shareWithin(sorted []float64, limit float64) float64 {
	n := sort.Search(len(sorted), func(i int) bool { return sorted[i] > limit })
	return float64(n) / float64(len(sorted))
}

// checkValues requires at least need numbers, all finite.
func checkValues(what string, values []float64, need int) error {
	if len(values) < need {
		return TooFew(what+"s", len(values), need)
	}
	for i, v := range values {
		if !finite(v) {
			return NotFinite(what, i, -1, v)
		}
	}
	return nil
}
