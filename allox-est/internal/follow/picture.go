package follow

import (
	"errors"

	"github.com/foretime/foretime/shared/chart"
)

// ErrNothingKnown is returned for a picture of a run of which nothing was known.
var ErrNothingKnown = errors.New("no estimate was made during the run")

// Picture shows the whole time as it was known at the end of each epoch, with its
// interval, and where the run ended.
func Picture(name string, updates []Update) (chart.Chart, error) {
	c := chart.Lines{Frame: chart.Frame{Title: name + ": the whole run, as known on the way", X: "epochs done", Y: "time of the whole run (s)"}}
	known := chart.Series{Name: "estimate, 95 %"}
	for _, u := range updates {
		if u.Total != nil {
			known.X, known.Y = append(known.X, u.Done), append(known.Y, u.Total.Value)
			known.Low, known.High = append(known.Low, u.Total.Low), append(known.High, u.Total.High)
		}
	}
	if len(known.X) == 0 {
		return nil, ErrNothingKnown
	}
	c.Series = append(c.Series, known)
	if last := updates[len(updates)-1]; last.Done == float64(last.Epochs) {
		c.Series = append(c.Series, chart.Series{Name: "last epoch ended", X: []float64{known.X[0], last.Done}, Y: []float64{last.Elapsed, last.Elapsed}})
	}
	return c, nil
}
