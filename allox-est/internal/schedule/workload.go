package schedule

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode"

	"github.com/foretime/foretime/shared/dataset"
)

// Device is a kind of machine a job can run on.
type Device int

// The devices.
const (
	CPU Device = iota
	GPU
	Devices = 2 // how many there are
)

// String returns "cpu" or "gpu".
func (d Device) String() string { return [...]string{"cpu", "gpu"}[d] }

// Record is a job as it is submitted. It runs on one node of one device.
type Record struct {
	ID         int
	Name, User string           // for messages and results
	Arrival    float64          // seconds
	Actual     [Devices]float64 // true seconds, +Inf where the job cannot run
	Reported   [Devices]float64 // seconds by its estimate, likewise
}

// check returns why the job cannot be scheduled, or nil.
func (r *Record) check() error {
	switch {
	case !(r.Arrival >= 0) || math.IsInf(r.Arrival, 0):
		return fmt.Errorf("job %d: invalid arrival time", r.ID)
	case !(min(r.Actual[CPU], r.Actual[GPU], r.Reported[CPU], r.Reported[GPU]) > 0):
		return fmt.Errorf("job %d: time is not above zero", r.ID)
	case math.IsInf(min(r.Actual[CPU], r.Actual[GPU]), 1):
		return fmt.Errorf("job %d: can run on no device", r.ID)
	}
	return nil
}

// Workload is the jobs of a source in order of arrival. A row that is no job is a
// diagnostic with file and line.
type Workload struct {
	Jobs        []Record
	Counts      dataset.Counts // records read, used and dropped
	Diagnostics []*dataset.SyntaxError
	Warnings    []error
}

// Load reads reports of allox-est, a record file of the AlloX simulator or a CSV table, by
// the first character. Errors name the file.
func Load(in io.Reader, file string) (*Workload, error) {
	r := bufio.NewReader(in)
	head, err := r.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	read := readTable
	switch text := bytes.TrimLeftFunc(head, unicode.IsSpace); {
	case len(text) == 0:
	case text[0] == '{' || text[0] == '[':
		read = readReports
	case text[0] == '#' || text[0] == '%':
		read = readRecords
	}
	w, err := read(r, file)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(w.Jobs, func(a, b Record) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return w, nil
}

// add takes in a job and numbers it, or takes in what is wrong with it.
func (w *Workload) add(job Record, err error, file string, line int) {
	w.Counts.Read++
	job.ID = w.Counts.Read
	if err == nil {
		err = job.check()
	}
	if err != nil {
		w.Counts.Dropped++
		w.Diagnostics = append(w.Diagnostics, &dataset.SyntaxError{File: file, Line: line, Msg: err.Error()})
		return
	}
	w.Counts.Used++
	w.Jobs = append(w.Jobs, job)
}
