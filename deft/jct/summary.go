package jct

import (
	"fmt"
	"math"
	"slices"
)

// Summary describes completion times in ms.
type Summary struct {
	Count int     `json:"-"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
}

// Summarize describes completion times. The error matches ErrNoJobs, or says
// which time is none.
func Summarize(ms []float64) (Summary, error) {
	if len(ms) == 0 {
		return Summary{}, fmt.Errorf("jct: %w", ErrNoJobs)
	}
	sum := 0.0
	for i, v := range ms {
		if !(v >= 0) || math.IsInf(v, 0) {
			return Summary{}, fmt.Errorf("jct: job %d took %v ms", i, v)
		}
		sum += v
	}
	sorted := slices.Sorted(slices.Values(ms))
	return Summary{
		Count: len(ms),
		Mean:  sum / float64(len(ms)),
		P50:   quantile(sorted, 0.50),
		P95:   quantile(sorted, 0.95),
		P99:   quantile(sorted, 0.99),
		Min:   sorted[0],
		Max:   sorted[len(sorted)-1],
	}, nil
}

// quantile interpolates between order statistics (type 7 of Hyndman and Fan
// 1996, the default of NumPy).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
