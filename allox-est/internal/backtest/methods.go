package backtest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/shared/registry"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Methods lists the judged methods, the default first. A new one is a function and a line here.
var Methods = registry.List[func([]trial) error]{
	{Name: "auto", Help: "the estimator of allox-est, with the other blocks as the user's past", New: auto},
	{Name: "alone", Help: "the estimator of allox-est without a past", New: withoutPast},
	{Name: "last", Help: "the rate of a progress bar (exponential mean), with an error of 10 %", New: last},
	{Name: "ratio", Help: "the original's simple fractions: the mean step seen, times the number of steps, with an error of 10 %", New: byRatio},
	{Name: "line", Help: "the original's line through two samples, a third and two thirds of the steps seen, with an error of 10 %", New: byLine},
}

func auto(ts []trial) error {
	shapes := make([]history.Shape, len(ts))
	for i, t := range ts {
		shapes[i] = t.shape()
	}
	for i := range ts {
		var past []history.Shape
		for _, s := range shapes {
			if s.Block != ts[i].block && s.Rest > 0 {
				past = append(past, s)
			}
		}
		if err := ts[i].forecast(past); err != nil {
			return err
		}
	}
	return nil
}

func withoutPast(ts []trial) error {
	for i := range ts {
		if err := ts[i].forecast(nil); err != nil {
			return err
		}
	}
	return nil
}

// last takes the exponential mean of the steps, the newest by 0.3, as tqdm does, and an
// error of a tenth.
func last(ts []trial) error {
	return predictSimply(ts, func(seen []float64, steps float64) float64 {
		rate := seen[0]
		for _, x := range seen[1:] {
			rate = 0.3*x + 0.7*rate
		}
		return floats.Sum(seen) + rate*(steps-float64(len(seen)))
	})
}

// byRatio scales the steps seen to the number of steps, as the original's first estimator does
// (github.com/CalvinKrist/AlloxTesting, Estimator.estimate_job_time).
func byRatio(ts []trial) error {
	return predictSimply(ts, func(seen []float64, steps float64) float64 {
		return floats.Sum(seen) / float64(len(seen)) * steps
	})
}

// byLine extends the line through two samples, which take as long together as what is seen (Le,
// Sun, Chowdhury and Liu 2020, AlloX, section 4.1).
func byLine(ts []trial) error {
	return predictSimply(ts, func(seen []float64, steps float64) float64 {
		short := max(1, len(seen)/3)
		long := len(seen) - short
		slope := floats.Sum(seen[short:long]) / float64(max(1, long-short))
		return floats.Sum(seen[:long]) + slope*(steps-float64(long))
	})
}

// predictSimply predicts totals from the steps seen and the number of steps, with an error of a
// tenth.
func predictSimply(ts []trial, total func(seen []float64, steps float64) float64) error {
	for i, t := range ts {
		value := total(t.series.Values[:t.seen], float64(len(t.series.Values)))
		ts[i].Prediction = uncertainty.Prediction{Value: value, Low: 0.9 * value, High: 1.1 * value, Level: Level}
	}
	return nil
}
