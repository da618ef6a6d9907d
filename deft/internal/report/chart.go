package report

import (
	"math"

	"github.com/foretime/foretime/shared/chart"
)

// TimeSeries returns a chart of completion times over time.
func TimeSeries(logs []*Log) chart.Lines {
	c := chart.Lines{Frame: chart.Frame{Title: "Job completion time", X: "time (s)", Y: "JCT (ms)"}}
	first := int64(math.MaxInt64)
	for _, l := range logs {
		for _, j := range l.Jobs {
			first = min(first, j.StartNs)
		}
	}
	for _, l := range logs {
		s := chart.Series{Name: l.Name}
		for _, j := range l.Jobs {
			s.X = append(s.X, float64(j.EndNs-first)/1e9)
			s.Y = append(s.Y, j.Ms)
		}
		c.Series = append(c.Series, s)
	}
	return c
}
