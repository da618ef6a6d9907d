package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Result is a stored measurement: a JSON file in a directory results next to the
// documents that show it.
type Result struct {
	Command string          `json:"command"` // a shell command at the root of the checkout
	Machine string          `json:"machine"`
	Commit  string          `json:"commit"`
	Date    string          `json:"date"`
	Count   string          `json:"count"`  // number and kind of repetitions
	Stored  string          `json:"stored"` // the command that stored it
	Figures json.RawMessage `json:"figures"`

	// Repeats says that Command prints the same figures on every run and machine.
	// It is false for durations.
	Repeats bool `json:"repeats,omitempty"`
	// Needs lists the files and directories that Command requires; a $VARIABLE is
	// replaced by its value.
	Needs []string `json:"needs,omitempty"`
	// Other are figures that Command does not print: goals, and results of another
	// program or an earlier version.
	Other json.RawMessage `json:"other,omitempty"`
}

// errResult is returned for a stored result without its origin.
var errResult = errors.New("a stored result has command, machine, commit, date, count, stored and figures")

// ReadResult reads a stored result, which must state its origin.
func ReadResult(file string) (Result, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Result{}, err
	}
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		return Result{}, fmt.Errorf("%s: %w", file, err)
	}
	if slices.Contains([]string{r.Command, r.Machine, r.Commit, r.Date, r.Count, r.Stored, string(r.Figures)}, "") {
		return Result{}, fmt.Errorf("%s: %w", file, errResult)
	}
	return r, nil
}
