package regression

import (
	"math"
	"slices"
)

// Conformal gives a model's values an interval whose half-width is a quantile
// of its errors on samples it was not fitted on: split-conformal prediction
// (Lei, G'Sell, Rinaldo, Tibshirani, Wasserman, "Distribution-Free Predictive
// Inference for Regression", JASA 113, 2018, algorithm 2). It assumes nothing of
// the model nor of the noise: when the calibration samples and the row to
// predict are exchangeable, the interval holds the truth with at least the
// level's probability, on average over calibration sets and rows.
type Conformal struct {
	Model Model
	// Width is the half-width of the interval: in the target's unit or, when
	// Relative, as a fraction of the predicted value's size.
	Width    float64
	Relative bool
}

var _ Model = (*Conformal)(nil)

// Calibrate measures a model's errors on samples that it was not fitted on, and
// answers with intervals that hold the truth with probability level, in (0, 1).
// Relative intervals grow with the predicted value; use them where errors do.
//
// At least ceil(level/(1-level)) samples are needed, 19 for 0.95: with fewer no
// finite interval keeps the promise. The error matches [ErrTooFew],
// [ErrSetting], [ErrUndefined] (a relative error about a predicted zero) or is
// one of the model's. Weights play no part.
func Calibrate(m Model, s Samples, level float64, relative bool) (*Conformal, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	if err := s.Check(Needs{Missing: true}); err != nil {
		return nil, err
	}
	n := s.Len()
	// The tiny term keeps 20 × 0.95 from being taken for 19.000000000000004.
	rank := int(math.Ceil(float64(n+1)*level - 1e-9))
	if rank > n {
		return nil, &TooFewError{What: "calibration samples", Have: n, Need: int(math.Ceil(level/(1-level) - 1e-9))}
	}
	scores, err := conformityScores(m, s, relative)
	if err != nil {
		return nil, err
	}
	slices.Sort(scores)
	return &Conformal{Model: m, Width: scores[rank-1], Relative: relative}, nil
}

func conformityScores(m Model, s Samples, relative bool) ([]float64, error) {
	predicted, err := PredictAll(m, s)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(predicted))
	for i, p := range predicted {
		scores[i] = math.Abs(s.Y[i] - p.Value)
		if relative {
			scores[i] /= math.Abs(p.Value)
		}
		if !finite(scores[i]) {
			return nil, &undefinedScoreError{row: i, value: p.Value}
		}
	}
	return scores, nil
}

// Features is the width of the rows of the model inside.
func (c *Conformal) Features() int { return c.Model.Features() }

// Predict is the model's value with the calibrated interval about it.
func (c *Conformal) Predict(x []float64) (Prediction, error) {
	p, err := c.Model.Predict(x)
	if err != nil {
		return Prediction{}, err
	}
	half := c.Width
	if c.Relative {
		half *= math.Abs(p.Value)
	}
	return Prediction{Value: p.Value, Low: p.Value - half, High: p.Value + half}, nil
}

// Warnings are those of the model inside.
func (c *Conformal) Warnings() []error { return Warnings(c.Model) }

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return &SettingError{Name: "level", Value: level, Want: "in (0, 1)"}
	}
	return nil
}
