package placement

import (
	"encoding/json"
	"io"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// Answer is the answer to a profiling request, in the original's form. The three lists
// are not part of the original; nil leaves one out.
type Answer struct {
	Message    string                     `json:"message"`
	Request    map[string]json.RawMessage `json:"model_characteristics"`
	Candidates []Candidate                `json:"profiling_candidates,omitzero"`
	Excluded   []device.Excluded          `json:"profiling_excluded,omitzero"`
	Fastest    Fast                       `json:"profiling_prediction"`
	Warnings   []string                   `json:"profiling_warnings,omitzero"`
	Status     string                     `json:"status"`
}

// Fast is the device that runs the model fastest, with the seconds of one inference.
type Fast struct {
	Class       string          `json:"class"`
	DeviceModel string          `json:"device_model"`
	Model       json.RawMessage `json:"model"` // the request's
	Node        string          `json:"node"`
	UUID        string          `json:"node_uuid"`
	Seconds     float64         `json:"predicted_execution_time"`
}

// Answer returns the answer to a request. It contains every member of the request, each
// number with its digits.
func (r *Request) Answer(c Candidate) Answer {
	return Answer{
		Message: "Profiling data received", Request: r.members, Status: "success",
		Fastest: Fast{c.Class, c.Model, r.members["model"], c.Node, c.UUID, c.Seconds.Value},
	}
}

// Write writes the answer: keys sorted, indented by two, with a final newline.
func (a Answer) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(a)
}
