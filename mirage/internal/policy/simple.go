package policy

import (
	"errors"
	"math"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Average submits when the predecessor has as long to run as the last hundred
// started jobs waited on average.
type Average struct{}

// Decide says submit when the average wait is reached.
func (Average) Decide(s *State) (Decision, error) { return waitOf(s, amongWaits(s, s.MeanWait())), nil }

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

// Fixed submits a fixed time before the predecessor's end: never before the end for a
// lead of 0, and as soon as the predecessor runs for an infinite one, neither of which
// expects a wait.
type Fixed struct {
	LeadHours float64
}

// Decide submits when the lead is reached.
func (f Fixed) Decide(s *State) (Decision, error) {
	if all := math.IsInf(f.LeadHours, 1); all || !(f.LeadHours > 0) {
		return Decision{Submit: all}, nil
	}
	return waitOf(s, uncertainty.Point(f.LeadHours*3600)), nil
}

// ErrForecast is returned when a policy that needs a forecast of the queue is
// asked where there is none.
var ErrForecast = errors.New("there is no forecast of the queue")

// QueueForecast submits when the predecessor has as long to run as the queue itself
// predicts a successor to wait if jobs use two fifths of their limits. It learns
// nothing.
type QueueForecast struct{}

// Decide says submit when the predicted wait is reached.
func (QueueForecast) Decide(s *State) (Decision, error) {
	waits, err := s.Forecast()
	if err != nil {
		return Decision{}, err
	}
	return waitOf(s, uncertainty.Point(waits[1])), nil
}

// The baselines that use only the latest waits and a forecast.
var (
	quantile = Baseline{
		Policy: func(q float64) Policy { return Quantile{Q: q} }, Rival: true,
		Knob: &Knob{
			Name: "quantile", Help: "quantile of the waits",
			Most: 1, Default: 0.9,
		},
	}
	fixed = Baseline{
		Policy: func(hours float64) Policy { return Fixed{LeadHours: hours} },
		Knob:   &Knob{Name: "lead_hours", Help: "lead in hours", Most: math.Inf(1), Required: true},
	}
)
