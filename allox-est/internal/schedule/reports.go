package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/shared/uncertainty"
)

// report is the part of an allox-est report that a scheduler uses. A user and an arrival may
// be added to it.
type report struct {
	Job     string  `json:"job"`
	User    string  `json:"user"`
	Arrival float64 `json:"arrival_seconds"`
	Devices map[string]struct {
		Wall   *uncertainty.Prediction `json:"wall_seconds"`
		Actual []struct {
			Wall float64 `json:"wall_seconds"`
		} `json:"actual"`
		Error string `json:"error"`
	} `json:"devices"`
}

// ErrUnproven is the warning that a report holds no full run: the job's
// estimate is then taken for its true time.
var ErrUnproven = errors.New("no full run: the estimate is used as the true time")

// readReports reads reports of allox-est: JSON objects, one after the other, or arrays of
// them. A scheduler goes by the estimated wall time of each device; the mean of the report's
// full runs, where it has any, is the true time. The line of a diagnostic is the number of
// the report.
func readReports(r io.Reader, file string) (*Workload, error) {
	w := &Workload{}
	for dec := json.NewDecoder(r); ; {
		var one json.RawMessage
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			return w, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: report %d: %w", file, w.Counts.Read+1, err)
		}
		var list []json.RawMessage
		if json.Unmarshal(one, &list) != nil {
			list = []json.RawMessage{one}
		}
		for _, text := range list {
			n := w.Counts.Read + 1
			job, warning, err := parseReport(text)
			w.add(job, err, file, n)
			if warning != nil {
				w.Warnings = append(w.Warnings, fmt.Errorf("%s:%d: %w", file, n, warning))
			}
		}
	}
}

func parseReport(text []byte) (job Record, warning, err error) {
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return job, nil, fmt.Errorf("not a report: %w", err)
	}
	if len(r.Devices) == 0 {
		return job, nil, errors.New("not a report: no devices")
	}
	job = Record{Name: r.Job, User: r.User, Arrival: r.Arrival}
	for d := range Device(Devices) {
		job.Reported[d] = math.Inf(1)
		device := r.Devices[d.String()]
		if device.Wall != nil && device.Error == "" {
			job.Reported[d] = device.Wall.Value
		}
		job.Actual[d] = job.Reported[d]
		var runs []float64
		for _, run := range device.Actual {
			runs = append(runs, run.Wall)
		}
		switch {
		case math.IsInf(job.Reported[d], 1):
		case len(runs) == 0:
			warning = fmt.Errorf("job %q: %w", r.Job, ErrUnproven)
		default:
			job.Actual[d] = floats.Sum(runs) / float64(len(runs))
		}
	}
	return job, warning, nil
}
