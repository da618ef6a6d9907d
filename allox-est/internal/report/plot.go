package report

import (
	"errors"
	"fmt"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/chart"
)

// ErrNothingToPlot is returned if no run of a device has laps.
var ErrNothingToPlot = errors.New("no run with laps")

// EpochPlot shows the time of each epoch of each run on a device, and the steady epoch of an
// estimate without stages.
func (r *Report) EpochPlot(j *journal.Journal, device string) (chart.Chart, error) {
	c := chart.Lines{Frame: chart.Frame{Title: r.Job + " on " + device + ": time of each epoch", X: "epoch", Y: "wall time (s)"}}
	last := 0.0
	for _, kind := range [][2]string{{journal.Full, "whole run"}, {journal.Sample, "sample"}} {
		n := 0
		for _, run := range j.Of(r.spec.Hash(device), kind[0]) {
			marks := run.Timeline()
			if run.HasFailed() || len(marks) < 2 {
				continue
			}
			n++
			s := chart.Series{Name: fmt.Sprintf("%s %d", kind[1], n)}
			for i, m := range marks[1:] {
				epoch := float64(run.Stage) + m.Number
				s.X, s.Y = append(s.X, epoch), append(s.Y, (m.Seconds-marks[i].Seconds)/(m.Number-marks[i].Number))
				last = max(last, epoch)
			}
			c.Series = append(c.Series, s)
		}
	}
	if len(c.Series) == 0 {
		return nil, fmt.Errorf("%s: %w", device, ErrNothingToPlot)
	}
	if d := r.Devices[device]; d.Estimate != nil && d.Segments != nil && len(r.spec.Stages) == 0 {
		c.Series = append(c.Series, chart.Series{Name: "steady epoch, estimated", X: []float64{1, last}, Y: []float64{d.Segments.Epoch, d.Segments.Epoch}})
	}
	return c, nil
}
