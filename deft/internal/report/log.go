package report

import (
	"errors"
	"fmt"

	"github.com/foretime/foretime/shared/dataset"
)

// ErrNoJobs is returned for a log without jobs after the warm-up.
var ErrNoJobs = errors.New("no jobs")

// Job is a row of a log.
type Job struct {
	StartNs        int64   `dataset:"start_timestamp_ns"`
	EndNs          int64   `dataset:"end_timestamp_ns"`
	Ms             float64 `dataset:"jct_ms"`
	AllocatedBytes *int64  `dataset:"max_allocated_gpu_memory_allocated_byte"`
	ReservedBytes  *int64  `dataset:"max_reserved_gpu_memory_byte"`
}

// Log holds the jobs of a log file.
type Log struct {
	Name        string // of its model, in charts
	WarmUp      Job
	Jobs        []Job // without the warm-up, in file order; one at least
	Diagnostics []*dataset.SyntaxError
}

// LoadLog reads a log. The error matches ErrNoJobs if it holds at most the warm-up.
func LoadLog(path string) (*Log, error) {
	t, err := dataset.Load[Job](path, dataset.Options{})
	if err != nil {
		return nil, err
	}
	l := &Log{Diagnostics: t.Diagnostics}
	for i, j := range t.Rows {
		if j.Ms < 0 || j.EndNs < j.StartNs {
			return nil, fmt.Errorf("%s: job %d ends before its start", path, i)
		}
	}
	if len(t.Rows) < 2 {
		return nil, fmt.Errorf("%s: %w after the warm-up: %v", path, ErrNoJobs, t.Counts)
	}
	l.WarmUp, l.Jobs = t.Rows[0], t.Rows[1:]
	return l, nil
}

// Times returns the completion times in ms, in file order.
func (l *Log) Times() []float64 {
	ms := make([]float64, len(l.Jobs))
	for i, j := range l.Jobs {
		ms[i] = j.Ms
	}
	return ms
}

// Span returns the time from the begin of the first job to the end of the last, in seconds.
func (l *Log) Span() float64 {
	first, last := l.Jobs[0].StartNs, l.Jobs[0].EndNs
	for _, j := range l.Jobs {
		first, last = min(first, j.StartNs), max(last, j.EndNs)
	}
	return float64(last-first) / 1e9
}
