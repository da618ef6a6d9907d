package experiment

import "fmt"

// Error is a configuration that cannot be run, with the place of the fault.
type Error struct {
	File   string
	Line   int    // from 1; that of the object where a field is absent
	Field  string // as models[1].control.queue_limit.sync; empty for the text itself
	Reason string
}

// Error returns "file:line: field: reason".
func (e *Error) Error() string { return place(e.File, e.Line, e.Field) + e.Reason }

// Warning is a quirk of a configuration that can be run.
type Warning struct {
	File   string
	Line   int
	Field  string
	Reason string
}

// Error returns "file:line: field: reason".
func (w *Warning) Error() string { return place(w.File, w.Line, w.Field) + w.Reason }

func place(file string, line int, field string) string {
	if field == "" {
		return fmt.Sprintf("%s:%d: ", file, line)
	}
	return fmt.Sprintf("%s:%d: %s: ", file, line, field)
}
