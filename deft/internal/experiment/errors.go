package experiment

import "fmt"

// Error describes a configuration that cannot be run, with the place of the fault.
type Error struct {
	File   string
	Line   int    // from 1; that of the object where a field is absent
	Field  string // as models[1].control.queue_limit.sync; empty for the text itself
	Reason string
}

// Error returns "file:line: field: reason".
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Field, e.Reason)
}

// Warning describes a quirk of a configuration that can be run.
type Warning = Error
