package schedule

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/stats"
)

// Summary is the outcome of a schedule in numbers, under the names of the
// command's JSON. Times are in seconds; a job completion time (JCT) is from arrival to end.
type Summary struct {
	Policy   string  `json:"policy"`
	Jobs     int     `json:"jobs"`
	MeanJCT  float64 `json:"mean_jct_seconds"`
	P50JCT   float64 `json:"p50_jct_seconds"`
	P95JCT   float64 `json:"p95_jct_seconds"`
	P99JCT   float64 `json:"p99_jct_seconds"`
	Makespan float64 `json:"makespan_seconds"`
}

// Summarize measures the runs of a schedule under a policy.
func Summarize(policy string, runs []Run) Summary {
	var jct []float64
	first, last := math.Inf(1), 0.0
	for _, r := range runs {
		jct = append(jct, r.End()-r.Arrival)
		first, last = min(first, r.Arrival), max(last, r.End())
	}
	sorted := stats.Sort(jct)
	return Summary{policy, len(runs), stat.Mean(jct, nil), sorted.NearestRank(0.50), sorted.NearestRank(0.95), sorted.NearestRank(0.99), last - first}
}
