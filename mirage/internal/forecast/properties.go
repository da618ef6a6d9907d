package forecast

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
)

// properties holds the ranges of job properties in a log; predictions outside them are
// extrapolations.
type properties struct {
	nodes      int   // of the largest job
	limit      int64 // longest, seconds; 0 if no job has one
	last       int64 // last submission
	users      map[string]bool
	partitions map[string]int // jobs in each; "" means no partition
	used       int            // nodes in use at the time of the question
	usual      float64        // mean of the nodes in use in the last week
}

// usualSeconds is the span for the mean of the nodes in use: a week.
const usualSeconds = 7 * 86400

func propertiesOf(jobs []trace.Job, at int64) *properties {
	s := &properties{users: map[string]bool{}, partitions: map[string]int{}}
	from, to := int64(0), at
	if n := len(jobs); n > 0 {
		to = min(at, jobs[n-1].Submit+1)
		from = max(to-usualSeconds, jobs[0].Submit)
	}
	for i := range jobs {
		j := &jobs[i]
		s.nodes, s.last = max(s.nodes, j.Nodes), max(s.last, j.Submit)
		if j.Limit != trace.Unlimited {
			s.limit = max(s.limit, j.Limit)
		}
		s.users[j.User] = true
		s.partitions[j.Partition]++
		if j.Start < at && j.End >= at {
			s.used += j.Nodes
		}
		s.usual += float64(max(min(j.End, to)-max(j.Start, from), 0)) * float64(j.Nodes) / float64(max(to-from, 1))
	}
	return s
}

// Partitions returns the names of the partitions of jobs, sorted.
func Partitions(jobs []trace.Job) []string { return propertiesOf(jobs, 0).names() }

// names returns the names of the partitions, sorted.
func (s *properties) names() []string {
	names := slices.Sorted(maps.Keys(s.partitions))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// partition returns the partition of a question, which must be in the log, or else the
// one with most jobs.
func (s *properties) partition(name string) (string, error) {
	names := s.names()
	switch {
	case name == "":
		return slices.MaxFunc(slices.Sorted(maps.Keys(s.partitions)), func(a, b string) int { return cmp.Compare(s.partitions[a], s.partitions[b]) }), nil
	case slices.Contains(names, name):
		return name, nil
	case len(names) == 0:
		return "", questionErrorf("partition %q: the log has no partitions", name)
	}
	return "", questionErrorf("partition %q is not in the log; it has %s", name, strings.Join(names, ", "))
}

// notes returns the extrapolations in an answer.
func (s *properties) notes(q Question, job trace.Job) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if q.Partition == "" && len(s.partitions) > 1 {
		note("for partition %s, which has most jobs; the log also has %s", job.Partition, strings.Join(slices.DeleteFunc(s.names(), func(p string) bool { return p == job.Partition }), ", "))
	}
	if job.Nodes > s.nodes {
		note("no job in the log has more than %s: predicted from smaller jobs", plural.Count(s.nodes, "node"))
	}
	switch {
	case s.limit == 0:
		note("the log has no time limits: the job's limit is ignored")
	case job.Limit > s.limit:
		note("no job in the log has a limit above %s: predicted from shorter jobs", trace.Span(s.limit))
	}
	if job.User != "" && !s.users[job.User] {
		note("user %s has no job in the log: predicted as for an average user", job.User)
	}
	if age := job.Submit - s.last; age > 3600 {
		note("the last submission in the log was %v earlier: jobs since then are unknown", seconds(float64(age)))
	}
	return notes
}

// likeThese is the number of latest similar jobs whose waits explain a wide interval.
const likeThese = 50

// wideNote explains an interval wider than a day by the waits of similar jobs.
func wideNote(jobs []trace.Job, job trace.Job, at int64) string {
	near := func(a, b int64) bool { return a <= 2*b && b <= 2*a }
	var waits []float64
	for i := len(jobs) - 1; i >= 0 && len(waits) < likeThese; i-- {
		j := &jobs[i]
		if j.Submit < at && j.Start < at && !j.NoStart && near(int64(j.Nodes), int64(job.Nodes)) && near(j.Limit, job.Limit) {
			waits = append(waits, float64(j.Wait()))
		}
	}
	if len(waits) < 10 {
		return fmt.Sprintf("the interval is wider than a day: only %s of about this size and limit ever started", plural.Count(len(waits), "job"))
	}
	sorted := stats.Sort(waits)
	at10, at90 := seconds(sorted.Quantile(0.1)), seconds(sorted.Quantile(0.9))
	return fmt.Sprintf("the interval is wider than a day: of the last %d jobs of about this size and limit, one in ten waited at most %v and one in ten at least %v", len(waits), at10, at90)
}
