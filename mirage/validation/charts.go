package validation

import (
	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/shared/chart"
)

// Method is a policy by name and the episodes it has played.
type Method struct {
	Name   string
	Played []Played
}

// Distributions returns charts by name: interruption-cdf and overlap-cdf, each
// over all episodes of the methods, in hours.
func Distributions(methods []Method) map[string]chart.Chart {
	charts := map[string]chart.Chart{}
	for _, q := range []struct {
		name  string
		value func(chain.Outcome) float64
	}{{"interruption", chain.Outcome.InterruptionHours}, {"overlap", chain.Outcome.OverlapHours}} {
		var samples []chart.Sample
		for _, m := range methods {
			s := chart.Sample{Name: m.Name}
			for _, p := range m.Played {
				s.Values = append(s.Values, q.value(p.Outcome))
			}
			samples = append(samples, s)
		}
		axis := q.name + " (h)"
		charts[q.name+"-cdf"] = chart.CDF{Frame: chart.Frame{Title: "Service " + q.name, X: axis}, Samples: samples}
	}
	return charts
}
