package policy

import "github.com/foretime/foretime/shared/uncertainty"

// Predictor predicts the wait of a successor submitted now, in hours.
type Predictor interface {
	WaitHours(s *State) (uncertainty.Prediction, error)
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
	wait.Value, wait.Low = max(wait.Value, 0), max(wait.Low, 0)
	d := waitOf(s, wait.Times(3600))
	d.Submit = d.Expected.Value >= p.FromHours
	return d, nil
}
