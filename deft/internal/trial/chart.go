package trial

import "github.com/foretime/foretime/shared/chart"

// Intervals returns a chart of every model's mean completion time over the synchronization
// interval, with logarithmic axes.
func (s *Sweep) Intervals() chart.Lines {
	c := chart.Lines{Frame: chart.Frame{
		Title: "Cost of a synchronization interval", X: "synchronization interval (launches)", Y: "mean JCT (ms)",
		LogX: true, LogY: true,
	}}
	for i, alone := range s.Alone {
		series := chart.Series{Name: alone.Output}
		for _, p := range s.Points {
			series.X = append(series.X, float64(p.Sync))
			series.Y = append(series.Y, p.Models[i].JCT.Mean)
		}
		c.Series = append(c.Series, series)
	}
	return c
}
