package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/foretime/foretime/allox-est/estimate"
	"github.com/foretime/foretime/allox-est/jobspec"
	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/schedule"
)

// Record returns the job as a scheduling simulator takes it: for each device
// the true time and the error of the estimate. The true time is the mean of
// the whole runs; without any, the estimate stands for it with an error of 0,
// and the warning says so. A device without an estimate cannot run the job.
func (r *Report) Record(id int, user string, arrival float64) (job schedule.Record, warnings []error) {
	job = schedule.Record{ID: id, Name: r.Job, User: user, Arrival: arrival, Iterations: r.Epochs}
	job.On[schedule.CPU] = schedule.Demand{Units: float64(r.spec.Device(jobspec.CPU).Threads), Seconds: math.Inf(1)}
	job.On[schedule.GPU] = schedule.Demand{Units: float64(r.spec.Device(jobspec.GPU).Count), Seconds: math.Inf(1)}
	for _, d := range []schedule.Device{schedule.CPU, schedule.GPU} {
		reported, ok := r.Devices[d.String()]
		if !ok || reported.Estimate == nil {
			continue
		}
		on := &job.On[d]
		on.Memory = float64(reported.Conditions.PeakBytes) / (1 << 30)
		on.Seconds = reported.Wall.Value
		if reported.Validation == nil {
			warnings = append(warnings, fmt.Errorf("%s: %w", d, schedule.ErrUnproven))
			continue
		}
		on.Error = reported.RelativeError.Wall
		on.Seconds = reported.Wall.Value / (1 + on.Error)
	}
	return job, warnings
}

// WriteCSV writes the runs of the job in a journal, one in a row, times in
// seconds.
func (r *Report) WriteCSV(w io.Writer, j *journal.Journal) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"job", "device", "kind", "epochs", "start", "wall_seconds", "wall_uncontended_seconds", "cpu_seconds", "wait_seconds", "setup_seconds", "epoch_seconds", "teardown_seconds", "peak_bytes", "load", "exit", "error"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, name := range r.order {
		for _, kind := range []string{journal.Sample, journal.Full} {
			for _, run := range j.Of(r.key(name), kind) {
				row := []string{run.Name, run.Device, run.Kind, strconv.Itoa(run.Epochs), run.Start.Format(time.RFC3339Nano),
					number(run.Wall), number(estimate.QuietWall(run)), number(run.CPU), number(run.Wait), "", "", "",
					strconv.FormatInt(run.PeakBytes, 10), number(run.Load), strconv.Itoa(run.Exit), run.Error}
				if n := len(run.Laps); n > 2 {
					var sum float64
					for _, lap := range run.Laps[1 : n-1] {
						sum += lap
					}
					row[9], row[10], row[11] = number(run.Before+run.Laps[0]), number(sum/float64(n-2)), number(run.Laps[n-1]+run.After)
				}
				_ = out.Write(row)
			}
		}
	}
	out.Flush()
	return out.Error()
}
