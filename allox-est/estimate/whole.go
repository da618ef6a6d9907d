package estimate

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

// ratio scales by epochs. A sample's time is the sum of the laps that it told,
// or its wall time where it told none.
func (e *Estimate) ratio(runs []journal.Run, job Job, s Settings) error {
	e.Method = string(Ratio)
	lengths := map[int]bool{}
	for _, r := range runs {
		lengths[r.Epochs] = true
	}
	scaled := func(seconds func(journal.Run) float64) regression.Prediction {
		n := float64(job.Epochs)
		xs := make([]float64, len(runs))
		for i, r := range runs {
			if xs[i] = seconds(r); len(lengths) > 1 {
				xs[i] /= float64(r.Epochs)
			}
		}
		p := regression.Point(mean(xs) / float64(runs[0].Epochs) * n)
		scale := n / float64(runs[0].Epochs)
		if len(lengths) > 1 {
			p.Value, scale = mean(xs)*n, n
		}
		if len(xs) > 1 {
			half := student(s.Level, float64(len(xs)-1)) * scale * math.Sqrt(variance(xs)*(1+1/float64(len(xs))))
			p.Low, p.High = max(0, p.Value-half), p.Value+half
		}
		return p
	}
	e.Wall = scaled(func(r journal.Run) float64 {
		if len(r.Laps) == 0 {
			return r.Wall
		}
		return sum(r.Laps)
	})
	e.CPU = scaled(func(r journal.Run) float64 { return r.CPU })
	e.Uncontended = scaled(QuietWall)
	return nil
}

// line fits seconds = a + b*epochs over whole runs.
func (e *Estimate) line(runs []journal.Run, job Job, s Settings) error {
	e.Method = string(Line)
	var err error
	fit := func(seconds func(journal.Run) float64) regression.Prediction {
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
	if fast, _, ok := speeds(runs); ok {
		p := paceOf(nil, tracks{}, shape{})
		if runs[0].YardstickWork == "" {
			p = olderPace
		}
		e.Reference = &Reference{
			Yardstick: fast, Sensitivity: p.sensitivity, work: runs[0].YardstickWork,
			CPU:         fit(func(r journal.Run) float64 { return r.CPU * p.factor(fast, Speed(r)) }),
			Uncontended: fit(func(r journal.Run) float64 { return QuietWall(r) * p.factor(fast, Speed(r)) }),
		}
	}
	return err
}

// linePrediction is the least-squares line at x with the prediction interval of
// a new run. The noise of a run is taken to add up over its epochs, so that its
// variance grows with them.
func linePrediction(xs, ys []float64, x, level float64) (regression.Prediction, error) {
	weights := make([]float64, len(xs))
	for i := range xs {
		weights[i] = 1 / xs[i]
	}
	m, err := linear.OLS{Level: level}.Solve(regression.Samples{Features: 1, X: xs, Y: ys, Weights: weights})
	switch {
	case errors.Is(err, regression.ErrConstant) && xs[0] == x:
		return regression.Point(mean(ys)), nil // the samples are the whole job
	case errors.Is(err, regression.ErrConstant):
		return regression.Prediction{}, fmt.Errorf("%w: %v epochs", ErrOneLength, xs[0])
	case errors.Is(err, regression.ErrTooFew):
		return regression.Prediction{}, fmt.Errorf("%w: a line needs two", ErrTooFew)
	case err != nil:
		return regression.Prediction{}, err
	}
	p, err := m.PredictWeighted([]float64{x}, 1/x)
	if err != nil {
		return p, err
	}
	if p.Value <= 0 {
		return p, fmt.Errorf("%w: set-up noise exceeds the epochs' time: the line falls", ErrTooFew)
	}
	if p.Bounded() {
		p.Low = max(0, p.Low)
	}
	return p, nil
}

// QuietWall returns a run's wall time without the wait for a processor, in
// seconds.
func QuietWall(r journal.Run) float64 { return withoutWait(r, r.Wall, r.CPU, r.Wait) }

// withoutWait takes off a wall time of a run the part in which ready threads
// had no processor. Wait is summed over threads; the threads that ran or
// waited at a time are cpu+wait per wall, at least one. They are not all the
// job's: a runtime has threads of its own. On a CPU the job computes on the
// threads that it was given and no more, so that the rest is at least its
// processor time over those. A job that is idle part of the time may have waited
// while it had nothing to do, as one that sleeps until a set time does: only the
// share of the wait counts that the job was busy or waiting for.
func withoutWait(r journal.Run, wall, cpu, wait float64) float64 {
	if wall <= 0 || wait <= 0 {
		return wall
	}
	least := 0.0
	if r.Device == "cpu" && r.Threads > 0 {
		least = min(wall, cpu/float64(r.Threads))
	}
	ready := (cpu + wait) / wall
	return max(least, wall-min(1, ready)*wait/max(1, ready))
}

// student returns the two-sided quantile of Student's t.
func student(level, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: max(1, df)}.Quantile(0.5 + level/2)
}

func sum(xs []float64) float64 { return floats.Sum(xs) }

func mean(xs []float64) float64 { return stat.Mean(xs, nil) }

// variance is the unbiased one; 0 of fewer than two values.
func variance(xs []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	return stat.Variance(xs, nil)
}
