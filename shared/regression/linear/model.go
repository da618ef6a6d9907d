package linear

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Model is a fitted linear regression, Intercept + Σ Coefficients[j]·x[j]. Stored
// as JSON it is read back without loss.
type Model struct {
	Intercept    float64   `json:"intercept"` // 0 of [NNLS]
	Coefficients []float64 `json:"coefficients"`
	// Doubt is the precision of the fit; nil if no theory gives it, and predictions
	// then have infinite bounds.
	Doubt *Doubt `json:"doubt,omitempty"`

	warnings []error
}

var _ regression.Model = (*Model)(nil)

// Features returns the number of coefficients.
func (m *Model) Features() int { return len(m.Coefficients) }

// Warnings returns the reasons to doubt the fit.
func (m *Model) Warnings() []error { return m.warnings }

// Predict returns the value at x with the interval of one new observation of weight
// 1. x may not have missing values.
func (m *Model) Predict(x []float64) (uncertainty.Prediction, error) {
	return m.PredictWeighted(x, 1)
}

// PredictWeighted does what Predict does for a new observation of another weight, with noise
// variance Sigma²/weight. Use it if the fit was weighted; an infinite weight gives
// the confidence interval of the mean.
func (m *Model) PredictWeighted(x []float64, weight float64) (uncertainty.Prediction, error) {
	if err := regression.CheckRow(x, len(m.Coefficients), false); err != nil {
		return uncertainty.Prediction{}, err
	}
	if !(weight > 0) {
		return uncertainty.Prediction{}, regression.Setting("weight", weight, "above 0")
	}
	p := uncertainty.Point(m.Intercept + floats.Dot(m.Coefficients, x))
	if m.Doubt != nil {
		half := m.Doubt.T * m.Doubt.Sigma * math.Sqrt(1/weight+m.Doubt.leverage(x))
		p.Low = p.Value - half
		p.High = p.Value + half
		p.Level = m.Doubt.Level
	}
	return p, nil
}

// Doubt is the precision of a least-squares fit: the noise, and the covariance of
// the coefficients up to the noise.
type Doubt struct {
	Level float64 `json:"level"` // of prediction intervals, in (0, 1)
	Sigma float64 `json:"sigma"` // residual standard error of an observation of weight 1
	T     float64 `json:"t"`     // Student's quantile for the level

	// The variance of the fitted line at x is Sigma² (1/SumWeights + |Root·(x -
	// Center)|²). Root is row-major, lower triangular, as wide as Center.
	SumWeights float64   `json:"sum_weights"`
	Center     []float64 `json:"center"`
	Root       []float64 `json:"root"`
}

// leverage returns the variance of the fitted line at x in units of Sigma².
func (d *Doubt) leverage(x []float64) float64 {
	h := 1 / d.SumWeights
	n := len(d.Center)
	for i := range n {
		v := 0.0
		for j := range i + 1 {
			v += d.Root[i*n+j] * (x[j] - d.Center[j])
		}
		h += v * v
	}
	return h
}

// levelOr checks a level; 0 means 0.95.
func levelOr(level float64) (float64, error) {
	if level == 0 {
		return 0.95, nil
	}
	if !(level > 0 && level < 1) {
		return 0, regression.Setting("Level", level, "in (0, 1)")
	}
	return level, nil
}

// errNoSpread is the warning of an exact fit, which leaves no residuals to measure
// noise from.
var errNoSpread = fmt.Errorf("as many coefficients as samples: no interval can be given: %w", regression.ErrTooFew)
