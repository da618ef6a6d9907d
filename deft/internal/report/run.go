package report

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrNoModels is returned for a run without models.
var ErrNoModels = errors.New("no models")

// Run is the outcome of an experiment.
type Run struct {
	Models []Model `json:"models"` // in the order of the configuration

	Policy  string  `json:"policy"`
	Device  string  `json:"device"` // sim or cuda
	Clock   string  `json:"clock"`  // virtual or real
	Seconds float64 `json:"seconds"`
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
	// Inflation is the mean completion time over that alone, less 1; nil if that is not known.
	Inflation *float64 `json:"-"`
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

// CompareWith sets the inflation of each model whose run alone on the device, at the same place
// of the configuration, is known.
func (r *Run) CompareWith(alone *Run) {
	for i := range r.Models {
		m := &r.Models[i]
		if i >= len(alone.Models) || alone.Models[i].Name != m.Name || !(alone.Models[i].JCT.Mean > 0) {
			continue
		}
		inflation := m.JCT.Mean/alone.Models[i].JCT.Mean - 1
		m.Inflation = &inflation
	}
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

// Save writes the run to a file.
func (r *Run) Save(path string) error { return file.WriteJSON(path, r) }
