package schedule

import (
	"math"

	"github.com/foretime/foretime/shared/stats"
)

// Gain is the range of the factors by which a GPU shortens the jobs that can run on both
// devices: 90 % of them lie between Low and High.
type Gain struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// alikeGain is the ratio of the largest to the smallest gain up to which jobs gain alike.
const alikeGain = 1.1

// GainOf returns the gain of jobs by their true times; nil if fewer than two can run on both
// devices.
func GainOf(jobs []Record) *Gain {
	var factors []float64
	for _, job := range jobs {
		if f := job.Actual[CPU] / job.Actual[GPU]; f > 0 && !math.IsInf(f, 0) {
			factors = append(factors, f)
		}
	}
	if len(factors) < 2 {
		return nil
	}
	sorted := stats.Sort(factors)
	return &Gain{Low: sorted.NearestRank(0.05), High: sorted.NearestRank(0.95)}
}

// IsAlike reports whether all jobs gain by nearly the same factor. Which job runs where then
// does not matter, and matching only delays jobs that wait for a GPU.
func (g *Gain) IsAlike() bool { return g != nil && g.High <= alikeGain*g.Low }
