package trial

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretime/foretime/deft/experiment"
	"github.com/foretime/foretime/deft/supervisor"
)

// ErrQuiet is returned where a process does nothing for too long.
var ErrQuiet = errors.New("neither a job nor a launch")

// vigil watches that every model goes on.
type vigil struct {
	models []experiment.Model
	names  []string // in the session
	limit  time.Duration
	steps  []step
}

// step is how far a model had got, and since when.
type step struct {
	jobs, launches int
	since          time.Time
}

func newVigil(models []experiment.Model, names []string, limit time.Duration) *vigil {
	return &vigil{models, names, or(limit, defaultPatience), make([]step, len(models))}
}

// look returns the first model that has not gone on for too long: longer than
// its pause between jobs, and whether there is one. A client that the hook does
// not see is not judged.
func (v *vigil) look(now time.Time, totals []supervisor.Totals) (quiet int, err error) {
	for i, name := range v.names {
		at, seen := step{since: now}, false
		for _, t := range totals {
			if t.Name == name {
				at.jobs, at.launches, seen = at.jobs+t.Jobs, at.launches+t.Launches, true
			}
		}
		was := v.steps[i]
		if !seen || was.since.IsZero() || was.jobs != at.jobs || was.launches != at.launches {
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

// or is d, or fallback where d is 0.
func or(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}
