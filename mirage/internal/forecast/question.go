package forecast

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
)

// Question is a job that may be submitted.
type Question struct {
	Nodes           int
	Limit           int64 // seconds, or NoLimit
	Partition, User string
	By              string  // a time, or ""
	Overlap         float64 // cost of an hour, in hours of interruption; 0: no handover
	Queued          string  // id of a job in the queue of a live Slurm, whose description counts; "" is none
	// Batch is the job as sbatch's options describe it, which counts in place of the
	// fields above and of Resources; nil is none.
	Batch  *slurmview.Ask
	Unread []string // options of sbatch and lines of its script that may delay a start and are not read
	Groups []string // of the user
	Resources
}

// NoLimit is the limit of a job that names none: that of its partition, or a day for a log.
const NoLimit = -1

// The limit in seconds of a job that names none, asked of a log, and the shortest one.
const (
	defaultLimit  = 86400
	shortestLimit = 60
)

// Resources holds a job's resources on all its nodes, on a live Slurm.
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
	case q.Nodes < 1 || q.Limit < shortestLimit:
		return questionErrorf("a job of %s and %d s: want at least one node and 60 s", plural.Count(q.Nodes, "node"), q.Limit)
	case q.Overlap != 0 && !(q.Overlap > 0) || math.IsInf(q.Overlap, 1):
		return questionErrorf("--curve: %v, want a number above 0", q.Overlap)
	case r.CPUs < 0 || r.GPUs < 0 || r.MemoryMB < 0:
		return questionErrorf("a job of %d CPUs, %d GPUs and %d MB: want numbers from 0", r.CPUs, r.GPUs, r.MemoryMB)
	}
	return nil
}

// Ask returns the job of a question to a live Slurm with what restricts it.
func (q Question) Ask() slurmview.Ask {
	if q.Batch != nil {
		a := *q.Batch
		a.User, a.Groups = q.User, q.Groups
		return a
	}
	return slurmview.Ask{Job: q.Job(), Groups: q.Groups, Tasks: 1}
}

// Job returns the job of a question to a live Slurm.
func (q Question) Job() trace.Job {
	return trace.Job{User: q.User, Partition: q.Partition, Nodes: q.Nodes, Limit: max(q.Limit, 0), Need: q.Resources.Need(q.Nodes)}
}

// describeJob returns a job in words, as the first line of an answer repeats it.
func describeJob(unit trace.Unit, a slurmview.Ask) string {
	words := []string{plural.Count(a.Nodes, "node")}
	if unit != "" && unit != trace.Nodes {
		words[0] = plural.Count(a.Nodes, strings.TrimSuffix(string(unit), "s"))
	}
	add := func(format string, given bool, args ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	if n := a.Need; n != nil {
		add("%s", n.CPUs > 0, plural.Count(n.CPUs, "CPU"))
		add("%s", n.GPUs > 0, plural.Count(n.GPUs, strings.TrimSpace(a.GPUType+" GPU")))
		add("%d MB", n.MemoryMB > 0, n.MemoryMB)
		add("exclusive", n.Exclusive)
	}
	if a.Limit == trace.Unlimited {
		words = append(words, "no limit")
	} else {
		words = append(words, "limit "+trace.Span(a.Limit))
	}
	add("partition %s", a.Partition != "", a.Partition)
	add("account %s", len(a.Accounts) > 0, strings.Join(a.Accounts, ", "))
	add("QOS %s", a.QOS != "", a.QOS)
	add("constraint %s", a.Features != "" && a.Features != "(null)", a.Features)
	add("reservation %s", a.Reservation != "", a.Reservation)
	add("nodes %s", a.Required != "", a.Required)
	add("without %s", a.Excluded != "", a.Excluded)
	add("not before %s", a.Eligible > 0, Local(a.Eligible))
	for item := range strings.SplitSeq(a.After, ",") {
		id, seconds, begins := strings.Cut(item, "+")
		add("after job %s", id != "" && !begins, id)
		add("%s s after job %s begins", begins, seconds, id)
	}
	add("%d array tasks", a.Tasks > 1, a.Tasks)
	return strings.Join(words, ", ")
}
