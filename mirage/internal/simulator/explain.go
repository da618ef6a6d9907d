package simulator

import (
	"context"
	"errors"
	"fmt"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/shared/plural"
)

// ErrNoJob is returned when no job has the id, or it was rejected.
var ErrNoJob = errors.New("no such job")

// Reason is why a job did not start from some instant on.
type Reason struct {
	At   int64  `json:"at"` // Unix seconds
	What string `json:"what"`
	// Ahead is the number of jobs before it in the queue, Free the number of nodes without a
	// job.
	Ahead int `json:"ahead"`
	Free  int `json:"free_nodes"`
}

// Explanation is the story of a job's wait.
type Explanation struct {
	ID      string   `json:"id"`
	Nodes   int      `json:"nodes"`
	Submit  int64    `json:"submit"`
	Start   int64    `json:"start"`        // in the simulation
	Logged  *int64   `json:"logged_start"` // null where it never started
	Reasons []Reason `json:"reasons"`      // each holds until the next, or the start
}

// Explain simulates a workload up to the start of a job and returns the reasons for its wait:
// the reason after every event that changed it. The error wraps ErrNoJob.
func Explain(ctx context.Context, w *Workload, id string) (*Explanation, error) {
	index := -1
	for i := range w.Jobs {
		if w.Jobs[i].ID == id {
			index = i
		}
	}
	if index < 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoJob, id)
	}
	job := &w.Jobs[index]
	if err := w.Accepts(job); err != nil {
		return nil, fmt.Errorf("%w: %s: rejected: %w", ErrNoJob, id, err)
	}
	e := &Explanation{ID: id, Nodes: job.Nodes, Submit: job.Submit}
	if !job.NoStart {
		e.Logged = &job.Start
	}
	s := w.New()
	started := false
	s.OnStart = func(j int32, at int64) {
		if int(j) == index {
			started, e.Start = true, at
		}
	}
	for steps := 0; !started && s.Step(); steps++ {
		if steps%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.Now() < job.Submit || started {
			continue
		}
		r := why(s, int32(index))
		if n := len(e.Reasons); n == 0 || e.Reasons[n-1].What != r.What {
			e.Reasons = append(e.Reasons, r)
		}
	}
	return e, nil
}

// why finds out what keeps a pending job from starting now.
func why(s *Simulator, job int32) Reason {
	config := &s.Workload().Config
	rules := &config.Rules
	r := Reason{At: s.Now(), Free: max(0, s.Nodes().Free()-config.DownAt(s.Now()))}
	var mine *cluster.Request
	var head *cluster.Request
	s.Queue().Each(s.Now(), func(q *cluster.Request) bool {
		if q.Job == job {
			mine = q
			return false
		}
		r.Ahead++
		if head == nil && !(rules.UserLimit > 0 && s.UserRuns(q.User) >= rules.UserLimit) {
			head = q
		}
		return true
	})
	switch {
	case mine == nil:
		r.What = "the job that it depends on has not ended"
	case rules.UserLimit > 0 && s.UserRuns(mine.User) >= rules.UserLimit:
		r.What = fmt.Sprintf("its user already runs %s, the limit", plural.Count(rules.UserLimit, "job"))
	case r.Free == 0:
		r.What = "no node is free"
	case r.Free < int(mine.Nodes):
		r.What = "too few nodes are free"
	case mine.Share != nil:
		r.What = "too few resources are free on its nodes, or it would delay a job ahead in the queue"
	case head != nil && s.plan.InOrder():
		r.What = "a job ahead in the queue does not fit"
	case head != nil:
		r.What = "it fits, but would delay a job ahead in the queue"
	default:
		r.What = "it waits for the next scheduling pass, or an outage is near"
	}
	return r
}
