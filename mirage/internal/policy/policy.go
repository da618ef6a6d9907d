package policy

import (
	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/uncertainty"
)

// State holds what is known at a decision. Times are Unix seconds.
type State struct {
	Now      int64
	PredEnd  int64 // when its limit ends the running predecessor
	Interval int64 // seconds to the next decision at the soonest
	Service  chain.Service
	// Waits holds the waits of the latest started jobs other than the service's, in seconds,
	// newest first.
	Waits   []float64
	History samples.History
	// Queue returns what forecasts are simulated with; nil where there is nothing to
	// simulate the queue with.
	Queue    func() (Queue, error)
	forecast []float64 // once it was asked for
}

// MeanWait returns the mean of the latest hundred waits in seconds; 0 without any.
func (s *State) MeanWait() float64 { return samples.MeanWait(s.Waits) }

// Forecast returns the waits in seconds that the queue itself predicts for a successor
// submitted now, one for each of [samples.ForecastShares]. The error wraps ErrForecast
// where there is nothing to simulate the queue with.
func (s *State) Forecast() ([]float64, error) {
	if s.forecast != nil {
		return s.forecast, nil
	}
	q, err := s.queue()
	if err != nil {
		return nil, err
	}
	waits := make([]float64, 0, 2)
	for _, share := range samples.ForecastShares() {
		wait, err := q.Forecast(share, 0)
		if err != nil {
			return nil, err
		}
		waits = append(waits, wait)
	}
	s.forecast = waits
	return waits, nil
}

func (s *State) queue() (Queue, error) {
	if s.Queue == nil {
		return nil, ErrForecast
	}
	return s.Queue()
}

// RemainingSeconds returns the time that the predecessor still runs.
func (s *State) RemainingSeconds() float64 { return float64(s.PredEnd - s.Now) }

// Decision is a policy's answer.
type Decision struct {
	Submit bool
	// Expected is the reward expected of submitting now, in hours, where Expects
	// says that the policy has an expectation. Its interval is unknown where
	// it is not known how far off the policy has been.
	Expected uncertainty.Prediction
	Expects  bool
	// Curve is the chance of a start within so many seconds of a successor submitted
	// now; empty where the policy knows of none.
	Curve []wait.Start
	// Next is the time of the next decision, in Unix seconds, if the answer is valid until
	// then.
	Next int64
}

// Policy decides whether to submit the successor now.
type Policy interface {
	Decide(s *State) (Decision, error)
}

// Expecting decides by a wait in hours that is expected, from which reward on.
func Expecting(s *State, hours uncertainty.Prediction, from float64) Decision {
	hours.Value, hours.Low = max(hours.Value, 0), max(hours.Low, 0)
	d := waitOf(s, hours.Times(3600))
	d.Submit = d.Expected.Value >= from
	return d
}

// waitOf submits when the predecessor runs no longer than a wait, in seconds, is
// expected to last.
func waitOf(s *State, wait uncertainty.Prediction) Decision {
	reward, remaining := wait.Times(1./3600), s.RemainingSeconds()/3600
	reward.Value -= remaining
	reward.Low -= remaining
	reward.High -= remaining
	return Decision{Submit: reward.Value >= 0, Expected: reward, Expects: true}
}

// amongWaits returns a wait of so many seconds with the interval that the latest
// waits put about it, or without one where they are too few.
func amongWaits(s *State, seconds float64) uncertainty.Prediction {
	predicted := make([]float64, len(s.Waits))
	for i := range predicted {
		predicted[i] = seconds
	}
	band, err := uncertainty.NewBand(uncertainty.Offset, intervalLevel, predicted, s.Waits)
	if err != nil {
		return uncertainty.Point(seconds)
	}
	p := band.Predict(seconds)
	p.Low = max(p.Low, 0)
	return p
}

// intervalLevel is the level of the intervals of expected waits.
const intervalLevel = .9
