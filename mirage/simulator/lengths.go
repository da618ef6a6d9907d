package simulator

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// How many jobs that ended tell how long a user's, and anybody's, will run; how
// many of a user's count as much as all of anybody's; and the mean share used of
// what is left of the limit where none has ended (that of samples.ForecastShares),
// which counts as much as usesPrior of those that have while these are few.
const (
	usesOfUser = 30
	usesOfAll  = 1000
	usesSeen   = 4000
	usesPrior  = 5
	usualShare = .4
)

// Lengths tells how long jobs will run: as shares of their limits, what the
// user's latest jobs used, and anybody's where there are few. Jobs that still run
// count as censored (Kaplan and Meier, JASA 53, 1958), without which long ones
// would be missing.
type Lengths struct {
	s     *Simulator
	users map[int32]uses
	all   uses
}

// use is the share of its limit that a job used, or has by now if it still runs.
type use struct {
	share   float64
	running bool
}

// uses are sorted by share.
type uses []use

// Lengths is what the jobs that have ended or run by now tell.
func (s *Simulator) Lengths() *Lengths {
	l := &Lengths{s: s, users: map[int32]uses{}}
	for seen := 1; seen <= min(usesSeen, len(s.ended)); seen++ {
		j := s.job(s.ended[len(s.ended)-seen])
		l.add(j.user, use{share: float64(j.duration) / float64(max(j.limit, 1))})
	}
	for _, a := range s.nodes.Running() {
		if !s.IsExtra(a.Job) {
			o := use{float64(s.now-a.Start) / float64(max(a.Until-a.Start, 1)), true}
			l.users[a.User], l.all = append(l.users[a.User], o), append(l.all, o)
		}
	}
	for _, of := range l.users {
		of.sort()
	}
	l.all.sort()
	return l
}

func (l *Lengths) add(user int32, o use) {
	if of := l.users[user]; len(of) < usesOfUser {
		l.users[user] = append(of, o)
	}
	if len(l.all) < usesOfAll {
		l.all = append(l.all, o)
	}
}

func (u uses) sort() {
	slices.SortFunc(u, func(a, b use) int {
		if a.running != b.running && a.share == b.share { // those that ended did before
			if b.running {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.share, b.share)
	})
}

// above are those of more than a share.
func (u uses) above(share float64) uses {
	return u[sort.Search(len(u), func(i int) bool { return u[i].share > share }):]
}

// quantile of the shares; 1, the limit, where those that run leave it open.
func (u uses) quantile(p float64) float64 {
	survival := 1.0
	for i, o := range u {
		if o.running {
			continue
		}
		if survival *= 1 - 1/float64(len(u)-i); 1-survival > p {
			return o.share
		}
	}
	return 1
}

// Error is the standard error of the mean share that a user's jobs are taken to use,
// relative to it: that of so many shares spread evenly.
func (l *Lengths) Error() float64 {
	return 1 / math.Sqrt(3*float64(min(len(l.s.ended), usesOfUser)+1))
}

// Draw is a length for each job, as a Future takes it. The same number draws the
// same quantile for a job at whatever instant it is asked.
func (l *Lengths) Draw(number int) func(job int32, ran int64) int64 {
	return func(job int32, ran int64) int64 {
		j := l.s.job(job)
		limit := float64(max(j.limit, 1))
		from := float64(ran) / limit
		of, whose := l.users[j.user].above(from), uniform(job, 2*number)
		if n := float64(len(of)); whose >= n/(n+usesPrior) {
			of = l.all.above(from)
		}
		u := uniform(job, 2*number+1)
		share := from + math.Pow(u, 1/usualShare-1)*(1-from)
		if n := len(l.s.ended); n >= usesOfUser || n > 0 && uniform(job, -number-1) < float64(n)/float64(n+usesPrior) {
			share = of.quantile(u)
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
