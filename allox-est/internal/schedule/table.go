package schedule

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/foretime/foretime/shared/uncertainty"
)

// ReadTable reads a CSV with a header and a row a job. Columns by name: job, its
// name; user and arrival (seconds), "default" and 0 where they are missing; and
// for each device the job's estimated seconds, empty where it cannot run. A
// column such as gpu_actual has the true seconds, which are the estimated ones
// otherwise; gpu_low and gpu_high the ends of the estimate's 95 % interval. Others
// are the names of the devices from [Other] on. A column of any other name is an
// error, a bad row a diagnostic.
func ReadTable(r io.Reader, file string, others ...string) (*Workload, error) {
	names, err := deviceNames(others)
	if err != nil {
		return nil, err
	}
	rows := csv.NewReader(r)
	rows.TrimLeadingSpace = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	known := []string{"job", "user", "arrival"}
	for _, name := range names {
		known = append(known, name, name+"_actual", name+"_low", name+"_high")
	}
	for i, name := range header {
		if !slices.Contains(known, name) || slices.Contains(header[:i], name) {
			return nil, fmt.Errorf("%s:1: column %q: want each of %v at most once", file, name, known)
		}
	}
	w := &Workload{}
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var bad *csv.ParseError
		if err != nil && !errors.As(err, &bad) {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		job := Record{ID: w.Counts.Read + 1, User: "default"}
		line := 0
		if bad != nil {
			line, err = bad.StartLine, bad.Err
		} else {
			line, _ = rows.FieldPos(0)
			err = job.fromRow(header, fields, names)
		}
		w.add(job, err, file, line)
	}
	w.sort()
	return w, nil
}

// fromRow takes the job of a row.
func (r *Record) fromRow(header, fields, names []string) error {
	numbers := map[string]float64{}
	for i, column := range header {
		switch text := fields[i]; {
		case column == "job":
			r.Name = text
		case text == "":
		case column == "user":
			r.User = text
		default:
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("column %s: %q is not a number", column, text)
			}
			numbers[column] = x
		}
	}
	r.Arrival = numbers["arrival"]
	for d, name := range names {
		r.On[d] = Demand{Seconds: math.Inf(1)}
		if reported, ok := numbers[name]; ok && !math.IsInf(reported, 1) {
			actual, known := numbers[name+"_actual"]
			if !known {
				actual = reported
			}
			interval := uncertainty.Prediction{Value: reported, Low: numbers[name+"_low"], High: numbers[name+"_high"], Level: 0.95}
			r.On[d] = Demand{Seconds: actual, Error: reported/actual - 1, Doubt: doubt(interval)}
		}
	}
	return r.Check()
}

// WriteTable writes jobs of CPUs and GPUs as a table that [ReadTable] reads.
func WriteTable(w io.Writer, jobs []Record) error {
	rows := csv.NewWriter(w)
	_ = rows.Write([]string{"job", "user", "arrival", "cpu", "cpu_actual", "gpu", "gpu_actual"}) // Error returns it
	for i := range jobs {
		j := &jobs[i]
		row := []string{j.Name, j.User, number(j.Arrival)}
		for d := range Other {
			row = append(row, number(j.Reported(d)), number(j.Seconds(d)))
		}
		_ = rows.Write(row)
	}
	rows.Flush()
	return rows.Error()
}

// number formats a time, to be read back equal; "" if the job cannot run.
func number(x float64) string {
	if math.IsInf(x, 1) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
