package trace

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/stats"
)

// Unlimited is the limit in seconds of a job without one, or of which the log contains none: a
// year.
const Unlimited = 365 * 86400

// Never is the start of a job that waits, and the end of one that waits or runs, as far as the
// log contains it, in Unix seconds: later than any time.
const Never = 1 << 48

// Job is one row of an accounting log: a job that ran, or that waits or runs at the
// log's end.
type Job struct {
	ID        string
	User      string
	Nodes     int   // or processors, or GPUs: see Trace.Unit
	Submit    int64 // Unix seconds from which it could start: submission, or eligibility where the log has it
	Start     int64 // Unix seconds
	End       int64 // Unix seconds
	Limit     int64 // seconds the job may run, or Unlimited
	Priority  float64
	Partition string // "" where the log has none
	QOS       string // "" where the log has none
	After     string // id of the job that must end first; "" for none or unknown
	Held      int64  // seconds that it was held, or waited for another, before Submit
	NoStart   bool   // the log does not say when it started: Start is Submit, or Never
	Need      *Need  // of nodes that it shares with others; nil is whole nodes
	Eligible  int64  // Unix seconds before which it may not start; 0 is Submit
	Charges   []Charge
}

// Charge is an amount that a job adds, while it runs, to the sum that the limit with a number bounds.
type Charge struct {
	Cap    int32
	Amount int64
}

// Need holds a job's resources, used or requested, of the nodes that it shares with others, on
// all of them together.
type Need struct {
	CPUs      int
	GPUs      int
	MemoryMB  int64
	Exclusive bool    // shares with nobody, whatever it asks
	On        []int32 // the nodes that it runs on, by number, where they are known
	Only      []int32 // the nodes that it may run on, by number, ascending; nil is any
}

// Wait returns the time that the job was pending, in seconds.
func (j *Job) Wait() int64 { return j.Start - j.Submit }

// Duration returns the run time of the job, in seconds.
func (j *Job) Duration() int64 { return j.End - j.Start }

// Trace is the content of a log: its usable jobs, ordered by submission and,
// within a second, in the file's order.
type Trace struct {
	Jobs []Job // that ran
	// Open are the jobs that wait or run at the log's end, in the order of submission:
	// the one's Start and both's End are Never.
	Open []Job
	Unit Unit // what jobs are counted in
	Size int  // the machine's number of them; 0 if the log does not contain it
	// Zone is the time zone that the log's wall-clock times were read in, and
	// that dates on a command line are meant in.
	Zone *time.Location
	// Layout is the layout that was found.
	Layout Layout
	// Bad are the rows that could not be used.
	Bad []*dataset.SyntaxError
	// Doubt says how many rows are bad, and why most are, where they are more than one
	// in a hundred.
	Doubt string
	// Skipped counts rows that are no job that ran, by reason.
	Skipped map[string]int
	// Warnings are doubts about the file as a whole.
	Warnings []error
}

// sortBySubmit puts jobs in the order of submission.
func sortBySubmit(jobs []Job) {
	bySubmit := func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }
	if !slices.IsSortedFunc(jobs, bySubmit) {
		slices.SortStableFunc(jobs, bySubmit)
	}
}

// All returns the jobs that ran and those that wait or run at the log's end, in the order
// of submission.
func (t *Trace) All() []Job {
	if len(t.Open) == 0 {
		return t.Jobs
	}
	all := slices.Concat(t.Jobs, t.Open)
	sortBySubmit(all)
	return all
}

// CheckWaits returns an error if the log contains no start of a job.
func (t *Trace) CheckWaits() error {
	if slices.ContainsFunc(t.Jobs, func(j Job) bool { return !j.NoStart }) {
		return nil
	}
	return fmt.Errorf("%w: no row contains when its job started, so no wait is known", ErrNoJobs)
}

// End returns the time of the last event of the log, in Unix seconds.
func (t *Trace) End() int64 {
	last := int64(math.MinInt64)
	for j := range t.each() {
		last = max(last, j.lastEvent())
	}
	return last
}

// each yields the jobs that ran, then those that wait or run at the log's end.
func (t *Trace) each() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, jobs := range [][]Job{t.Jobs, t.Open} {
			for i := range jobs {
				if !yield(&jobs[i]) {
					return
				}
			}
		}
	}
}

// lastEvent returns the time of a job's last event, in Unix seconds.
func (j *Job) lastEvent() int64 {
	last := j.Submit
	for _, at := range [...]int64{j.Start, j.End} {
		if at != Never {
			last = max(last, at)
		}
	}
	return last
}

// Between returns the jobs submitted from from on and before to, both Unix
// seconds. It shares memory with the trace.
func (t *Trace) Between(from, to int64) []Job {
	at := func(limit int64) int {
		i, _ := slices.BinarySearchFunc(t.Jobs, limit, func(j Job, limit int64) int { return cmp.Compare(j.Submit, limit) })
		return i
	}
	first, last := at(from), at(to)
	return t.Jobs[first:max(first, last)]
}

// Date reads a date or a time, "2023-02-01" or "2023-02-01T15:04:05", as wall
// clock of the trace's zone, and returns Unix seconds.
func (t *Trace) Date(s string) (int64, error) { return ParseDate(s, t.Zone) }

// MedianPriority returns the median of the logged priorities, 0 without jobs: what
// an average job would be given.
func MedianPriority(jobs []Job) float64 {
	if len(jobs) == 0 {
		return 0
	}
	p := make([]float64, len(jobs))
	for i := range jobs {
		p[i] = jobs[i].Priority
	}
	return stats.Sort(p).NextRank(.5)
}
