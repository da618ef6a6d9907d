package simulator

import (
	"cmp"
	"slices"
	"sync"

	"github.com/foretime/foretime/mirage/internal/lengths"
)

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
