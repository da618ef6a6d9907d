package trial

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/chart"
)

// Measure is the quantity of each model in a chart of a sweep, as the label of its axis.
type Measure string

// The measures.
const (
	JCT       Measure = "mean JCT (ms)"   // mean completion time
	Inflation Measure = "delay inflation" // mean completion time relative to that alone, less 1
)

func (m Measure) value(shared, alone report.Model) float64 {
	if m == Inflation {
		return shared.JCT.Mean/alone.JCT.Mean - 1
	}
	return shared.JCT.Mean
}

// Intervals returns a chart of every model over the synchronization interval. Both axes are
// logarithmic for completion times.
func (s *Sweep) Intervals(m Measure) chart.Lines {
	c := chart.Lines{Frame: chart.Frame{
		Title: "Cost of a synchronization interval", X: "synchronization interval (launches)", Y: string(m),
		LogX: true, LogY: m == JCT,
	}}
	for i, alone := range s.Alone {
		series := chart.Series{Name: alone.Output}
		for _, p := range s.Points {
			series.X = append(series.X, float64(p.Sync))
			series.Y = append(series.Y, m.value(p.Models[i], alone))
		}
		c.Series = append(c.Series, series)
	}
	return c
}

// Scatter returns a chart of the second model of a sweep over the first, one point for each
// interval; empty if there is one model.
func (s *Sweep) Scatter(m Measure) chart.Scatter {
	if len(s.Alone) < 2 {
		return chart.Scatter{}
	}
	x, y := s.Alone[0], s.Alone[1]
	c := chart.Scatter{Frame: chart.Frame{
		Title: "Second model over the first", X: x.Output + ": " + string(m), Y: y.Output + ": " + string(m),
	}}
	for _, p := range s.Points {
		c.Series = append(c.Series, chart.Series{
			Name: fmt.Sprintf("N = %d", p.Sync),
			X:    []float64{m.value(p.Models[0], x)}, Y: []float64{m.value(p.Models[1], y)},
		})
	}
	return c
}
