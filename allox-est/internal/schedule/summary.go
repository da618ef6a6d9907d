package schedule

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/stats"
)

// Summary is the outcome of a schedule in numbers, under the names of the
// command's JSON. Times are in seconds.
type Summary struct {
	Jobs     int     `json:"jobs"`
	MeanJCT  float64 `json:"mean_jct_seconds"`
	P50JCT   float64 `json:"p50_jct_seconds"`
	P95JCT   float64 `json:"p95_jct_seconds"`
	P99JCT   float64 `json:"p99_jct_seconds"`
	Makespan float64 `json:"makespan_seconds"`
	// Fairness is Jain's index of the users' mean slowdowns: 1 where all are
	// slowed down alike, 1/users where one bears it all. A job's slowdown is
	// its completion time over its true time on the faster of the devices there are.
	Fairness float64 `json:"fairness"`
	// LowerBound is a lower bound on the mean completion time of every schedule.
	LowerBound float64 `json:"lower_bound_seconds"`
}

// Summary measures the schedule.
func (s *Schedule) Summary() Summary {
	var jct []float64
	first, last := math.Inf(1), 0.0
	for _, r := range s.Runs {
		jct = append(jct, r.JCT())
		first, last = min(first, r.Job.Arrival), max(last, r.End())
	}
	sorted := stats.Sort(jct)
	return Summary{
		Jobs:       len(s.Runs),
		MeanJCT:    stat.Mean(jct, nil),
		P50JCT:     sorted.NearestRank(0.50),
		P95JCT:     sorted.NearestRank(0.95),
		P99JCT:     sorted.NearestRank(0.99),
		Makespan:   last - first,
		Fairness:   s.fairness(),
		LowerBound: s.LowerBound(),
	}
}

// fastest is a job's true time on the faster of the devices that it fits.
func (s *Schedule) fastest(j *Record) float64 {
	least := math.Inf(1)
	for d := range Device(Devices) {
		if s.Cluster.runs(j, d) {
			least = min(least, j.Seconds(d))
		}
	}
	return least
}

// fairness is Jain's index (Jain, Chiu and Hawe 1984): (sum x)^2 / (n sum x^2).
func (s *Schedule) fairness() float64 {
	users := make(map[string][]float64)
	for _, r := range s.Runs {
		users[r.Job.User] = append(users[r.Job.User], r.JCT()/s.fastest(r.Job))
	}
	sum, squares := 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(users)) {
		x := stat.Mean(users[name], nil)
		sum += x
		squares += x * x
	}
	return sum * sum / (float64(len(users)) * squares)
}
