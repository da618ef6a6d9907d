package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/stats"
)

// shows is what a log shows of jobs, beyond which nothing can be predicted from it.
type shows struct {
	nodes      int   // the most of one job
	limit      int64 // the longest, seconds; 0 where no job has one
	last       int64 // when a job was submitted last
	users      map[string]bool
	partitions map[string]int // jobs in each; "" is none
	used       int            // nodes in use at the instant
	usual      float64        // and on average in the last week
}

// usualSeconds is the week that tells what is usually in use.
const usualSeconds = 7 * 86400

func showsOf(jobs []trace.Job, at int64) *shows {
	s := &shows{users: map[string]bool{}, partitions: map[string]int{}}
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

// names are those of the partitions, in order.
func (s *shows) names() []string {
	names := slices.Sorted(maps.Keys(s.partitions))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// partition is the one that a question names, which the log must know, or else
// that of most jobs.
func (s *shows) partition(asked string) (string, error) {
	names := s.names()
	switch {
	case asked == "":
		return slices.MaxFunc(slices.Sorted(maps.Keys(s.partitions)), func(a, b string) int { return cmp.Compare(s.partitions[a], s.partitions[b]) }), nil
	case slices.Contains(names, asked):
		return asked, nil
	case len(names) == 0:
		return "", cli.Usagef("partition %q: the log tells of no partitions", asked)
	}
	return "", cli.Usagef("partition %q is none of the log's: %s", asked, strings.Join(names, ", "))
}

// notes say in what an answer goes beyond the log.
func (s *shows) notes(q question, job trace.Job) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if q.partition == "" && len(s.partitions) > 1 {
		note("in partition %s, where most jobs are; others are %s", job.Partition, strings.Join(slices.DeleteFunc(s.names(), func(p string) bool { return p == job.Partition }), ", "))
	}
	if job.Nodes > s.nodes {
		note("no job had more than %s: predicted from smaller ones", counted(s.nodes, "node"))
	}
	switch {
	case s.limit == 0:
		note("the log tells no time limits: that of the job is not looked at")
	case job.Limit > s.limit:
		note("no job had a limit above %v: predicted from shorter ones", span(s.limit))
	}
	if job.User != "" && !s.users[job.User] {
		note("user %s has no job in the log: predicted as for anybody", job.User)
	}
	if age := job.Submit - s.last; age > 3600 {
		note("the last job is from %v before: who came since is not known", lasting(float64(age)/3600))
	}
	return notes
}

// likeThese is how many of the latest jobs like one say why an interval is wide.
const likeThese = 50

// wide says in a line why an interval is wider than a day: what jobs like it waited.
func (s *shows) wide(jobs []trace.Job, job trace.Job, at int64) string {
	near := func(a, b int64) bool { return a <= 2*b && b <= 2*a }
	var waits []float64
	for i := len(jobs) - 1; i >= 0 && len(waits) < likeThese; i-- {
		j := &jobs[i]
		if j.Submit < at && j.Start < at && !j.NoStart && near(int64(j.Nodes), int64(job.Nodes)) && near(j.Limit, job.Limit) {
			waits = append(waits, float64(j.Wait()))
		}
	}
	if len(waits) < 10 {
		return fmt.Sprintf("the interval is wider than a day: only %s of about such size and limit ever started", counted(len(waits), "job"))
	}
	sorted := stats.Sort(waits)
	at10, at90 := lasting(sorted.Quantile(.1)/3600), lasting(sorted.Quantile(.9)/3600)
	return fmt.Sprintf("the interval is wider than a day: of the last %d jobs of about such size and limit one in ten waited at most %v and one in ten at least %v", len(waits), at10, at90)
}

// queue says that the log evidently lacks the jobs that had not ended when it was made.
func (k *known) queue() (notes []string) {
	s := k.shows
	if len(k.t.Open) == 0 && float64(s.used) < s.usual/2 {
		return []string{fmt.Sprintf("the log shows no queue at %s: %d of the usual %.0f %s in use and no job that waits or runs at its end; sacct with all states, or squeue's output as a second file, has them", clock(k.t, k.at), s.used, s.usual, k.t.Unit)}
	}
	return nil
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
