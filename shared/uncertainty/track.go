package uncertainty

import "math"

// Tracker widens or narrows intervals by how earlier ones did: quantile tracking
// (Angelopoulos, Candès, Tibshirani, "Conformal PID Control for Time Series
// Prediction", NeurIPS 2023, section 2.1). What it tracks is the quantile of the
// score: how far the truth lay from the value, in units of the distance to the
// end on its side, so that 1 is the end itself. After each truth the factor moves
// up by the rate times the level where the interval missed, and down by the rate
// times 1-level where it held; then the share that holds goes to the level
// whatever the scores are. The zero value is not usable.
type Tracker struct {
	level  float64
	factor float64
	scores []float64 // the last ones, which set the step
}

const (
	trackRate   = .1 // of the largest recent score, as in the paper's experiments
	trackWindow = 50 // scores that count as recent
	trackLeast  = .05
)

// NewTracker promises a level in (0, 1). The error matches [ErrLevel].
func NewTracker(level float64) (*Tracker, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return &Tracker{level: level, factor: 1}, nil
}

// Factor is how far the ends of the next interval are to be moved, see
// [Prediction.Widened]; 1 before any truth.
func (t *Tracker) Factor() float64 { return t.factor }

// Observe learns from a truth and the interval that had not been moved. One that
// has no ends, or no width on the truth's side, teaches nothing.
func (t *Tracker) Observe(p Prediction, truth float64) {
	end := p.High - p.Value
	if truth < p.Value {
		end = p.Value - p.Low
	}
	score := math.Abs(truth-p.Value) / end
	if !p.Bounded() || !(end > 0) || !finite(score) {
		return
	}
	t.scores = append(t.scores, score)
	if len(t.scores) > trackWindow {
		t.scores = t.scores[1:]
	}
	step := 0.0
	for _, s := range t.scores {
		step = max(step, trackRate*s)
	}
	missed := 0.0
	if score > t.factor {
		missed = 1
	}
	t.factor = max(t.factor+step*(missed-(1-t.level)), trackLeast)
}
