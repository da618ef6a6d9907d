package regression

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/stats"
)

// Metrics are the errors of predictions. Relative errors are fractions: 0.08 is 8
// %. A metric that is undefined for the data is NaN, has a warning that matches
// [ErrUndefined], and is null in JSON.
type Metrics struct {
	Count int     // pairs compared
	MAE   float64 // mean |predicted - actual|, in the target's unit
	RMSE  float64 // root of the mean squared error, in the target's unit
	// MAPE is the mean of |predicted - actual| / |actual| over the pairs whose
	// actual value is not zero; ZeroActuals counts the others.
	MAPE        float64
	MedianAPE   float64 // the median of the same ratios
	Within5     float64 // fraction of the same ratios that are at most 0.05
	Within10    float64 // fraction of the same ratios that are at most 0.10
	R2          float64 // 1 - residual sum of squares / sum of squares about the mean
	Spearman    float64 // rank correlation, ties given their average rank
	ZeroActuals int
	Warnings    []error
}

// Evaluate compares predictions with actual values. The error matches
// [ErrDimension], [ErrNotFinite] or [ErrTooFew] (no pair at all).
func Evaluate(actual, predicted []float64) (Metrics, error) {
	if err := checkPairs(actual, predicted, 1); err != nil {
		return Metrics{}, err
	}
	m := Metrics{Count: len(actual), MAE: floats.Distance(actual, predicted, 1) / float64(len(actual)), RMSE: floats.Distance(actual, predicted, 2) / math.Sqrt(float64(len(actual)))}
	ratios := relativeErrors(actual, predicted)
	m.ZeroActuals = len(actual) - len(ratios)
	if m.ZeroActuals > 0 {
		m.warn(fmt.Errorf("MAPE, median APE and shares leave out %d of %d pairs: their actual value is zero", m.ZeroActuals, m.Count))
	}
	m.MAPE = math.NaN()
	m.MedianAPE = math.NaN()
	m.Within5 = math.NaN()
	m.Within10 = math.NaN()
	if len(ratios) > 0 {
		m.MAPE, m.MedianAPE = stat.Mean(ratios, nil), stats.Sorted(ratios).Quantile(0.5)
		m.Within5, m.Within10 = shareWithin(ratios, 0.05), shareWithin(ratios, 0.10)
	} else {
		m.warn(fmt.Errorf("MAPE: %w: every actual value is zero", ErrUndefined))
	}
	m.R2 = m.optional(R2(actual, predicted))
	m.Spearman = m.optional(Spearman(actual, predicted))
	return m, nil
}

func (m *Metrics) warn(err error) { m.Warnings = append(m.Warnings, err) }

// optional turns the error of an undefined metric into a warning and NaN.
func (m *Metrics) optional(v float64, err error) float64 {
	if err != nil {
		m.warn(err)
		return math.NaN()
	}
	return v
}

// R2 returns the coefficient of determination, 1 - Σ(a-p)² / Σ(a-mean(a))². It is
// negative if the predictions are worse than the mean. The error matches
// [ErrUndefined] if all actual values are the same.
func R2(actual, predicted []float64) (float64, error) {
	if err := checkPairs(actual, predicted, 1); err != nil {
		return 0, err
	}
	if slices.Min(actual) == slices.Max(actual) {
		return 0, fmt.Errorf("R2: %w: all actual values are the same", ErrUndefined)
	}
	return stat.RSquaredFrom(predicted, actual, nil), nil
}

// Spearman returns the rank correlation of a and b: Pearson's correlation of their
// ranks, with average ranks for ties. The error matches [ErrUndefined] if either is
// constant.
func Spearman(a, b []float64) (float64, error) {
	if err := checkPairs(a, b, 1); err != nil {
		return 0, err
	}
	r := stat.Correlation(ranks(a), ranks(b), nil)
	if math.IsNaN(r) {
		return 0, fmt.Errorf("Spearman: %w: one side is constant", ErrUndefined)
	}
	return r, nil
}

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
