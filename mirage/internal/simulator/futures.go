package simulator

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/crash"
)

// Future is one possible continuation of a simulation.
type Future struct {
	// Length returns the total run time in seconds of a job that has run for ran seconds by
	// now.
	Length func(job int32, ran int64) int64
	// Back lets those jobs come, again, that came from so many seconds ago on; 0
	// adds no arrivals.
	Back int64
}

// Wait is the wait of a job in a future, in seconds, and its parts. What is left is the
// wait for room.
type Wait struct {
	Seconds    int64 // in all
	Eligible   int64 // until the job may start
	Dependency int64 // then for another job's end
	Limits     int64 // then for its own limits
}

// Room returns the wait for room.
func (w Wait) Room() int64 { return w.Seconds - w.Eligible - w.Dependency - w.Limits }

// WaitIn returns how long a job submitted now would wait in a future, at most the bound in
// seconds. Jobs submitted from outside, whose length is known, run as long as they run. The
// simulation stays as it is. The job's Eligible and After count; After may be several ids with
// commas between: "12+60" is 60 s after the begin of job 12.
func (s *Simulator) WaitIn(future Future, t trace.Job, bound int64) (w Wait, err error) {
	f := s.Fork()
	f.length = future.Length
	f.nodes.Reschedule(func(job int32, until, end int64) int64 {
		if s.IsExtra(job) {
			return end
		}
		start := until - s.job(job).limit
		return max(start+min(future.Length(job, s.now-start), s.job(job).limit), s.now)
	})
	// Those that came by now come again; what really comes is not known.
	f.shift, f.stop = future.Back, s.next
	f.next = s.next
	if future.Back > 0 && (s.repeats || s.first < len(s.w.jobs)) { // a queue seen from outside says nothing of arrivals
		f.next = sort.Search(s.next, func(i int) bool { return s.w.jobs[i].submit+future.Back > s.now })
	}
	last := s.now + bound
	if eligible := min(t.Eligible, last); eligible > s.now {
		f.RunUntil(eligible)
		w.Eligible = eligible - s.now
	}
	if t.After != "" {
		for item := range strings.SplitSeq(t.After, ",") {
			id, text, begins := strings.Cut(item, "+")
			if !begins {
				w.Dependency += f.runUntilEnded(id, last)
				continue
			}
			from := f.now
			delay, _ := strconv.ParseInt(text, 10, 64)
			if start, ok := f.runUntilBegun(id, last); ok {
				f.RunUntil(min(start+delay, last))
			}
			w.Dependency += f.now - from
		}
	}
	eligible := f.now
	number, err := f.Submit(t)
	if err != nil {
		return w, err
	}
	if !f.RunUntilStarted(number, last) {
		w.Seconds = bound
		return w, nil
	}
	e := &f.extra[number]
	w.Seconds, w.Limits = e.Start-s.now, max(e.barred-eligible, 0)
	return w, nil
}

// Draw returns the waits of a job in a number of futures, which are simulated at once.
func (s *Simulator) Draw(t trace.Job, number int, future func(i int) Future) ([]Wait, error) {
	waits := make([]Wait, number)
	var group crash.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range waits {
		group.Go(func() (err error) {
			waits[i], err = s.WaitIn(future(i), t, Farthest)
			return err
		})
	}
	return waits, group.Wait()
}

// runUntilEnded lets time go on until the jobs of an id have ended, or an instant has
// passed, and returns for how long.
func (s *Simulator) runUntilEnded(id string, until int64) int64 {
	from := s.now
	for i := range s.w.Jobs {
		if s.w.Jobs[i].ID != id {
			continue
		}
		for s.inQueue(int32(i)) && s.nextEvent() <= until && s.Step() {
		}
	}
	return s.now - from
}

// runUntilBegun lets time go on until the job of an id has begun, or an instant has passed, and
// returns when it began; false if it is not running.
func (s *Simulator) runUntilBegun(id string, until int64) (int64, bool) {
	i := slices.IndexFunc(s.w.Jobs, func(j trace.Job) bool { return j.ID == id })
	if i < 0 {
		return 0, false
	}
	for {
		all := s.nodes.Running()
		if at := slices.IndexFunc(all, func(a cluster.Allocation) bool { return a.Job == int32(i) }); at >= 0 {
			return all[at].Start, true
		}
		if !s.inQueue(int32(i)) || s.nextEvent() > until || !s.Step() {
			return 0, false
		}
	}
}

// inQueue reports whether a job is pending or running.
func (s *Simulator) inQueue(i int32) bool {
	found := slices.ContainsFunc(s.nodes.Running(), func(a cluster.Allocation) bool { return a.Job == i }) ||
		slices.ContainsFunc(s.held, func(h hold) bool { return h.job == i })
	if !found {
		s.queue.Each(s.now, func(r *cluster.Request) bool { found = r.Job == i; return !found })
	}
	if after := s.job(i).after; !found && after >= 0 {
		return s.inQueue(after)
	}
	return found
}

// Using returns the future that follows from what a user of the system could know, the
// queue as it is and time limits: nobody else submits anything, running jobs use share
// of the time they have left and pending ones share of their limits.
func (s *Simulator) Using(share float64) Future {
	return Future{Length: func(job int32, ran int64) int64 {
		return ran + int64(math.Ceil(share*float64(s.job(job).limit-ran)))
	}}
}

// Farthest is the longest possible wait in seconds: a century.
const Farthest = 100 * 366 * 86400

// searchedJobs is the number of latest ended jobs that are searched for jobs of a kind: four
// times those that are used of all users, because a single user has few among the latest.
const searchedJobs = 4 * lengths.OfAll

// kind selects the jobs of a user with a shape, or all jobs of the user if nodes is 0.
type kind struct {
	user, nodes int32
	limit       int64
}

// Lengths estimates the run times of jobs from those that have ended and those that run.
// Several goroutines may use it while the simulation does not change.
type Lengths struct {
	s        *Simulator
	allUsers int32          // one above the last user
	started  [][]startedJob // by user
	mu       sync.Mutex
	cache    map[kind]lengths.Uses
}

// startedJob is a job that has started, with the part of its limit that it used.
type startedJob struct {
	job   int32
	start int64
	use   lengths.Use
}

// Lengths returns the run times of the jobs that have ended or run at present. Those of a user
// are in the order of their starts, the latest first: the latest to end would be short ones,
// while the long ones of the same time still run.
func (s *Simulator) Lengths() *Lengths {
	l := &Lengths{s: s, allUsers: int32(s.w.users), started: make([][]startedJob, s.w.users+1), cache: map[kind]lengths.Uses{}}
	add := func(b startedJob) {
		for _, user := range []int32{s.job(b.job).user, l.allUsers} {
			l.started[user] = append(l.started[user], b)
		}
	}
	for _, p := range s.ended[max(len(s.ended)-searchedJobs, 0):] {
		j := s.job(p.job)
		add(startedJob{p.job, p.start, lengths.Use{Share: float64(j.duration) / float64(max(j.limit, 1))}})
	}
	for _, a := range s.nodes.Running() {
		if !s.IsExtra(a.Job) {
			add(startedJob{a.Job, a.Start, lengths.Use{Share: float64(s.now-a.Start) / float64(max(a.Until-a.Start, 1)), Running: true}})
		}
	}
	for _, jobs := range l.started {
		slices.SortFunc(jobs, func(a, b startedJob) int { // the order within a second must not depend on run times
			return cmp.Or(cmp.Compare(b.start, a.start), cmp.Compare(uniform(a.job, 0), uniform(b.job, 0)))
		})
	}
	return l
}

// uses returns the used shares of the latest jobs of a kind, sorted.
func (l *Lengths) uses(k kind) lengths.Uses {
	l.mu.Lock()
	defer l.mu.Unlock()
	if uses, ok := l.cache[k]; ok {
		return uses
	}
	uses, most := lengths.Uses(nil), lengths.OfKind
	if k.user == l.allUsers {
		most = lengths.OfAll
	}
	for _, b := range l.started[k.user] {
		if j := l.s.job(b.job); len(uses) < most && (k.nodes == 0 || j.nodes == k.nodes && j.limit == k.limit) {
			uses = append(uses, b.use)
		}
	}
	uses.Sort()
	l.cache[k] = uses
	return uses
}

// kinds returns the used shares of the jobs similar to a job, from its shape to all jobs.
func (l *Lengths) kinds(j *job) lengths.Kinds {
	return func(i int) lengths.Uses {
		return l.uses([]kind{{j.user, j.nodes, j.limit}, {user: j.user}, {user: l.allUsers}}[i])
	}
}

// StandardError returns the relative standard error of the mean share that jobs use.
func (l *Lengths) StandardError() float64 { return l.uses(kind{user: l.allUsers}).StandardError() }

// Draw returns a function that samples the length of a job which has run for some seconds, for
// a Future. The same number draws the same quantile for a job at any time. While few jobs have
// ended, some draws are from the usual distribution instead of theirs.
func (l *Lengths) Draw(number int) func(job int32, ran int64) int64 {
	return func(job int32, ran int64) int64 {
		j := l.s.job(job)
		limit := float64(max(j.limit, 1))
		from, u := float64(ran)/limit, uniform(job, 2*number+1)
		share := lengths.Unknown(from, u)
		if lengths.Known(len(l.s.ended), uniform(job, -number-1)) {
			share = l.kinds(j).Share(from, uniform(job, 2*number), u)
		}
		return int64(share*limit) + 1
	}
}

// uniform returns a number in [0, 1) for a job and a number, mixed by splitmix64 (Steele, Lea
// and Flood, OOPSLA 2014).
func uniform(job int32, number int) float64 {
	x := (uint64(job)<<32 | uint64(number)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}
