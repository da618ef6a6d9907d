package estimate

import (
	"math"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ratio scales by epochs. A sample's time is the sum of the laps that it reported,
// or its wall time where it reported none.
func (e *Estimate) ratio(runs []journal.Run, job Job, s Settings) error {
	e.Method = string(Ratio)
	scaled := func(seconds func(journal.Run) float64) uncertainty.Prediction {
		n := float64(job.Epochs)
		xs := make([]float64, len(runs))
		for i, r := range runs {
			xs[i] = seconds(r) / float64(r.Epochs)
		}
		p := uncertainty.Point(mean(xs) * n)
		if len(xs) > 1 {
			half := student(s.Level, float64(len(xs)-1)) * n * math.Sqrt(variance(xs)*(1+1/float64(len(xs))))
			p.Low, p.High, p.Level = max(0, p.Value-half), p.Value+half, s.Level
		}
		return p
	}
	e.Wall = scaled(func(r journal.Run) float64 {
		if len(r.Laps) == 0 {
			return r.Wall
		}
		return sum(r.Laps)
	})
	e.CPU = scaled(func(r journal.Run) float64 { return r.CPU })
	e.Uncontended = scaled(QuietWall)
	return nil
}
