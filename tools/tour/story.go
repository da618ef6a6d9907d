package tour

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Line is one line of a tour's story: a quantity, its prediction, and its
// measurement.
type Line struct {
	What      string                  `json:"what"`
	Predicted *uncertainty.Prediction `json:"predicted,omitempty"` // in Unit, made before the measurement; nil if there is none
	Measured  float64                 `json:"measured"`            // in Unit
	Unit      string                  `json:"unit"`
	// Unmeasured says why there is no measurement; "" if there is one.
	Unmeasured string `json:"unmeasured,omitempty"`

	// If many were predicted, Measured is their median.
	Held int `json:"held,omitempty"` // how many of them lay inside
	Of   int `json:"of,omitempty"`
}

// Inside says whether the measurement was inside the predicted interval: "yes" or
// "no", a count for many, or "" if nothing was predicted.
func (l Line) Inside() string {
	switch {
	case l.Predicted == nil || l.Unmeasured != "":
		return ""
	case l.Of > 0:
		return fmt.Sprintf("%d of %d", l.Held, l.Of)
	case l.Predicted.Contains(l.Measured):
		return "yes"
	}
	return "no"
}

// Measurement returns the measured value, as text.
func (l Line) Measurement() string {
	if l.Unmeasured != "" {
		return ""
	}
	return Number(l.Measured) + " " + l.Unit
}

// Prediction returns the predicted value with its interval and level, as text.
func (l Line) Prediction() string {
	if l.Predicted == nil {
		return ""
	}
	p := l.Predicted
	return fmt.Sprintf("%s %s [%s, %s] %.0f %%", Number(p.Value), l.Unit, Number(p.Low), Number(p.High), 100*p.Level)
}

// Story returns the lines of all chapters, in order.
func (r *Results) Story() []Line {
	var lines []Line
	for _, c := range r.Chapters {
		lines = append(lines, c.Story...)
	}
	return lines
}

// Verdict returns the coverage and the median width of the predictions.
func (r *Results) Verdict() string {
	var inside, of, held, many int
	var widths []float64 // relative to the predicted value, in percent
	for _, l := range r.Story() {
		if l.Predicted == nil || l.Unmeasured != "" {
			continue
		}
		widths = append(widths, 100*l.Predicted.Width()/l.Predicted.Value)
		held, many = held+l.Held, many+l.Of
		if l.Of == 0 {
			of++
		}
		if l.Inside() == "yes" {
			inside++
		}
	}
	if len(widths) == 0 {
		return "nothing was predicted"
	}
	text := fmt.Sprintf("%d of %d measurements lay inside their intervals", inside, of)
	if many > 0 {
		text += fmt.Sprintf(", and %.0f %% of %d tasks and jobs", 100*float64(held)/float64(many), many)
	}
	return fmt.Sprintf("%s; median width %.0f %%", text, stats.Median(widths))
}

// WriteStory prints the story as a table, with the verdict, what could not be measured,
// and the machine below it.
func (r *Results) WriteStory(w io.Writer) error {
	table := cli.Table{Header: []string{"tool", "what", "predicted", "measured", "in interval"}}
	for _, c := range r.Chapters {
		name := c.Module
		for _, l := range c.Story {
			table.Add(name, l.What, l.Prediction(), l.Measurement(), l.Inside())
			name = ""
		}
	}
	if _, err := table.WriteTo(w); err != nil {
		return err
	}
	record := r.missingMeasurements()
	if r.Record.Outcomes > 0 {
		record += fmt.Sprintf("record: %d of %d answers in tours here were inside their interval\n", r.Record.Held, r.Record.Outcomes)
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s%s\n", r.Verdict(), record, r.where())
	return err
}

// missingMeasurements returns a line for each reason why lines have no measurement.
func (r *Results) missingMeasurements() string {
	var reasons []string
	for _, c := range r.Chapters {
		for _, l := range c.Story {
			reason := c.Module + ": " + l.Unmeasured + "\n"
			if l.Unmeasured != "" && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return strings.Join(reasons, "")
}

// where returns the machine and the duration of the tour.
func (r *Results) where() string {
	return fmt.Sprintf("%.0f s on %d x %s, %s, commit %s, load %.1f", r.Seconds, r.Machine.Cores, r.Machine.CPU, r.Machine.Go, r.Commit, r.Machine.Load1)
}
