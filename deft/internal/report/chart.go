package report

import (
	"math"

	"github.com/foretime/foretime/shared/chart"
)

// NamedLog is a log with the name of its model.
type NamedLog struct {
	Name string
	Log  *Log
}

// TimeSeries returns a chart of completion times over time.
func TimeSeries(logs []NamedLog) chart.Lines {
	c := chart.Lines{Frame: chart.Frame{Title: "Job completion time", X: "time (s)", Y: "JCT (ms)"}}
	first := int64(math.MaxInt64)
	for _, l := range logs {
		for _, j := range l.Log.Jobs {
			first = min(first, j.StartNs)
		}
	}
	for _, l := range logs {
		s := chart.Series{Name: l.Name}
		for _, j := range l.Log.Jobs {
			s.X = append(s.X, float64(j.EndNs-first)/1e9)
			s.Y = append(s.Y, j.Ms)
		}
		c.Series = append(c.Series, s)
	}
	return c
}
