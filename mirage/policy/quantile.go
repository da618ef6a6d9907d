package policy

import (
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Quantile submits when the predecessor has as long to run as a quantile of
// the latest waits.
type Quantile struct {
	Q float64 // in [0, 1]
}

// Decide says submit when the quantile, next rank, is reached.
func (q Quantile) Decide(s *State) (Decision, error) {
	if len(s.Waits) == 0 {
		return waitOf(s, uncertainty.Point(0)), nil
	}
	return waitOf(s, amongWaits(s, stats.Sort(s.Waits).NextRank(q.Q))), nil
}

func quantile() Baseline {
	return Baseline{
		Policy: func(q float64) Policy { return Quantile{Q: q} },
		Knob: &Knob{
			Name: "quantile", Help: "quantile of the waits",
			Most: 1, Default: 0.9,
			Choices: []float64{.5, .6, .7, .75, .8, .85, .9, .95, .98},
		},
		Rival: true,
	}
}
