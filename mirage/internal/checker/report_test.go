package checker

import (
	"fmt"
	"sort"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Outcome is a row of jobs.csv.
type Outcome struct {
	ID              string `dataset:"id"`
	User            string `dataset:"user"`
	Nodes           int    `dataset:"nodes"`
	Submit          int64  `dataset:"submit"`
	Start           *int64 `dataset:"start"`
	End             *int64 `dataset:"end"`
	LimitSeconds    int64  `dataset:"limit_seconds"`
	DurationSeconds int64  `dataset:"duration_seconds"`
	ActualStart     int64  `dataset:"actual_start"`
	Status          string `dataset:"status"`
	On              string `dataset:"on,optional"` // numbers of its nodes, where they are of kinds
}

// Table is what was simulated: the jobs in the order of submission, the
// machine and the rules.
type Table struct {
	Jobs    []trace.Job
	Machine cluster.Machine
	Rules   cluster.Rules

	room *room // of the machine, while it is checked
}

// Violation is a breach of an invariant.
type Violation struct {
	Invariant int
	Job       string // id, "" where no single job is at fault
	At        int64  // Unix seconds
	What      string
}

// Error says which invariant was broken, where and how.
func (v Violation) Error() string {
	return fmt.Sprintf("invariant %d: job %q at %d: %s", v.Invariant, v.Job, v.At, v.What)
}

// maxViolations bounds the list of violations; more are only counted.
const maxViolations = 100

// Report is what the checks found.
type Report struct {
	Checked    []int          // invariants, ascending
	Skipped    map[int]string // why others were not checked
	Violations []Violation    // the first hundred
	Total      int            // all violations
}

func (r *Report) breach(invariant int, job string, at int64, format string, args ...any) {
	r.Total++
	if len(r.Violations) < maxViolations {
		r.Violations = append(r.Violations, Violation{invariant, job, at, fmt.Sprintf(format, args...)})
	}
}

func (r *Report) checked(invariants ...int) {
	for _, n := range invariants {
		if i := sort.SearchInts(r.Checked, n); i == len(r.Checked) || r.Checked[i] != n {
			r.Checked = append(r.Checked[:i], append([]int{n}, r.Checked[i:]...)...)
		}
		delete(r.Skipped, n)
	}
}

func (r *Report) skip(invariant int, why string) {
	if r.Skipped == nil {
		r.Skipped = map[int]string{}
	}
	r.Skipped[invariant] = why
}

// Err is the first violation with the count of all, or nil.
func (r *Report) Err() error {
	if r.Total == 0 {
		return nil
	}
	return fmt.Errorf("%d violations, the first: %w", r.Total, r.Violations[0])
}
