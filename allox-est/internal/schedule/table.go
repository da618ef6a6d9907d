package schedule

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/foretime/foretime/shared/dataset"
)

// row is a job of a table. The true seconds on a device are the estimated ones where they
// are not known; the job cannot run where these are missing too.
type row struct {
	Job       string    `dataset:"job,optional"`
	User      string    `dataset:"user,optional"`
	Arrival   *float64  `dataset:"arrival"` // seconds
	CPU       *float64  `dataset:"cpu"`
	CPUActual *float64  `dataset:"cpu_actual"`
	GPU       *float64  `dataset:"gpu"`
	GPUActual *float64  `dataset:"gpu_actual"`
	Others    []float64 `dataset:",rest"`
}

// readTable reads a CSV with a header and a row per job. A column that is not one of row
// is an error.
func readTable(in io.Reader, file string) (*Workload, error) {
	rows, err := dataset.NewReader[row](in, file, dataset.CSV, dataset.Options{})
	if err != nil {
		return nil, err
	}
	if unknown := rows.RestColumns(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s:1: unknown columns: %s", file, strings.Join(unknown, ", "))
	}
	w := &Workload{}
	for rows.Scan() {
		r := rows.Row()
		job := Record{ID: rows.Counts().Read, Name: r.Job, User: r.User, Arrival: valueOr(r.Arrival, 0)}
		job.Reported = [Devices]float64{valueOr(r.CPU, math.Inf(1)), valueOr(r.GPU, math.Inf(1))}
		job.Actual = job.Reported
		if r.CPU != nil {
			job.Actual[CPU] = valueOr(r.CPUActual, *r.CPU)
		}
		if r.GPU != nil {
			job.Actual[GPU] = valueOr(r.GPUActual, *r.GPU)
		}
		if err := job.check(); err != nil {
			rows.Reject(err.Error())
			continue
		}
		w.Jobs = append(w.Jobs, job)
	}
	w.Counts, w.Diagnostics = rows.Counts(), rows.Diagnostics()
	return w, rows.Err()
}

func valueOr(x *float64, otherwise float64) float64 {
	if x == nil {
		return otherwise
	}
	return *x
}
