package regression

import (
	"math"
	"slices"
)

// Quantile is the p-quantile of values, p in [0, 1], linear between the two
// nearest order statistics: type 7 of Hyndman and Fan, "Sample Quantiles in
// Statistical Packages" (The American Statistician 50, 1996), the default of R
// and NumPy. Values need not be sorted and are not changed. The error matches
// [ErrTooFew], [ErrNotFinite] or [ErrSetting].
func Quantile(values []float64, p float64) (float64, error) {
	if !(p >= 0 && p <= 1) {
		return 0, &SettingError{Name: "p", Value: p, Want: "in [0, 1]"}
	}
	if err := checkValues("value", values, 1); err != nil {
		return 0, err
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sortedQuantile(sorted, p), nil
}

// sortedQuantile is Quantile of values already checked and sorted.
func sortedQuantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(math.Floor(at))
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	low, high := sorted[below], sorted[below+1]
	return low + (at-float64(below))*(high-low)
}

// checkValues asks for at least need numbers, all finite.
func checkValues(what string, values []float64, need int) error {
	if len(values) < need {
		return &TooFewError{What: what + "s", Have: len(values), Need: need}
	}
	for i, v := range values {
		if !finite(v) {
			return &NotFiniteError{What: what, Row: i, Column: -1, Value: v}
		}
	}
	return nil
}
