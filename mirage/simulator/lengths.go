package simulator

import (
	"github.com/foretime/foretime/mirage/lengths"
)

// endedSeen is how many of the jobs that ended are looked through for those of a
// kind.
const endedSeen = 4000

// kind is a user's kind of job.
type kind struct {
	user, nodes int32
	limit       int64
}

// Lengths tells how long jobs will run, by those that have ended and those that run.
type Lengths struct {
	s      *Simulator
	shapes map[kind]lengths.Uses
	users  map[int32]lengths.Uses
	all    lengths.Uses
}

// Lengths is what the jobs that have ended or run by now tell.
func (s *Simulator) Lengths() *Lengths {
	l := &Lengths{s: s, shapes: map[kind]lengths.Uses{}, users: map[int32]lengths.Uses{}}
	for seen := 1; seen <= min(endedSeen, len(s.ended)); seen++ {
		j := s.job(s.ended[len(s.ended)-seen])
		l.add(j, lengths.Use{Share: float64(j.duration) / float64(max(j.limit, 1))})
	}
	for _, a := range s.nodes.Running() {
		if !s.IsExtra(a.Job) {
			l.add(s.job(a.Job), lengths.Use{Share: float64(s.now-a.Start) / float64(max(a.Until-a.Start, 1)), Running: true})
		}
	}
	for _, of := range l.shapes {
		of.Sort()
	}
	for _, of := range l.users {
		of.Sort()
	}
	l.all.Sort()
	return l
}

func (l *Lengths) add(j *job, o lengths.Use) {
	shape := kind{j.user, j.nodes, j.limit}
	if of := l.shapes[shape]; o.Running || len(of) < lengths.OfKind {
		l.shapes[shape] = append(of, o)
	}
	if of := l.users[j.user]; o.Running || len(of) < lengths.OfKind {
		l.users[j.user] = append(of, o)
	}
	if o.Running || len(l.all) < lengths.OfAll {
		l.all = append(l.all, o)
	}
}

func (l *Lengths) of(j *job) lengths.Kinds {
	return func(i int) lengths.Uses {
		switch i {
		case 0:
			return l.shapes[kind{j.user, j.nodes, j.limit}]
		case 1:
			return l.users[j.user]
		}
		return l.all
	}
}

// Error is the standard error of the mean share that jobs are taken to use, relative
// to it.
func (l *Lengths) Error() float64 { return l.all.Error() }

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
			share = l.of(j).Share(from, uniform(job, 2*number), u)
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
