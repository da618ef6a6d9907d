package uncertainty

import (
	"fmt"
	"math"
	"slices"
)

// Quantile tracking (Angelopoulos, Candès, Tibshirani, "Conformal PID Control for
// Time Series Prediction", NeurIPS 2023, section 2.1): after each score the
// estimate of a quantile moves up by a step times its share where the score lay
// above, and down by the step times the rest where it did not; then the share of
// scores below it goes to the share asked for, whatever the scores are.
const (
	trackRate   = .1 // of the largest recent score, as in the paper's experiments
	trackWindow = 50 // scores that count as recent
	trackLeast  = .05
	// One gross error must not decide: a score counts as at most trackMost until
	// trackAgree recent scores are larger, then as at most the trackAgree-th largest.
	trackMost  = 10
	trackAgree = 10
	// curveRate is that of the quantiles of a Curve: of .03, .05 and .1 the one
	// with the least interval score on the first part of three batch logs.
	curveRate = .03
)

// quantile is one that is tracked.
type quantile struct{ share, at float64 }

func (q *quantile) observe(score, step float64) {
	if score > q.at {
		q.at += step * q.share
		return
	}
	q.at -= step * (1 - q.share)
}

// recent are the sizes of the last scores, which set the step.
type recent []float64

func (r *recent) add(size float64) (largest float64) {
	*r = append(*r, size)
	if len(*r) > trackWindow {
		*r = (*r)[1:]
	}
	return slices.Max(*r)
}

// Tracker widens or narrows intervals by how earlier ones did. What it tracks is
// the quantile of the score: how far the truth lay from the value, in units of the
// distance to the end on its side, so that 1 is the end itself. The zero value is
// not usable.
type Tracker struct {
	factor quantile
	scores recent // as they were
	capped recent // as they counted
}

// NewTracker promises a level in (0, 1). The error matches [ErrLevel].
func NewTracker(level float64) (*Tracker, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return &Tracker{factor: quantile{level, 1}}, nil
}

// Factor is how far the ends of the next interval are to be moved, see
// [Prediction.Widened]; 1 before any truth.
func (t *Tracker) Factor() float64 { return t.factor.at }

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
	t.scores.add(score)
	most := t.scores.agreed()
	score = min(score, most)
	t.factor.observe(score, trackRate*t.capped.add(score))
	t.factor.at = min(max(t.factor.at, trackLeast), most)
}

// agreed returns the largest score that counts in full.
func (r recent) agreed() float64 {
	if len(r) < trackAgree {
		return trackMost
	}
	sorted := slices.Sorted(slices.Values(r))
	return max(trackMost, sorted[len(sorted)-trackAgree])
}

// Curve gives the values of a stream the quantiles of what will come: each of a
// grid of quantiles of the errors, which are offsets, is tracked by itself. It
// works with truths that come late and out of order; the later they come, the
// longer it takes to follow. The zero value is not usable.
type Curve struct {
	errors []quantile // by share
	scores recent
	seen   int
}

// NewCurve tracks the quantiles of some shares, each in (0, 1). The error matches
// [ErrLevel].
func NewCurve(shares ...float64) (*Curve, error) {
	c := &Curve{}
	for _, s := range slices.Sorted(slices.Values(shares)) {
		if err := checkLevel(s); err != nil {
			return nil, fmt.Errorf("share of a curve: %w", err)
		}
		c.errors = append(c.errors, quantile{share: s})
	}
	return c, nil
}

// Seen is how many truths the curve has learnt from.
func (c *Curve) Seen() int { return c.seen }

// Observe learns what came where a value was predicted. The error is [ErrValue]
// where one of them is not finite; nothing is learnt then.
func (c *Curve) Observe(value, truth float64) error {
	score := truth - value
	if !finite(score) {
		return ErrValue
	}
	step := curveRate * c.scores.add(math.Abs(score))
	for i := range c.errors {
		c.errors[i].observe(score, step)
	}
	c.seen++
	return nil
}

// About are the quantiles of what will come where a value is predicted, in the
// order of their shares; they do not cross.
func (c *Curve) About(value float64) []float64 {
	at := make([]float64, len(c.errors))
	for i, q := range c.errors {
		at[i] = value + q.at
	}
	slices.Sort(at)
	return at
}
