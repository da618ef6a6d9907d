package simulator

import (
	"context"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// File is the settings file that a search writes: the cluster and its scheduler, and the range
// of time they were fitted on.
type File struct {
	Config
	Zone  string   `json:"zone"`
	From  int64    `json:"train_from"` // Unix seconds, inclusive
	To    int64    `json:"train_to"`   // Unix seconds, exclusive
	Loss  float64  `json:"loss"`
	Train *Quality `json:"train,omitempty"`
	Held  *Quality `json:"held_out,omitempty"`
	All   *Quality `json:"all,omitempty"` // both ranges together
}

// Judge simulates the jobs submitted from four weeks before the training range
// (WarmDays) to an instant, and fills in Train; where the instant is past the
// training range, Held, from there to the instant, and All too.
func (f *File) Judge(ctx context.Context, jobs []trace.Job, end int64) error {
	t := trace.Trace{Jobs: jobs}
	w, err := NewWorkload(t.Between(f.From-WarmDays*86400, end), f.Config)
	if err != nil {
		return err
	}
	r, err := w.Simulate(ctx, nil)
	if err != nil {
		return err
	}
	quality := func(from, to int64) *Quality { q := r.MetricsBetween(from, to).Quality; return &q }
	f.Train = quality(f.From, f.To)
	if end > f.To {
		f.Held, f.All = quality(f.To, end), quality(f.From, end)
	}
	return nil
}
