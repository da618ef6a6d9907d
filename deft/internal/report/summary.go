package report

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/stats"
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

// Summarize describes completion times. The error matches ErrNoJobs, or names the invalid
// time.
func Summarize(ms []float64) (Summary, error) {
	if len(ms) == 0 {
		return Summary{}, fmt.Errorf("report: %w", ErrNoJobs)
	}
	sum := 0.0
	for i, v := range ms {
		if !(v >= 0) || math.IsInf(v, 0) {
			return Summary{}, fmt.Errorf("report: job %d took %v ms", i, v)
		}
		sum += v
	}
	sorted := stats.Sort(ms)
	return Summary{
		Count: len(ms),
		Mean:  sum / float64(len(ms)),
		P50:   sorted.Quantile(0.50),
		P95:   sorted.Quantile(0.95),
		P99:   sorted.Quantile(0.99),
		Min:   sorted[0],
		Max:   sorted[len(sorted)-1],
	}, nil
}
