package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Errors returned if there is nothing to report on or to compare.
var (
	// ErrNoModels is returned for a run without models.
	ErrNoModels = errors.New("no models")
	// ErrDeadlines is returned for deadlines that are not one of 0 or more for each log.
	ErrDeadlines = errors.New("want one deadline of 0 ms or more for each log")
	// ErrMismatch is returned for two runs of different models.
	ErrMismatch = errors.New("different models")
	// ErrShared is returned for a run whose models shared the device, in place of solo runs.
	ErrShared = errors.New("its models shared the device: want the solo runs of deft alone")
)

// Run is the outcome of an experiment.
type Run struct {
	Models []Model `json:"models"` // in the order of the configuration

	Policy  string  `json:"policy"`
	Device  string  `json:"device"` // sim or cuda
	Clock   string  `json:"clock"`  // virtual or real
	Seconds float64 `json:"seconds"`
	// Busy is the fraction of the time for which the device worked; nil if unknown.
	Busy *float64 `json:"busy,omitempty"`
	// Preemption summarises the times from the begin of a job until no kernel of the
	// clients that it stopped was on the device; nil without preemptions.
	Preemption *Summary `json:"preemption_ms,omitempty"`
	Jain       *float64 `json:"jain,omitempty"` // over device time per weight
	// Progress is Jain's index over time alone per time shared; of a run that was
	// compared.
	Progress *float64 `json:"jain_progress,omitempty"`
	// Decisions counts the policy's decisions.
	Decisions int      `json:"decisions,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

// Model is the outcome of one model, without the warm-up job except in the log.
type Model struct {
	Name       string  `json:"name"`
	Output     string  `json:"output"` // stem of its files
	Priority   int     `json:"priority"`
	Jobs       int     `json:"jobs"`
	JCT        Summary `json:"jct_ms"`
	Launches   int     `json:"launches"`
	Syncs      int     `json:"syncs"`    // synchronization points added
	StallMS    float64 `json:"stall_ms"` // in them and at the bound of launches in flight
	GateMS     float64 `json:"gate_ms"`  // at the closed gate
	GPUMS      float64 `json:"gpu_ms"`   // device time; an estimate if the device does not report it
	Throughput float64 `json:"jobs_per_s"`
	Weight     float64 `json:"weight"`
	MaxQueue   int     `json:"max_queue,omitempty"` // most launches in flight; absent where unknown
	DeadlineMS float64 `json:"deadline_ms,omitempty"`
	Missed     int     `json:"missed"` // jobs that ended after their deadline
	CSV        string  `json:"csv,omitempty"`
	// Job predicts the time of one job on an unknown host, in ms; only for a run on the
	// virtual clock.
	Job *uncertainty.Prediction `json:"job_ms,omitempty"`
	// Of a run that was compared: the mean completion time alone, and that shared
	// over it, less 1.
	AloneMS   *float64 `json:"alone_ms,omitempty"`
	Inflation *float64 `json:"inflation,omitempty"`
}

// Measure sets the counts, throughput and missed deadlines from the completion times of a
// model's jobs, in ms, which took span seconds together.
func (m *Model) Measure(times []float64, span float64) error {
	s, err := Summarize(times)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Output, err)
	}
	m.Jobs, m.JCT = s.Count, s
	if span > 0 {
		m.Throughput = float64(s.Count) / span
	}
	for _, ms := range times {
		if m.DeadlineMS > 0 && ms > m.DeadlineMS {
			m.Missed++
		}
	}
	return nil
}

// Load reads a run written by Save or deft run --json.
func Load(path string) (*Run, error) {
	text, err := file.ReadAll(path)
	if err != nil {
		return nil, err
	}
	r := &Run{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Models) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoModels)
	}
	for i, m := range r.Models {
		if m.Jobs < 1 {
			return nil, fmt.Errorf("%s: models[%d]: %w", path, i, ErrNoJobs)
		}
	}
	return r, nil
}

// LoadAlone reads the solo runs that deft alone wrote. The error matches ErrShared for a run
// of several models on one device.
func LoadAlone(path string) (*Run, error) {
	r, err := Load(path)
	if err == nil && len(r.Models) > 1 && (r.Busy != nil || r.Jain != nil) { // of a device that models share
		err = fmt.Errorf("%s: %w", path, ErrShared)
	}
	return r, err
}

// Save writes the run to a file.
func (r *Run) Save(path string) error { return file.WriteJSON(path, r) }

// FromLogs returns a run from logs of completion times, one for each model. Deadlines in
// ms, if given, are one for each log; 0 is none. The error matches ErrDeadlines for others.
func FromLogs(paths []string, deadlines []float64) (*Run, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("report: %w", ErrNoModels)
	}
	if n := len(deadlines); n > 0 && n != len(paths) {
		return nil, fmt.Errorf("report: %w: %d for %d logs", ErrDeadlines, n, len(paths))
	}
	for _, d := range deadlines {
		if !(d >= 0 && d <= math.MaxFloat64) {
			return nil, fmt.Errorf("report: %w: %v ms", ErrDeadlines, d)
		}
	}
	r := &Run{}
	for i, path := range paths {
		log, err := LoadLog(path)
		if err != nil {
			return nil, err
		}
		for _, d := range log.Diagnostics {
			r.Warnings = append(r.Warnings, d.Error())
		}
		m := Model{Name: stem(path), Output: stem(path), Weight: 1, CSV: path}
		if i < len(deadlines) {
			m.DeadlineMS = deadlines[i]
		}
		if err := m.Measure(log.Times(), log.Span()); err != nil {
			return nil, err
		}
		r.Seconds = max(r.Seconds, log.Span())
		r.Models = append(r.Models, m)
	}
	return r, nil
}
