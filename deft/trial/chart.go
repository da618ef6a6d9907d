package trial

import (
	"fmt"

	"github.com/foretime/foretime/deft/report"
	"github.com/foretime/foretime/shared/chart"
)

// Measure is what a chart of a sweep shows of each model.
type Measure int

// The measures.
const (
	JCT       Measure = iota // mean completion time, ms
	Inflation                // mean completion time over the one alone, less 1
)

func (m Measure) of(shared, alone report.Model) float64 {
	if m == Inflation {
		return shared.JCT.Mean/alone.JCT.Mean - 1
	}
	return shared.JCT.Mean
}

func (m Measure) label() string {
	if m == Inflation {
		return "delay inflation"
	}
	return "mean JCT (ms)"
}

// Intervals is a chart of every model against the synchronization interval. Both
// axes are logarithmic for completion times.
func (s *Sweep) Intervals(m Measure) chart.Lines {
	c := chart.Lines{Frame: chart.Frame{
		Title: "What a synchronization interval costs", X: "synchronization interval (launches)", Y: m.label(),
		LogX: true, LogY: m == JCT,
	}}
	for i, alone := range s.Alone {
		series := chart.Series{Name: alone.Output}
		for _, p := range s.Points {
			series.X = append(series.X, float64(p.Sync))
			series.Y = append(series.Y, m.of(p.Models[i], alone))
		}
		c.Series = append(c.Series, series)
	}
	return c
}

// Scatter is a chart of two models of a sweep against each other, by their place
// in the configuration, a point for each interval.
func (s *Sweep) Scatter(x, y int, m Measure) (chart.Scatter, error) {
	if x < 0 || y < 0 || max(x, y) >= len(s.Alone) {
		return chart.Scatter{}, fmt.Errorf("sweep: models %d and %d of %d", x, y, len(s.Alone))
	}
	c := chart.Scatter{Frame: chart.Frame{
		Title: "One model against the other",
		X:     s.Alone[x].Output + ": " + m.label(), Y: s.Alone[y].Output + ": " + m.label(),
	}}
	for _, p := range s.Points {
		c.Series = append(c.Series, chart.Series{
			Name: fmt.Sprintf("N = %d", p.Sync),
			X:    []float64{m.of(p.Models[x], s.Alone[x])}, Y: []float64{m.of(p.Models[y], s.Alone[y])},
		})
	}
	return c, nil
}
