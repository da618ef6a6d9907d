package forecast

import (
	"cmp"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/internal/slurm"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
)

// Question is a job that may be submitted.
type Question struct {
	Nodes           int
	Limit           int64 // seconds
	Partition, User string
	By              string  // a time, or ""
	Overlap         float64 // cost of an hour, in hours of interruption; 0: no handover
	Queued          string  // id of a job in the queue of a live Slurm, whose description counts; "" is none
	Resources
	Options
}

// Options are what else sbatch's options say of a job for a live Slurm.
type Options struct {
	Account, QOS string
	Groups       []string // of the user
	Eligible     int64    // Unix seconds before which it may not start; 0 is now
	After        string   // id of the job that must end first
	Held         bool
	slurm.Place
}

// Resources are those of a job on all its nodes, of a live Slurm.
type Resources struct {
	CPUs, GPUs int
	MemoryMB   int64
	Exclusive  bool
}

// Need returns the resources of a job on its nodes; nil means whole nodes.
func (r Resources) Need(nodes int) *trace.Need {
	if r.Exclusive || r.CPUs == 0 && r.GPUs == 0 && r.MemoryMB == 0 {
		return nil
	}
	return &trace.Need{CPUs: cmp.Or(r.CPUs, nodes), GPUs: r.GPUs, MemoryMB: r.MemoryMB}
}

// QuestionError is returned for a question that has no answer, such as a job that is
// larger than the cluster.
type QuestionError struct{ Err error }

// Error returns what is wrong with the question.
func (e *QuestionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *QuestionError) Unwrap() error { return e.Err }

func questionErrorf(format string, args ...any) error {
	return &QuestionError{fmt.Errorf(format, args...)}
}

// check returns an error for an impossible job.
func (q Question) check() error {
	switch r := q.Resources; {
	case q.Nodes < 1 || q.Limit < 60:
		return questionErrorf("a job of %s and %d s: want at least one node and 60 s", plural.Count(q.Nodes, "node"), q.Limit)
	case q.Overlap != 0 && !(q.Overlap > 0) || math.IsInf(q.Overlap, 1):
		return questionErrorf("--curve: %v, want a number above 0", q.Overlap)
	case r.CPUs < 0 || r.GPUs < 0 || r.MemoryMB < 0:
		return questionErrorf("a job of %d CPUs, %d GPUs and %d MB: want numbers from 0", r.CPUs, r.GPUs, r.MemoryMB)
	}
	return nil
}

// Ask returns the job of a question to a live Slurm with what restricts it.
func (q Question) Ask() slurm.Ask {
	a := slurm.Ask{Job: q.Job(), Place: q.Place, Groups: q.Groups, Tasks: 1, Held: q.Held}
	a.QOS, a.Eligible, a.After = q.QOS, q.Eligible, q.After
	if q.Account != "" {
		a.Accounts = []string{q.Account}
	}
	return a
}

// Job returns the job of a question to a live Slurm.
func (q Question) Job() trace.Job {
	return trace.Job{User: q.User, Partition: q.Partition, Nodes: q.Nodes, Limit: q.Limit, Need: q.Resources.Need(q.Nodes)}
}
