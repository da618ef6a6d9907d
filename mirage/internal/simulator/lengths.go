package simulator

import (
	"cmp"
	"slices"
	"sync"

	"github.com/foretime/foretime/mirage/internal/lengths"
)

// endedSeen is the number of ended jobs that are searched for those of a kind.
const endedSeen = 4000

// kind is a user's kind of job, or any of the user's where it has no nodes.
type kind struct {
	user, nodes int32
	limit       int64
}

// Lengths estimates the run times of jobs from those that have ended and those that run.
// Several goroutines may use it while the simulation does not change.
type Lengths struct {
	s       *Simulator
	anybody int32 // the user behind the last
	begun   [][]begun
	mu      sync.Mutex
	asked   map[kind]lengths.Uses
}

// begun is a job that has started.
type begun struct {
	job   int32
	start int64
	use   lengths.Use
}

// Lengths returns the run times of the jobs that have ended or run by now. Of each user they are in
// the order of their starts, the latest first: the latest to end would be short ones,
// while the long ones of the same time still run.
func (s *Simulator) Lengths() *Lengths {
	l := &Lengths{s: s, anybody: int32(s.w.users), begun: make([][]begun, s.w.users+1), asked: map[kind]lengths.Uses{}}
	add := func(b begun) {
		for _, user := range []int32{s.job(b.job).user, l.anybody} {
			l.begun[user] = append(l.begun[user], b)
		}
	}
	for _, p := range s.ended[max(len(s.ended)-endedSeen, 0):] {
		j := s.job(p.job)
		add(begun{p.job, p.start, lengths.Use{Share: float64(j.duration) / float64(max(j.limit, 1))}})
	}
	for _, a := range s.nodes.Running() {
		if !s.IsExtra(a.Job) {
			add(begun{a.Job, a.Start, lengths.Use{Share: float64(s.now-a.Start) / float64(max(a.Until-a.Start, 1)), Running: true}})
		}
	}
	for _, of := range l.begun {
		slices.SortFunc(of, func(a, b begun) int { // starts of the same second in an order that lengths do not change
			return cmp.Or(cmp.Compare(b.start, a.start), cmp.Compare(uniform(a.job, 0), uniform(b.job, 0)))
		})
	}
	return l
}

// of returns the uses of a kind, in order.
func (l *Lengths) of(k kind) lengths.Uses {
	l.mu.Lock()
	defer l.mu.Unlock()
	if uses, ok := l.asked[k]; ok {
		return uses
	}
	uses, most := lengths.Uses(nil), lengths.OfKind
	if k.user == l.anybody {
		most = lengths.OfAll
	}
	for _, b := range l.begun[k.user] {
		if j := l.s.job(b.job); len(uses) < most && (k.nodes == 0 || j.nodes == k.nodes && j.limit == k.limit) {
			uses = append(uses, b.use)
		}
	}
	uses.Sort()
	l.asked[k] = uses
	return uses
}

func (l *Lengths) like(j *job) lengths.Kinds {
	return func(i int) lengths.Uses {
		return l.of([]kind{{j.user, j.nodes, j.limit}, {user: j.user}, {user: l.anybody}}[i])
	}
}

// Error returns the relative standard error of the mean share that jobs use.
func (l *Lengths) Error() float64 { return l.of(kind{user: l.anybody}).Error() }

// Draw returns a length for each job, as a Future takes it. The same number draws the
// same quantile for a job at any time. While few jobs have ended, some draws are from
// the usual distribution instead of theirs.
func (l *Lengths) Draw(number int) func(job int32, ran int64) int64 {
	return func(job int32, ran int64) int64 {
		j := l.s.job(job)
		limit := float64(max(j.limit, 1))
		from, u := float64(ran)/limit, uniform(job, 2*number+1)
		share := lengths.Unknown(from, u)
		if lengths.Known(len(l.s.ended), uniform(job, -number-1)) {
			share = l.like(j).Share(from, uniform(job, 2*number), u)
		}
		return int64(share*limit) + 1
	}
}

// uniform is a number in [0, 1) for a job, as splitmix64 mixes it (Steele, Lea and
// Flood, OOPSLA 2014).
func uniform(job int32, number int) float64 {
	x := (uint64(job)<<32 | uint64(number)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}
