package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/foretime/foretime/allox-est/jobspec"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Rows are the report as a table, a row for each device and quantity, under
// Header.
func (r *Report) Rows() [][]string {
	var rows [][]string
	for _, name := range r.order {
		d := r.Devices[name]
		if d.Estimate == nil {
			continue
		}
		v := d.Validation
		if v == nil {
			v = &Validation{}
		}
		row := func(what string, p uncertainty.Prediction, of func(Actual) float64, relative float64) {
			cells := []string{name, what, seconds(p.Value), seconds(p.Low), seconds(p.High), "", ""}
			if len(v.Actual) > 0 {
				var sum float64
				for _, a := range v.Actual {
					sum += of(a)
				}
				cells[5] = seconds(sum / float64(len(v.Actual)))
				cells[6] = fmt.Sprintf("%+.1f %%", 100*relative)
			}
			rows = append(rows, cells)
		}
		row("wall as now", d.Wall, func(a Actual) float64 { return a.Wall }, v.RelativeError.Wall)
		row("wall uncontended", d.Uncontended, func(a Actual) float64 { return a.Uncontended }, v.RelativeError.Uncontended)
		row("CPU", d.CPU, func(a Actual) float64 { return a.CPU }, v.RelativeError.CPU)
		if ref := d.Reference; ref != nil {
			row("CPU at reference speed", ref.CPU, func(a Actual) float64 { return a.Reference }, v.RelativeError.Reference)
		}
	}
	return rows
}

// Header names the columns of Rows; times are in seconds.
func Header() []string {
	return []string{"device", "seconds", "estimate", "low", "high", "actual", "error"}
}

// WriteHead prints what comes before the table: which devices' samples do not
// tell enough.
func (r *Report) WriteHead(w io.Writer) error {
	for _, warning := range r.unsure {
		if _, err := fmt.Fprintln(w, warning); err != nil {
			return err
		}
	}
	return nil
}

// WriteNotes prints what the table leaves out: how each estimate was made,
// devices without one, and warnings.
func (r *Report) WriteNotes(w io.Writer) error {
	unit := cmp.Or(r.Unit, jobspec.Epoch)
	for _, name := range r.order {
		d := r.Devices[name]
		var err error
		if d.Estimate == nil {
			_, err = fmt.Fprintf(w, "%s: %s\n", name, d.Error)
		} else {
			_, err = fmt.Fprintf(w, "%s: %d samples, %.1f %% of %d %ss and %.1f %% of the time; method %s; 95 %% intervals\n",
				name, d.Samples, 100*d.SampledFraction, r.Epochs, unit, 100*d.SampledTimeFraction, d.Method)
			err = errors.Join(err, d.writeCosts(w, name, unit))
		}
		if err != nil {
			return err
		}
	}
	for _, warning := range r.Warnings {
		if slices.Contains(r.unsure, warning) {
			continue
		}
		if _, err := fmt.Fprintf(w, "warning: %s\n", warning); err != nil {
			return err
		}
	}
	return nil
}

// writeCosts prints what the named costs add.
func (d *Device) writeCosts(w io.Writer, device, unit string) error {
	if d.Segments == nil {
		return nil
	}
	var err error
	for _, c := range d.Segments.Costs {
		if c.Seconds == nil {
			continue
		}
		when := ""
		if c.Every > 0 {
			when = fmt.Sprintf(" every %d %ss", c.Every, unit)
		}
		_, one := fmt.Fprintf(w, "%s: %s adds %s s%s\n", device, c.Name, seconds(*c.Seconds), when)
		err = errors.Join(err, one)
	}
	return err
}

// seconds prints four significant digits; a bound that is not known is a dash.
func seconds(x float64) string {
	if math.IsInf(x, 0) {
		return "-"
	}
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
