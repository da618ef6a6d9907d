package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Row is an estimate of one quantity on one device, in seconds.
type Row struct {
	Device, Clock string
	uncertainty.Prediction
	Actual *float64 // mean of the whole runs; nil without any
	Error  float64  // of the value, relative to Actual
}

// Rows returns the report as a table, a row for each device and quantity.
func (r *Report) Rows() []Row {
	var rows []Row
	for _, name := range r.order {
		d := r.Devices[name]
		if d.Estimate == nil {
			continue
		}
		for _, c := range clocks {
			row := Row{Device: name, Clock: c.name, Prediction: c.estimate(d.Estimate)}
			if d.Validation != nil {
				if off, known := d.RelativeError[c.key]; known {
					actual := row.Value / (1 + off)
					row.Actual, row.Error = &actual, off
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// mostWarnings is the number of warnings that are shown, the most important first.
const mostWarnings = 2

// Notes returns the lines below the table: the method of each estimate, devices without one,
// and warnings.
func (r *Report) Notes() []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	unit := cmp.Or(r.Unit, jobspec.Epoch)
	for _, name := range r.order {
		d := r.Devices[name]
		if d.Estimate == nil {
			say("%s: %s", name, d.Error)
			continue
		}
		say("%s: %s, %.1f %% of %s and %.1f %% of the time; method %s; 95 %% intervals",
			name, plural.Count(d.Samples, "sample"), 100*d.SampledFraction, plural.Count(r.Epochs, unit), 100*d.SampledTimeFraction, d.Method)
		say("%s: memory at most %s in the samples", name, humanize.IBytes(uint64(d.Conditions.PeakBytes)))
		if peak := d.Conditions.GPUPeak; peak > 0 {
			say("%s: memory on GPUs at most %s in the samples", name, humanize.IBytes(uint64(peak)))
		}
		if d.Past > 0 {
			say("%s: %s corrected the wall time", name, plural.Count(d.Past, "earlier whole run"))
		}
	}
	shown := len(r.Unsure)
	var rest []string
	for _, warning := range r.Warnings {
		switch {
		case slices.Contains(r.Unsure, warning):
		case shown < mostWarnings:
			say("warning: %s", warning)
			shown++
		default:
			rest = append(rest, warning)
		}
	}
	if len(rest) > 0 {
		say("more warnings: %d; --json has them all", len(rest))
	}
	return notes
}
