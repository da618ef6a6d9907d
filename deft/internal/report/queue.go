package report

import (
	"github.com/foretime/foretime/shared/chart"
)

// Depth is the largest number of a model's launches in flight within a millisecond.
type Depth struct {
	AtMS     int64  `dataset:"at_ms"` // from the barrier
	Model    string `dataset:"model"` // stem of its files
	InFlight int    `dataset:"in_flight"`
}

// Queue returns a chart of each model's launches in flight over time.
func Queue(rows []Depth) chart.Lines {
	c := chart.Lines{Frame: chart.Frame{Title: "Queue depth", X: "time (s)", Y: "launches in flight"}, Steps: true}
	at := map[string]int{}
	for _, r := range rows {
		i, known := at[r.Model]
		if !known {
			i = len(c.Series)
			at[r.Model] = i
			c.Series = append(c.Series, chart.Series{Name: r.Model})
		}
		s := &c.Series[i]
		s.X = append(s.X, float64(r.AtMS)/1e3)
		s.Y = append(s.Y, float64(r.InFlight))
	}
	return c
}
