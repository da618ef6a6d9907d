package policy

import (
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

// waitOf submits when the predecessor runs no longer than a wait expected to
// last so many seconds.
func waitOf(s *State, seconds float64) Decision {
	expected := seconds - s.RemainingSeconds()
	return Decision{Submit: expected >= 0, ExpectedHours: expected / 3600, Expects: true}
}
