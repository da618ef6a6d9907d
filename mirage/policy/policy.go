package policy

import (
	"errors"
	"slices"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/samples"
)

// State is what is known at a decision. Times are Unix seconds.
type State struct {
	Now       int64
	PredStart int64 // of the running predecessor
	PredEnd   int64 // when its limit ends it
	Service   chain.Service
	// Waits are those of the latest started jobs other than the service's, in
	// seconds, newest first.
	Waits   []float64
	History samples.History
	// Forecast returns the waits in seconds that the queue itself foretells
	// for a successor submitted now (samples.ForecastShares); nil where there
	// is nothing to simulate the queue with.
	Forecast func() ([]float64, error)
}

// RemainingSeconds is how long the predecessor will run on.
func (s *State) RemainingSeconds() float64 { return float64(s.PredEnd - s.Now) }

// Decision is a policy's answer.
type Decision struct {
	Submit bool
	// ExpectedHours is the reward expected of submitting now, in hours, where
	// Expects says that the policy has an expectation.
	ExpectedHours float64
	Expects       bool
}

// Policy decides whether to submit the successor now.
type Policy interface {
	Decide(s *State) (Decision, error)
}

// Reactive submits when the predecessor has ended, which is not up to it:
// it never says yes before.
type Reactive struct{}

// Decide says wait.
func (Reactive) Decide(*State) (Decision, error) { return Decision{}, nil }

// NeverLate submits when the predecessor starts.
type NeverLate struct{}

// Decide says submit.
func (NeverLate) Decide(*State) (Decision, error) { return Decision{Submit: true}, nil }

// Fixed submits a fixed time before the predecessor's end.
type Fixed struct {
	LeadHours float64
}

// Decide says submit when the lead is reached.
func (f Fixed) Decide(s *State) (Decision, error) {
	return waitOf(s, f.LeadHours*3600), nil
}

// averageOver is how many started jobs the average is taken over.
const averageOver = 100

// Average submits when the predecessor has as long to run as the last hundred
// started jobs waited on average.
type Average struct{}

// Decide says submit when the average wait is reached.
func (Average) Decide(s *State) (Decision, error) {
	waits := s.Waits[:min(len(s.Waits), averageOver)]
	sum := 0.0
	for _, w := range waits {
		sum += w
	}
	return waitOf(s, sum/float64(max(len(waits), 1))), nil
}

// Quantile submits when the predecessor has as long to run as a quantile of
// the latest waits.
type Quantile struct {
	Q float64 // in [0, 1]
}

// Decide says submit when the quantile, nearest rank, is reached.
func (q Quantile) Decide(s *State) (Decision, error) {
	if len(s.Waits) == 0 {
		return waitOf(s, 0), nil
	}
	sorted := slices.Sorted(slices.Values(s.Waits))
	return waitOf(s, sorted[min(int(q.Q*float64(len(sorted))), len(sorted)-1)]), nil
}

// waitOf submits when the predecessor runs no longer than a wait expected to
// last so many seconds.
func waitOf(s *State, seconds float64) Decision {
	expected := seconds - s.RemainingSeconds()
	return Decision{Submit: expected >= 0, ExpectedHours: expected / 3600, Expects: true}
}

// Predictor foretells the wait of a successor submitted now, in hours.
type Predictor interface {
	WaitHours(s *State) (float64, error)
}

// Predicted submits when the reward that a predictor expects reaches
// FromHours. Below zero leaves a margin against interruptions, above it one
// against overlap.
type Predicted struct {
	Predictor Predictor
	FromHours float64
}

// Decide says submit when the expected reward is high enough.
func (p Predicted) Decide(s *State) (Decision, error) {
	wait, err := p.Predictor.WaitHours(s)
	if err != nil {
		return Decision{}, err
	}
	d := waitOf(s, max(wait, 0)*3600)
	d.Submit = d.ExpectedHours >= p.FromHours
	return d, nil
}

// ErrForecast is returned when a policy that needs a forecast of the queue is
// asked where there is none.
var ErrForecast = errors.New("there is no forecast of the queue")

// Foretold submits when the predecessor has as long to run as the queue itself
// foretells a successor to wait: a weighted mean of the forecasts with full
// and with partly used time limits. It learns nothing.
type Foretold struct {
	Full float64 // weight of the forecast with full limits, in [0, 1]
}

// Decide says submit when the foretold wait is reached.
func (f Foretold) Decide(s *State) (Decision, error) {
	if s.Forecast == nil {
		return Decision{}, ErrForecast
	}
	waits, err := s.Forecast()
	if err != nil {
		return Decision{}, err
	}
	return waitOf(s, f.Full*waits[0]+(1-f.Full)*waits[1]), nil
}
