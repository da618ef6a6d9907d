package follow

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// Board follows several jobs by their logs. It is safe for concurrent use.
type Board struct {
	mu   sync.Mutex
	jobs []*boarded
}

// boarded is a job of a board.
type boarded struct {
	row     Row
	tracker Tracker
	limit   time.Time
	marks   []progress.Mark
	at      time.Time // when the last marks came
	fresh   bool      // they are not in the row yet
}

// States of a job.
const (
	Waiting = "waiting" // it has not begun, or its progress is not known yet
	Running = "running"
	Ended   = "ended"
	Unread  = "unread" // its log cannot be read
)

// Row is the state of one job of several at a time.
type Row struct {
	Job   string `json:"job"`
	State string `json:"state"`
	Note  string `json:"note,omitempty"` // why no progress is known, what happened to the log, or how it ended
	Unit  string `json:"unit,omitempty"`
	Update
	// Limit is the time until the job is killed, in seconds; nil without a limit.
	Limit *float64 `json:"limit_seconds,omitempty"`
	// Killed is the probability that the job does not end before; nil if it is not known.
	Killed *float64 `json:"killed_probability,omitempty"`
}

// Add adds a job that is killed at a time, or zero; one that is there already gets the time.
func (b *Board) Add(name string, limit time.Time, job Tracker) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.row.Job == name {
			j.limit = limit
			return
		}
	}
	b.jobs = append(b.jobs, &boarded{row: Row{Job: name, State: Waiting}, tracker: job, limit: limit})
}

// Follow reads the log of a job until it ends.
func (b *Board) Follow(ctx context.Context, name string, log Log, now func() time.Time) {
	log.Notice = func(text string) {
		b.set(name, func(j *boarded) { j.row.Note = strings.TrimPrefix(text, log.Path+": ") })
	}
	err := log.Read(ctx, func(s State) error {
		b.set(name, func(j *boarded) {
			j.marks, j.at = s.Marks, now()
			j.fresh = true
			j.row.Unit, j.row.Note = log.Reader.Unit(), ""
			if len(s.Marks) == 0 {
				j.row.Note = log.Reader.Why()
			}
			if s.Ended {
				j.row.State, j.row.Note = Ended, s.Why
			}
			if s.Ended && len(s.Marks) == 0 && log.Reader.Full() {
				units := log.Reader.Length()
				j.row.Update = Update{Done: units, Epochs: int(units)}
			}
		})
		if s.Ended {
			return io.EOF
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		b.set(name, func(j *boarded) { j.row.State, j.row.Note = Unread, err.Error() })
	}
}

// End notes that a job has ended.
func (b *Board) End(name, how string) {
	b.set(name, func(j *boarded) { j.row.State, j.row.Note = Ended, how })
}

// set changes a job.
func (b *Board) set(name string, change func(*boarded)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.row.Job == name {
			change(j)
		}
	}
}

// Rows returns the state of each job now: those that end first are the first ones, those of
// which no end is known the last.
func (b *Board) Rows(now time.Time) []Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	var rows []Row
	for _, j := range b.jobs {
		rows = append(rows, j.estimate(now))
	}
	left := func(r Row) float64 {
		switch {
		case r.State == Ended:
			return 0
		case r.Left == nil:
			return 1e18
		}
		return r.Left.Value
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(left(a), left(b)), strings.Compare(a.Job, b.Job))
	})
	return rows
}

// estimate returns the row of a job, whose times are as of now.
func (j *boarded) estimate(now time.Time) Row {
	if j.fresh {
		j.fresh = false
		j.tracker.Ended = j.row.State == Ended && len(j.marks) > 0 && j.marks[len(j.marks)-1].Number >= j.marks[len(j.marks)-1].Of
		u, more, err := j.tracker.Estimate(j.marks)
		if err != nil {
			j.row.Note = err.Error()
		} else if more {
			j.row.Update = u
			if j.row.State != Ended {
				j.row.State = Running
			}
		}
	}
	row := j.row
	if row.State == Ended {
		row.Left = nil
		return row
	}
	if !j.limit.IsZero() {
		room := max(0, j.limit.Sub(now).Seconds())
		row.Limit = &room
	}
	if row.Left == nil {
		return row
	}
	since := now.Sub(j.at).Seconds()
	left := *row.Left
	if row.Limit != nil && row.Refused == "" {
		if p, known := left.Exceeds(*row.Limit + since); known {
			row.Killed = &p
		}
	}
	left.Value = max(0, left.Value-since)
	left.Low = max(0, left.Low-since)
	left.High = max(0, left.High-since)
	row.Left = &left
	return row
}
