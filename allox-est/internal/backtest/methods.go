package backtest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/allox-est/internal/estimate"
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
	if err := withoutPast(ts); err != nil {
		return err
	}
	for i := range ts {
		var past []estimate.Outcome
		for _, other := range ts {
			if o, left := other.rest.OutcomeOf(other.block, other.actual); left && other.block != ts[i].block {
				past = append(past, o)
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

func withoutPast(ts []trial) (err error) {
	for i := range ts {
		t := &ts[i]
		if t.rest, err = t.forecast(nil); err != nil {
			return err
		}
		t.refused, t.Prediction = t.rest.Refused, t.rest.Total
	}
	return nil
}

// last takes the exponential mean of the steps, the newest by .3, as tqdm does, and an
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
