package trial

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/observer"
)

// ErrQuiet is returned if a process makes no progress for too long.
var ErrQuiet = errors.New("no job and no launch")

// progressMonitor watches that every model goes on.
type progressMonitor struct {
	models []experiment.Model
	names  []string // in the session
	limit  time.Duration
	steps  []step
}

// step is the progress of a model, and its time.
type step struct {
	jobs, launches int
	since          time.Time
}

func newProgressMonitor(models []experiment.Model, names []string, limit time.Duration) *progressMonitor {
	return &progressMonitor{models, names, cmp.Or(limit, defaultPatience), make([]step, len(models))}
}

// findStalled returns the first model of those that run that has not gone on for too
// long: longer than its pause between jobs, and whether there is one. A client that
// the hook does not see is not judged.
func (v *progressMonitor) findStalled(now time.Time, totals map[string]observer.Totals, runs func(model int) bool) (quiet int, err error) {
	for i, name := range v.names {
		t, seen := totals[name]
		was, at := v.steps[i], step{t.Jobs, t.Launches, now}
		if !seen || !runs(i) || was.since.IsZero() || was.jobs != at.jobs || was.launches != at.launches {
			v.steps[i] = at
			continue
		}
		m := &v.models[i]
		if d := now.Sub(was.since); d > v.limit+m.SleepTime+m.Period+m.Start {
			return i, fmt.Errorf("%s: %w for %v", m.OutputName, ErrQuiet, d.Round(time.Second))
		}
	}
	return -1, nil
}
