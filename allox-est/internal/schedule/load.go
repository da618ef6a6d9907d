package schedule

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode"

	"github.com/foretime/foretime/shared/file"
)

// Load reads a file, or a pipe, with From.
func Load(path string, others ...string) (*Workload, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return From(f, path, others...)
}

// From reads reports of allox-est, a record file of the AlloX simulator or a CSV table, by
// the first character. Errors name the source; others has the reports' names of the devices
// from [Other] on.
func From(in io.Reader, name string, others ...string) (*Workload, error) {
	r := bufio.NewReader(in)
	head, err := r.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if text := bytes.TrimLeftFunc(head, unicode.IsSpace); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return ReadReport(r, name, others...)
	}
	if text := bytes.TrimLeftFunc(head, unicode.IsSpace); len(text) > 0 && (text[0] == '#' || text[0] == '%') {
		return ReadRecords(r, name)
	}
	return ReadTable(r, name, others...)
}

// Merge returns the jobs of several workloads as one, renumbered from 0 in order of arrival;
// jobs of one workload keep their numbers.
func Merge(workloads ...*Workload) *Workload {
	if len(workloads) == 1 {
		return workloads[0]
	}
	all := &Workload{}
	for _, w := range workloads {
		all.Jobs = append(all.Jobs, w.Jobs...)
		all.Counts.Read += w.Counts.Read
		all.Counts.Used += w.Counts.Used
		all.Counts.Dropped += w.Counts.Dropped
		all.Diagnostics = append(all.Diagnostics, w.Diagnostics...)
		all.Warnings = append(all.Warnings, w.Warnings...)
	}
	all.sort()
	for i := range all.Jobs {
		all.Jobs[i].ID = i
	}
	return all
}
