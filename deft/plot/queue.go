package plot

import (
	"github.com/foretime/foretime/deft/trial"
	"github.com/foretime/foretime/shared/chart"
)

// Queue is a chart of the launches in flight of each model over time.
func Queue(rows []trial.Depth) chart.Lines {
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
