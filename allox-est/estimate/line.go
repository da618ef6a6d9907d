package estimate

import (
	"context"
	"errors"
	"fmt"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
	"github.com/foretime/foretime/shared/uncertainty"
)

// line fits seconds = a + b*epochs over whole runs.
func (e *Estimate) line(runs []journal.Run, job Job, s Settings) error {
	e.Method = string(Line)
	var err error
	fit := func(seconds func(journal.Run) float64) uncertainty.Prediction {
		xs, ys := make([]float64, len(runs)), make([]float64, len(runs))
		for i, r := range runs {
			xs[i], ys[i] = float64(r.Epochs), seconds(r)
		}
		p, fitErr := linePrediction(xs, ys, float64(job.Epochs), s.Level)
		if err == nil {
			err = fitErr
		}
		return p
	}
	e.Wall = fit(func(r journal.Run) float64 { return r.Wall })
	e.CPU = fit(func(r journal.Run) float64 { return r.CPU })
	e.Uncontended = fit(QuietWall)
	return err
}

// linePrediction is the least-squares line at x with the prediction interval of
// a new run. The noise of a run is taken to add up over its epochs, so that its
// variance grows with them.
func linePrediction(xs, ys []float64, x, level float64) (uncertainty.Prediction, error) {
	weights := make([]float64, len(xs))
	for i := range xs {
		weights[i] = 1 / xs[i]
	}
	m, err := linear.OLS{Level: level}.Fit(context.Background(), regression.Samples{Features: 1, X: xs, Y: ys, Weights: weights})
	switch {
	case errors.Is(err, regression.ErrConstant) && xs[0] == x:
		return uncertainty.Point(mean(ys)), nil // the samples are the whole job
	case errors.Is(err, regression.ErrConstant):
		return uncertainty.Prediction{}, fmt.Errorf("%w: %v epochs", ErrOneLength, xs[0])
	case errors.Is(err, regression.ErrTooFew):
		return uncertainty.Prediction{}, fmt.Errorf("%w: a line needs two", ErrTooFew)
	case err != nil:
		return uncertainty.Prediction{}, err
	}
	fitted, err := m.PredictWeighted([]float64{x}, 1/x)
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	p := uncertainty.Prediction{Value: fitted.Value, Low: fitted.Low, High: fitted.High, Level: level}
	if p.Value <= 0 {
		return p, fmt.Errorf("%w: set-up noise exceeds the epochs' time: the line falls", ErrTooFew)
	}
	if p.Bounded() {
		p.Low = max(0, p.Low)
	}
	return p, nil
}
