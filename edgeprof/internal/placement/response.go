package placement

import (
	"encoding/json"
	"io"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// Answer is the answer to a profiling request, in the original's form: its keys are sorted.
// The three lists are not part of the original; nil leaves one out.
type Answer struct {
	Message         string                     `json:"message"`
	Characteristics map[string]json.RawMessage `json:"model_characteristics"`
	Candidates      []Candidate                `json:"profiling_candidates,omitzero"`
	Excluded        []device.Exclusion         `json:"profiling_excluded,omitzero"`
	Fastest         Placement                  `json:"profiling_prediction"`
	Warnings        []string                   `json:"profiling_warnings,omitzero"`
	Status          string                     `json:"status"`
}

// Placement is the device that runs a model fastest, in the original's form.
type Placement struct {
	Class   string          `json:"class"`
	Device  string          `json:"device_model"`
	Model   json.RawMessage `json:"model"`
	Node    string          `json:"node"`
	UUID    string          `json:"node_uuid"`
	Seconds float64         `json:"predicted_execution_time"`
}

// Answer returns the answer to a request: the device that runs the model fastest. It
// contains every member of the request, each number with its digits.
func (r *Request) Answer(fastest Candidate) Answer {
	return Answer{
		Message: "Profiling data received", Status: "success", Characteristics: r.members,
		Fastest: Placement{fastest.Class, fastest.Model, r.members["model"], fastest.Node, fastest.UUID, fastest.Seconds.Value},
	}
}

// Write writes the answer, indented by two, with a final newline. The members of the request
// are sorted by name; the keys within a member keep the request's order.
func (a Answer) Write(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(a)
}
