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
		rest, err := ts[i].forecast(past)
		if err != nil {
			return err
		}
		ts[i].Prediction, ts[i].refused = rest.Total, rest.Refused
	}
	return nil
}

func withoutPast(ts []trial) error {
	for i := range ts {
		t := &ts[i]
		rest, err := t.forecast(nil)
		if err != nil {
			return err
		}
		t.refused, t.Prediction = rest.Refused, rest.Total
	}
	return nil
}

// last takes the exponential mean of the steps, the newest by 0.3, as tqdm does, and an
// error of a tenth.
func last(ts []trial) error {
	for i := range ts {
		first := ts[i].series.Values[:ts[i].seen]
		rate := first[0]
		for _, x := range first[1:] {
			rate = 0.3*x + 0.7*rate
		}
		value := floats.Sum(first) + rate*float64(len(ts[i].series.Values)-len(first))
		ts[i].Prediction = uncertainty.Prediction{Value: value, Low: 0.9 * value, High: 1.1 * value, Level: Level}
	}
	return nil
}
