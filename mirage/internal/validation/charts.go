package validation

import (
	"path/filepath"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/shared/chart"
)

// Distributions returns charts by name: interruption-cdf and overlap-cdf, each over
// all episodes that the named policies have played, in hours.
func Distributions(names []string, played map[string][]Played) map[string]chart.Chart {
	charts := map[string]chart.Chart{}
	for _, q := range []struct {
		name  string
		value func(chain.Outcome) float64
	}{{"interruption", chain.Outcome.InterruptionHours}, {"overlap", chain.Outcome.OverlapHours}} {
		var samples []chart.Sample
		for _, name := range names {
			s := chart.Sample{Name: filepath.Base(name)}
			for _, p := range played[name] {
				s.Values = append(s.Values, q.value(p.Outcome))
			}
			samples = append(samples, s)
		}
		axis := q.name + " (h)"
		charts[q.name+"-cdf"] = chart.CDF{Frame: chart.Frame{Title: "Service " + q.name, X: axis}, Samples: samples}
	}
	return charts
}
