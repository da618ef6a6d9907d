package report

import (
	"errors"
	"fmt"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/chart"
)

// ErrNothingToPlot is returned when no run of a device tells its laps.
var ErrNothingToPlot = errors.New("no run with laps")

// EpochPlot shows how long each epoch of each run took on a device, beside the
// steady epoch of the estimate.
func (r *Report) EpochPlot(j *journal.Journal, device string) (chart.Chart, error) {
	c := chart.Lines{Frame: chart.Frame{Title: r.Job + " on " + device + ": time of each epoch", X: "epoch", Y: "wall time (s)"}}
	last := 0.0
	add := func(kind, name string) {
		n := 0
		for _, run := range j.Of(r.key(device), kind) {
			if run.Failed() || len(run.Laps) < 3 {
				continue
			}
			n++
			s := chart.Series{Name: fmt.Sprintf("%s %d", name, n)}
			marks := run.Timeline()
			for i, m := range marks[1:] {
				s.X = append(s.X, m.Number)
				s.Y = append(s.Y, (m.Seconds-marks[i].Seconds)/(m.Number-marks[i].Number))
			}
			last = max(last, s.X[len(s.X)-1])
			c.Series = append(c.Series, s)
		}
	}
	add(journal.Full, "whole run")
	add(journal.Sample, "sample")
	if len(c.Series) == 0 {
		return nil, fmt.Errorf("%s: %w", device, ErrNothingToPlot)
	}
	if d := r.Devices[device]; d.Estimate != nil && d.Segments != nil {
		c.Series = append(c.Series, chart.Series{Name: "steady epoch, estimated", X: []float64{1, last}, Y: []float64{d.Segments.Epoch, d.Segments.Epoch}})
	}
	return c, nil
}

// ProgressPlot shows the time since the start over the epochs done: of each
// whole run on a device, and as estimated, with the interval.
func (r *Report) ProgressPlot(j *journal.Journal, device string) (chart.Chart, error) {
	d := r.Devices[device]
	if d.Estimate == nil || d.Segments == nil {
		return nil, fmt.Errorf("%s: %w", device, ErrNothingToPlot)
	}
	c := chart.Lines{Frame: chart.Frame{Title: r.Job + " on " + device + ": estimate and whole runs", X: "epochs done", Y: "time since the start (s)"}}
	for i, run := range j.Of(r.key(device), journal.Full) {
		if run.Failed() || len(run.Laps) < 3 || run.Epochs != r.Epochs {
			continue
		}
		s := chart.Series{Name: fmt.Sprintf("whole run %d", i+1)}
		for _, m := range run.Timeline() {
			s.X, s.Y = append(s.X, m.Number), append(s.Y, m.Seconds)
		}
		s.X = append(s.X, float64(r.Epochs))
		s.Y = append(s.Y, run.Wall)
		c.Series = append(c.Series, s)
	}
	// The interval is known of the total; on the way there it grows as the
	// time does.
	s := chart.Series{Name: "estimate, 95 %"}
	begin, end := d.Segments.Setup, d.Wall.Value-d.Segments.Teardown
	add := func(epoch, value float64) {
		f := value / d.Wall.Value
		s.X, s.Y = append(s.X, epoch), append(s.Y, value)
		s.Low, s.High = append(s.Low, f*d.Wall.Low), append(s.High, f*d.Wall.High)
	}
	add(0, begin)
	add(float64(r.Epochs), max(begin, end))
	add(float64(r.Epochs), d.Wall.Value)
	if !d.Wall.Bounded() {
		s.Low, s.High = nil, nil
	}
	c.Series = append(c.Series, s)
	return c, nil
}
