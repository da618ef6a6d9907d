package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/foretime/foretime/shared/uncertainty"
)

// report is the part of an allox-est report that a scheduler uses.
type report struct {
	Job     string                  `json:"job"`
	User    string                  `json:"user"`
	Arrival float64                 `json:"arrival_seconds"`
	Devices map[string]reportDevice `json:"devices"`

	// A prediction of a configuration has these two in place of devices.
	Configuration map[string]string       `json:"configuration"`
	Predicted     *uncertainty.Prediction `json:"wall_seconds"`
}

type reportDevice struct {
	Wall   *uncertainty.Prediction `json:"wall_seconds"`
	Actual []struct {
		Wall float64 `json:"wall_seconds"`
	} `json:"actual"`
	Error string `json:"error"`
}

// ErrUnproven is the warning that a report holds no full run: the job's
// estimate is then taken for its true time.
var ErrUnproven = errors.New("no full run: the estimate is used as the true time")

// ReadReport reads reports of allox-est: one JSON object, several one after
// the other, or an array of them. The estimated wall time of each device is
// what a scheduler goes by; the mean of the report's full runs, where it has
// any, is the true time. Jobs are numbered in the order read; "user" and
// "arrival_seconds" may be added to a report, and are "default" and 0
// otherwise. What predict says of a configuration is a report of its device; those
// that follow each other with the same "job" added are of one job. Others are the names
// of the devices from [Other] on. A report without a usable device is a diagnostic whose
// line is the number of the report.
func ReadReport(r io.Reader, file string, others ...string) (*Workload, error) {
	names, err := deviceNames(others)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for dec := json.NewDecoder(r); ; {
		var one json.RawMessage
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: report %d: %w", file, len(all)+1, err)
		}
		var list []json.RawMessage
		if json.Unmarshal(one, &list) != nil {
			list = []json.RawMessage{one}
		}
		all = append(all, list...)
	}
	w := &Workload{}
	for i, one := range all {
		job, warning, err := parseReport(one, i+1, names)
		if !w.add(job, err, file, i+1) {
			continue
		}
		if warning != nil {
			w.Warnings = append(w.Warnings, fmt.Errorf("%s:%d: %w", file, i+1, warning))
		}
		if last := len(w.Jobs) - 1; last > 0 && w.Jobs[last-1].merge(job) {
			w.Jobs = w.Jobs[:last]
		}
	}
	w.sort()
	return w, nil
}

// deviceNames returns the names of the devices, in their order.
func deviceNames(others []string) ([]string, error) {
	names := append([]string{CPU.String(), GPU.String()}, others...)
	if len(names) > Devices {
		return nil, fmt.Errorf("%d kinds of devices, want at most %d", len(names), Devices)
	}
	return names, nil
}

func parseReport(raw []byte, id int, names []string) (job Record, warning, err error) {
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		return job, nil, fmt.Errorf("not a report: %w", err)
	}
	if device := r.Configuration["device"]; device != "" && r.Predicted != nil {
		r.Devices = map[string]reportDevice{device: {Wall: r.Predicted}}
	}
	if len(r.Devices) == 0 {
		return job, nil, errors.New("not a report: no devices")
	}
	job = Record{ID: id, Name: r.Job, User: r.User, Arrival: r.Arrival}
	if job.User == "" {
		job.User = "default"
	}
	for d, name := range names {
		demand := Demand{Seconds: math.Inf(1)}
		if device, ok := r.Devices[name]; ok && device.Wall != nil && device.Error == "" {
			demand.Doubt = doubt(*device.Wall)
			if demand.Seconds = device.Wall.Value; len(device.Actual) == 0 {
				warning = fmt.Errorf("job %q: %w", r.Job, ErrUnproven)
			} else {
				sum := 0.0
				for _, run := range device.Actual {
					sum += run.Wall
				}
				demand.Seconds = sum / float64(len(device.Actual))
				demand.Error = device.Wall.Value/demand.Seconds - 1
			}
		}
		job.On[d] = demand
	}
	return job, warning, job.Check()
}

// merge adds the demands of the same job on other devices, and reports whether it is the same
// job.
func (r *Record) merge(other Record) bool {
	if r.Name == "" || r.Name != other.Name || r.User != other.User || r.Arrival != other.Arrival {
		return false
	}
	for d := range r.On {
		if !math.IsInf(r.On[d].Seconds, 1) && !math.IsInf(other.On[d].Seconds, 1) && !r.absent(Device(d)) {
			return false
		}
	}
	for d := range r.On {
		if !math.IsInf(other.On[d].Seconds, 1) {
			r.On[d] = other.On[d]
		}
	}
	return true
}
