package forecast

import (
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Review holds the forecast of the load that follows a series, and the errors of the forecasts
// of its loads, each from those before.
type Review struct {
	Iterations int                      `json:"iterations"`
	Period     int                      `json:"period"` // iterations after which loads repeat; 1 if they do not
	Next       uncertainty.Prediction   `json:"next"`   // seconds
	Rules      []Rule                   `json:"rules"`  // the forecast first
	Forecasts  []uncertainty.Prediction `json:"-"`      // seconds, of each load from the third on
}

// Rule holds the errors of one way to forecast. Percentages are in percent.
type Rule struct {
	Name      string   `json:"name"`
	MAPE      *float64 `json:"mape"`
	MedianAPE *float64 `json:"median_ape"`
	Coverage  *float64 `json:"coverage"` // share of the intervals that hold the load
}

// NewReview forecasts each load of a series from those before, and the one that follows.
func NewReview(loads []float64) (*Review, error) {
	begin := loads[:min(2, len(loads))]
	m, err := Fit(begin)
	if err != nil {
		return nil, err
	}
	r := &Review{Iterations: len(loads)}
	var ours, last, lag2 summary.Errors
	for i := len(begin); i < len(loads); i++ {
		p := m.Predict()
		r.Forecasts = append(r.Forecasts, p)
		ours.Add(p.Value, loads[i])
		ours.AddInterval(p.Low, p.High, loads[i])
		last.Add(loads[i-1], loads[i])
		lag2.Add(loads[i-2], loads[i])
		if err := m.Observe(loads[i]); err != nil {
			return nil, err
		}
	}
	r.Period = m.Period
	r.Next = m.Predict()
	r.Rules = []Rule{newRule("chamtool", &ours), newRule("last load", &last), newRule("load two iterations ago", &lag2)}
	return r, nil
}

func newRule(name string, e *summary.Errors) Rule {
	return Rule{name, summary.NewFigure(e.MAPE()), summary.NewFigure(e.MedianAPE()), summary.NewFigure(e.Coverage())}
}
