package stats

import (
	"fmt"
	"math"
	"slices"
)

// Sorted holds numbers in ascending order.
type Sorted []float64

// Sort returns a sorted copy of values.
func Sort(values []float64) Sorted {
	s := slices.Clone(values)
	slices.Sort(s)
	return s
}

// Quantile returns the p-quantile of values in any order: [Sorted.Quantile].
func Quantile(values []float64, p float64) float64 { return Sort(values).Quantile(p) }

// Median returns the middle of values in any order: [Sorted.Median].
func Median(values []float64) float64 { return Sort(values).Median() }

// Quantile interpolates linearly between the two nearest order statistics: type 7
// of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (The American
// Statistician 50, 1996), the default of R and NumPy.
func (s Sorted) Quantile(p float64) float64 {
	s.check(p)
	at := p * float64(len(s)-1)
	low := int(at)
	if low+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[low] + (at-float64(low))*(s[low+1]-s[low])
}

// NearestRank returns the smallest value v with at least the fraction p of the
// values at or below v: type 1 of Hyndman and Fan.
func (s Sorted) NearestRank(p float64) float64 {
	s.check(p)
	return s[max(int(math.Ceil(p*float64(len(s))))-1, 0)]
}

// NextRank returns sorted[floor(p·n)], or the maximum for p = 1. It differs from
// [Sorted.NearestRank] if p·n is a whole number, and is then the next value.
func (s Sorted) NextRank(p float64) float64 {
	s.check(p)
	return s[min(int(p*float64(len(s))), len(s)-1)]
}

// Median returns the middle value, or the mean of the two in the middle.
func (s Sorted) Median() float64 {
	s.check(0)
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// MAD returns the median of the absolute deviations from the median. Times 1.4826
// it is the standard deviation of normal values.
func (s Sorted) MAD() float64 {
	middle := s.Median()
	off := make([]float64, len(s))
	for i, v := range s {
		off[i] = math.Abs(v - middle)
	}
	return Median(off)
}

func (s Sorted) check(p float64) {
	if len(s) == 0 {
		panic("stats: no values")
	}
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("stats: share %v: want 0 to 1", p))
	}
}
