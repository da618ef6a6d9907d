package trial

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretime/foretime/deft/supervisor"
)

// ErrQuiet is returned where a process does nothing for too long.
var ErrQuiet = errors.New("neither a job nor a launch")

// vigil watches that every model goes on.
type vigil struct {
	run   *run
	limit time.Duration
	seen  map[string]supervisor.Totals
	since map[string]time.Time
}

func newVigil(r *run) *vigil {
	return &vigil{r, or(r.machine.Quiet, defaultPatience), map[string]supervisor.Totals{}, map[string]time.Time{}}
}

// look returns an error for a model that has not gone on for too long: longer
// than its pause between jobs. A client that the hook does not see is not judged.
func (v *vigil) look() error {
	sums := map[string]supervisor.Totals{}
	for _, t := range v.run.supervisor.Clients() {
		s := sums[t.Name]
		s.Jobs += t.Jobs
		s.Launches += t.Launches
		sums[t.Name] = s
	}
	for i, name := range v.run.names {
		s, ok := sums[name]
		if !ok || ended(v.run.processes[i]) {
			continue
		}
		if s != v.seen[name] || v.since[name].IsZero() {
			v.seen[name], v.since[name] = s, time.Now()
			continue
		}
		m := &v.run.x.Models[i]
		if quiet := time.Since(v.since[name]); quiet > v.limit+m.SleepTime+m.Period+m.Start {
			return fmt.Errorf("%s: %w for %v%s", m.OutputName, ErrQuiet, quiet.Round(time.Second), v.run.processes[i].tail())
		}
	}
	return nil
}

func ended(q *process) bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// or is d, or fallback where d is 0.
func or(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}
