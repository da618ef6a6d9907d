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
// otherwise; gpu_low and gpu_high the ends of the estimate's 95 % interval. Others are the names of the devices from [Other] on. A column of any
// other name is an error, a bad row a diagnostic.
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
		w.Counts.Read++
		job := Record{ID: w.Counts.Read, User: "default", Iterations: 1}
		if err == nil {
			err = job.fromRow(header, fields, names)
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			w.drop(file, line, err)
			continue
		}
		w.Counts.Used++
		w.Jobs = append(w.Jobs, job)
	}
	w.sort()
	return w, nil
}

// fromRow takes the job of a row.
func (r *Record) fromRow(header, fields, names []string) error {
	cells := map[string]string{}
	for i, name := range header {
		cells[name] = fields[i]
	}
	number := func(column string, missing float64) (float64, error) {
		if cells[column] == "" {
			return missing, nil
		}
		x, err := strconv.ParseFloat(cells[column], 64)
		if err != nil {
			return 0, fmt.Errorf("column %s: %q is no number", column, cells[column])
		}
		return x, nil
	}
	if r.Name = cells["job"]; cells["user"] != "" {
		r.User = cells["user"]
	}
	var err error
	if r.Arrival, err = number("arrival", 0); err != nil {
		return err
	}
	for d, name := range names {
		reported, err := number(name, math.Inf(1))
		if err != nil {
			return err
		}
		actual, err := number(name+"_actual", reported)
		if err != nil {
			return err
		}
		if r.On[d] = (Demand{Units: 1, Seconds: reported}); !math.IsInf(reported, 1) {
			low, errLow := number(name+"_low", 0)
			high, errHigh := number(name+"_high", 0)
			if err := errors.Join(errLow, errHigh); err != nil {
				return err
			}
			r.On[d] = Demand{Units: 1, Seconds: actual, Error: reported/actual - 1, Doubt: doubt(uncertainty.Prediction{Value: reported, Low: low, High: high, Level: 0.95})}
		}
	}
	return r.Check()
}
