package report

import (
	"errors"
	"fmt"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/chart"
)

// ErrNothingToPlot is returned when no run of a device tells its laps.
var ErrNothingToPlot = errors.New("no run with laps")

// curves are those of the runs of a kind on a device that tell their laps, of so many
// epochs or of any (0), by name.
func (r *Report) curves(j *journal.Journal, device, kind, name string, epochs int, draw func(*journal.Run, *chart.Series)) (all []chart.Series) {
	for _, run := range j.Of(r.key(device), kind) {
		if !run.Failed() && len(run.Laps) >= 3 && (epochs == 0 || run.Epochs == epochs) {
			s := chart.Series{Name: fmt.Sprintf("%s %d", name, len(all)+1)}
			draw(&run, &s)
			all = append(all, s)
		}
	}
	return all
}

// EpochPlot shows how long each epoch of each run took on a device, beside the
// steady epoch of the estimate.
func (r *Report) EpochPlot(j *journal.Journal, device string) (chart.Chart, error) {
	c := chart.Lines{Frame: chart.Frame{Title: r.Job + " on " + device + ": time of each epoch", X: "epoch", Y: "wall time (s)"}}
	last := 0.0
	draw := func(run *journal.Run, s *chart.Series) {
		marks := run.Timeline()
		for i, m := range marks[1:] {
			s.X, s.Y = append(s.X, m.Number), append(s.Y, (m.Seconds-marks[i].Seconds)/(m.Number-marks[i].Number))
			last = max(last, m.Number)
		}
	}
	c.Series = append(r.curves(j, device, journal.Full, "whole run", 0, draw), r.curves(j, device, journal.Sample, "sample", 0, draw)...)
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
	c.Series = r.curves(j, device, journal.Full, "whole run", r.Epochs, func(run *journal.Run, s *chart.Series) {
		for _, m := range run.Timeline() {
			s.X, s.Y = append(s.X, m.Number), append(s.Y, m.Seconds)
		}
		s.X, s.Y = append(s.X, float64(r.Epochs)), append(s.Y, run.Wall)
	})
	// The interval is known of the total; on the way there it grows as the time does.
	n, total := float64(r.Epochs), d.Wall.Value
	s := chart.Series{Name: "estimate, 95 %", X: []float64{0, n, n}, Y: []float64{d.Segments.Setup, max(d.Segments.Setup, total-d.Segments.Teardown), total}}
	for _, value := range s.Y {
		if d.Wall.Bounded() {
			s.Low, s.High = append(s.Low, value/total*d.Wall.Low), append(s.High, value/total*d.Wall.High)
		}
	}
	c.Series = append(c.Series, s)
	return c, nil
}
