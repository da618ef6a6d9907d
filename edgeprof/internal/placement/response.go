package placement

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// Answer is the answer to a profiling request, in the original's form. The three lists
// are not part of the original; nil leaves one out.
type Answer struct {
	request    *Request
	Fastest    Candidate
	Candidates []Candidate
	Excluded   []device.Exclusion
	Warnings   []string
}

// Answer returns the answer to a request: the device that runs the model fastest. It
// contains every member of the request, each number with its digits.
func (r *Request) Answer(fastest Candidate) Answer {
	return Answer{request: r, Fastest: fastest}
}

// Write writes the answer, indented by two, with a final newline. Its keys and the
// members of the request are sorted by name; the keys within a member keep the request's
// order. Keys, text and numbers of the request are copied.
func (a Answer) Write(to *bytes.Buffer) error {
	w := writer{to: to}
	to.WriteString("{\n  \"message\": \"Profiling data received\",\n  \"model_characteristics\": {\n    ")
	for i, m := range a.request.members {
		if i > 0 {
			to.WriteString(",\n    ")
		}
		to.Write(m.key)
		to.WriteString(": ")
		w.member(m.value)
	}
	to.WriteString("\n  }")
	if a.Candidates != nil {
		w.list("profiling_candidates", a.Candidates)
	}
	if a.Excluded != nil {
		w.list("profiling_excluded", a.Excluded)
	}
	to.WriteString(",\n  \"profiling_prediction\": {\n    \"class\": ")
	w.text(a.Fastest.Class)
	to.WriteString(",\n    \"device_model\": ")
	w.text(a.Fastest.Model)
	to.WriteString(",\n    \"model\": ")
	to.Write(valueOf(a.request.members, "model"))
	to.WriteString(",\n    \"node\": ")
	w.text(a.Fastest.Node)
	to.WriteString(",\n    \"node_uuid\": ")
	w.text(a.Fastest.UUID)
	to.WriteString(",\n    \"predicted_execution_time\": ")
	w.number(a.Fastest.Seconds.Value)
	to.WriteString("\n  }")
	if a.Warnings != nil {
		to.WriteString(",\n  \"profiling_warnings\": [")
		for i, warning := range a.Warnings {
			to.WriteString(separators[min(i, 1)])
			w.text(warning)
		}
		to.WriteString(closing[min(len(a.Warnings), 1)])
	}
	to.WriteString(",\n  \"status\": \"success\"\n}\n")
	return w.err
}

// separators stand before the first and the further texts of a list, closing after an
// empty list and another.
var separators, closing = [...]string{"\n    ", ",\n    "}, [...]string{"]", "\n  ]"}

// writer writes the parts of an answer. It keeps the first error.
type writer struct {
	to  *bytes.Buffer
	err error
}

// value writes a value of our own.
func (w *writer) value(v any) {
	e := json.NewEncoder(w.to)
	e.SetEscapeHTML(false)
	e.SetIndent("  ", "  ")
	if err := e.Encode(v); err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	w.to.Truncate(w.to.Len() - 1) // the newline that Encode adds
}

// number writes a number.
func (w *writer) number(v float64) {
	text, err := json.Marshal(v)
	w.err = cmp.Or(w.err, err)
	w.to.Write(text)
}

// list writes a list that the original does not have.
func (w *writer) list(name string, v any) {
	w.to.WriteString(",\n  \"" + name + "\": ")
	w.value(v)
}

// text writes a string of our own, without encoding/json if it needs no escape.
func (w *writer) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			w.value(s)
			return
		}
	}
	w.to.WriteByte('"')
	w.to.WriteString(s)
	w.to.WriteByte('"')
}

// member writes the value of a request's member, known to be JSON.
func (w *writer) member(raw []byte) {
	if raw[0] != '{' && raw[0] != '[' {
		w.to.Write(raw)
	} else {
		w.err = cmp.Or(w.err, json.Indent(w.to, raw, "    ", "  "))
	}
}
