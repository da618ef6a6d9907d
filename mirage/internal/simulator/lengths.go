package simulator

import (
	"sync"

	"github.com/foretime/foretime/mirage/internal/lengths"
)

// endedSeen is how many of the jobs that ended are looked through for those of a
// kind.
const endedSeen = 4000

// kind is a user's kind of job, or any of the user's where it has no nodes.
type kind struct {
	user, nodes int32
	limit       int64
}

// Lengths tells how long jobs will run, by those that have ended and those that run.
// It may be asked by several at once while the simulation stays as it is.
type Lengths struct {
	s       *Simulator
	anybody int32     // the user behind the last
	ended   [][]int32 // of each user, the latest first
	mu      sync.Mutex
	asked   map[kind]lengths.Uses
}

// Lengths is what the jobs that have ended or run by now tell.
func (s *Simulator) Lengths() *Lengths {
	l := &Lengths{s: s, anybody: int32(s.w.users), ended: make([][]int32, s.w.users+1), asked: map[kind]lengths.Uses{}}
	for seen := 1; seen <= min(endedSeen, len(s.ended)); seen++ {
		i := s.ended[len(s.ended)-seen]
		for _, user := range []int32{s.job(i).user, l.anybody} {
			l.ended[user] = append(l.ended[user], i)
		}
	}
	return l
}

// of are the uses of a kind, in order.
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
	same := func(j *job) bool {
		return k.user == l.anybody || j.user == k.user && (k.nodes == 0 || j.nodes == k.nodes && j.limit == k.limit)
	}
	for _, i := range l.ended[k.user] {
		if j := l.s.job(i); len(uses) < most && same(j) {
			uses = append(uses, lengths.Use{Share: float64(j.duration) / float64(max(j.limit, 1))})
		}
	}
	for _, a := range l.s.nodes.Running() {
		if !l.s.IsExtra(a.Job) && same(l.s.job(a.Job)) {
			uses = append(uses, lengths.Use{Share: float64(l.s.now-a.Start) / float64(max(a.Until-a.Start, 1)), Running: true})
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

// Error is the standard error of the mean share that jobs are taken to use, relative
// to it.
func (l *Lengths) Error() float64 { return l.of(kind{user: l.anybody}).Error() }

// Draw is a length for each job, as a Future takes it. The same number draws the
// same quantile for a job at whatever instant it is asked. While few jobs have
// ended, some draws are of a length that nobody knows.
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
