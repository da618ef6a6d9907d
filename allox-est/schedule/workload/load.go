package workload

import (
	"bufio"
	"errors"
	"io"
	"os"
	"unicode"
)

// Load reads a file of simulator records or of reports of allox-est; which of
// them it is, its first character tells.
func Load(path string) (*Workload, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		c, _, err := r.ReadRune()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err == nil && unicode.IsSpace(c) {
			continue
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		if c == '{' || c == '[' {
			return ReadReport(f, path)
		}
		return Read(f, path)
	}
}

// Merge returns the jobs of several workloads as one. Where an id occurs
// twice, all jobs are numbered anew from 0, in order of arrival.
func Merge(workloads ...*Workload) *Workload {
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
	seen := make(map[int]bool)
	for _, j := range all.Jobs {
		if seen[j.ID] {
			for i := range all.Jobs {
				all.Jobs[i].ID = i
			}
			break
		}
		seen[j.ID] = true
	}
	return all
}
