package uncertainty

import (
	"fmt"
	"math"
	"slices"
)

// Quantile tracking (Angelopoulos, Candès, Tibshirani, "Conformal PID Control for
// Time Series Prediction", NeurIPS 2023, section 2.1): after each score the
// estimate of a quantile moves up by a step times its probability if the score was
// above it, and otherwise down by the step times one minus that probability. The
// fraction of scores below the estimate then converges to the probability, for any
// scores.
const (
	trackRate   = 0.1 // of the largest recent score, as in the paper's experiments
	trackWindow = 50  // scores that count as recent
	trackLeast  = 0.05
	// One gross error must not decide: a score counts as at most trackMost until
	// trackAgree recent scores are larger, then as at most the trackAgree-th
	// largest.
	trackMost  = 10
	trackAgree = 10
	// curveRate is the rate for the quantiles of a Curve: of 0.03, 0.05 and 0.1 the
	// one with the smallest interval score on the first part of three batch logs.
	curveRate = 0.03
)

// quantile is a tracked quantile.
type quantile struct{ share, at float64 }

func (q *quantile) observe(score, step float64) {
	if score > q.at {
		q.at += step * q.share
		return
	}
	q.at -= step * (1 - q.share)
}

// recent holds the sizes of the last scores, which set the step.
type recent []float64

func (r *recent) add(size float64) (largest float64) {
	*r = append(*r, size)
	if len(*r) > trackWindow {
		*r = (*r)[1:]
	}
	return slices.Max(*r)
}

// Tracker widens or narrows intervals by the coverage of earlier ones. It tracks a
// quantile of the score: the distance of the truth from the value, in units of the
// distance to the end on its side; 1 is the end itself. The zero value is not
// usable.
type Tracker struct {
	factor quantile
	scores recent // uncapped
	capped recent // capped
}

// NewTracker returns a Tracker for a level in (0, 1). The error matches [ErrLevel].
func NewTracker(level float64) (*Tracker, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return &Tracker{factor: quantile{level, 1}}, nil
}

// Factor returns the factor for the ends of the next interval, see
// [Prediction.Widen]; 1 before the first Observe.
func (t *Tracker) Factor() float64 { return t.factor.at }

// Observe learns from a truth and its interval before widening. An interval without
// ends, or without width on the truth's side, is ignored.
func (t *Tracker) Observe(p Prediction, truth float64) {
	end := p.High - p.Value
	if truth < p.Value {
		end = p.Value - p.Low
	}
	score := math.Abs(truth-p.Value) / end
	if !p.IsBounded() || !(end > 0) || !finite(score) {
		return
	}
	t.scores.add(score)
	most := t.scores.largestAgreed()
	score = min(score, most)
	t.factor.observe(score, trackRate*t.capped.add(score))
	t.factor.at = min(max(t.factor.at, trackLeast), most)
}

// largestAgreed returns the largest score that counts in full.
func (r recent) largestAgreed() float64 {
	if len(r) < trackAgree {
		return trackMost
	}
	sorted := slices.Sorted(slices.Values(r))
	return max(trackMost, sorted[len(sorted)-trackAgree])
}

// Curve gives the values of a stream the quantiles of their outcomes: each of a
// grid of quantiles of the errors, which are offsets, is tracked independently.
// Outcomes may arrive late and out of order; the later they arrive, the longer it
// takes to follow. The zero value is not usable.
type Curve struct {
	errors []quantile // in order of probability
	scores recent
	seen   int
}

// NewCurve tracks quantiles of the given probabilities, each in (0, 1). The error
// matches [ErrLevel].
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

// Seen returns the number of outcomes that the curve has learnt from.
func (c *Curve) Seen() int { return c.seen }

// Observe learns from the outcome of a predicted value. The error is [ErrValue] if
// one of them is not finite; nothing is learnt then.
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

// About returns the quantiles of the outcome of a predicted value, in the order of
// their probabilities; they do not cross.
func (c *Curve) About(value float64) []float64 {
	at := make([]float64, len(c.errors))
	for i, q := range c.errors {
		at[i] = value + q.at
	}
	slices.Sort(at)
	return at
}
