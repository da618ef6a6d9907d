package estimate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
	"github.com/foretime/foretime/shared/uncertainty"
)

// byRuns predicts each clock from what whole runs took of it.
func (e *Estimate) byRuns(runs []journal.Run, wall func(journal.Run) float64, predict func(seconds []float64) (uncertainty.Prediction, error)) (err error) {
	of := func(seconds func(journal.Run) float64) uncertainty.Prediction {
		xs := make([]float64, len(runs))
		for i, r := range runs {
			xs[i] = seconds(r)
		}
		p, bad := predict(xs)
		if err == nil {
			err = bad
		}
		return p
	}
	e.Wall = of(wall)
	e.CPU = of(func(r journal.Run) float64 { return r.CPU })
	e.Uncontended = of(QuietWall)
	return err
}

// ratio scales by epochs. A sample's time is the sum of the laps that it reported,
// or its wall time where it reported none.
func (e *Estimate) ratio(runs []journal.Run, job Job, s Settings) error {
	e.Method = string(Ratio)
	wall := func(r journal.Run) float64 {
		if len(r.Laps) == 0 {
			return r.Wall
		}
		return floats.Sum(r.Laps)
	}
	return e.byRuns(runs, wall, func(xs []float64) (uncertainty.Prediction, error) {
		for i := range xs {
			xs[i] /= float64(runs[i].Epochs)
		}
		n, k := float64(job.Epochs), float64(len(xs))
		p := uncertainty.Point(mean(xs) * n)
		if len(xs) > 1 {
			half := student(s.Level, k-1) * n * math.Sqrt(variance(xs)*(1+1/k))
			p = uncertainty.Prediction{Value: p.Value, Low: max(0, p.Value-half), High: p.Value + half, Level: s.Level}
		}
		return p, nil
	})
}

// line fits seconds = a + b*epochs over whole runs.
func (e *Estimate) line(runs []journal.Run, job Job, s Settings) error {
	e.Method = string(Line)
	epochs := make([]float64, len(runs))
	for i, r := range runs {
		epochs[i] = float64(r.Epochs)
	}
	return e.byRuns(runs, func(r journal.Run) float64 { return r.Wall }, func(xs []float64) (uncertainty.Prediction, error) {
		return linePrediction(epochs, xs, float64(job.Epochs), s.Level)
	})
}

// linePrediction returns the least-squares line at x with the prediction interval of a new run.
// The noise of a run is assumed to add up over its epochs: its variance grows with them.
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
		return uncertainty.Prediction{}, fmt.Errorf("%w: a line needs two lengths", ErrTooFew)
	case err != nil:
		return uncertainty.Prediction{}, err
	}
	fitted, err := m.PredictWeighted([]float64{x}, 1/x)
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	p := uncertainty.Prediction{Value: fitted.Value, Low: fitted.Low, High: fitted.High, Level: level}
	if p.Value <= 0 {
		return p, fmt.Errorf("%w: set-up noise exceeds the epochs' time: the fitted line falls", ErrTooFew)
	}
	if p.IsBounded() {
		p.Low = max(0, p.Low)
	}
	return p, nil
}
