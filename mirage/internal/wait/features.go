package wait

import (
	"math"
	"math/bits"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// lately is the number of latest waits in the features of a user, a class and all jobs.
const lately = 20

// features returns the features of a job at its submission, before it is in the queue.
func (r *Replay) features(j *trace.Job, g groups, s Rules) []float64 {
	user, class := g[groupUser], g[groupClass]
	all := g[groupAll]
	last, sinceLast := unknown, unknown
	if n := len(user.waits); n > 0 {
		last, sinceLast = user.waits[n-1], float64(r.now-user.started[n-1])
	}
	x := []float64{
		float64(bits.Len(uint(max(j.Nodes, 0)))), math.Log1p(float64(j.Limit)), hourOf(j.Submit), weekdayOf(j.Submit), j.Priority,
		logMinutes(s.Shape), logMinutes(s.User), logMinutes(s.Class), logMinutes(s.All), logMinutes(last),
		logMinutes(user.median(5, unknown)), logMinutes(class.median(lately, unknown)), logMinutes(all.median(lately, unknown)),
		logMinutes(all.latelyMean()), logMinutes(class.latelyMean()), class.shortShare(), user.shortShare(),
		float64(len(user.waits)), logMinutes(sinceLast), float64(len(user.running)), float64(r.used),
	}
	return r.queueFeatures(x, j, g)
}

// queueFeatures adds the features of the queue: of all jobs, of the user's, of those of the
// class and of those more important.
func (r *Replay) queueFeatures(x []float64, j *trace.Job, g groups) []float64 {
	var all, own, same, ahead line
	for _, i := range r.pending {
		q, of := &r.jobs[i], &r.groupsOf[i]
		all.add(q)
		if of[groupUser] == g[groupUser] {
			own.add(q)
		}
		if of[groupClass] == g[groupClass] {
			same.add(q)
		}
		if q.Priority > j.Priority {
			ahead.add(q)
		}
	}
	return append(x,
		math.Log1p(all.jobs), math.Log1p(all.nodes), math.Log1p(all.hours), all.oldest(r.now), all.youngest(r.now),
		math.Log1p(own.jobs), own.oldest(r.now), own.youngest(r.now), logMinutes(own.jobs*g[groupUser].startInterval(r.now)),
		math.Log1p(same.jobs), same.oldest(r.now),
		math.Log1p(ahead.nodes), math.Log1p(ahead.hours),
	)
}

func hourOf(at int64) float64    { return float64(at%86400) / 3600 }
func weekdayOf(at int64) float64 { return float64(at / 86400 % 7) }

// latelyMean returns the mean of a group's latest waits.
func (g *group) latelyMean() float64 {
	if len(g.waits) == 0 {
		return unknown
	}
	return mean(tail(g.waits, lately))
}

// shortShare returns the share of a group's latest waits of at most a minute.
func (g *group) shortShare() float64 {
	if len(g.waits) == 0 {
		return unknown
	}
	latest, n := tail(g.waits, lately), 0.0
	for _, w := range latest {
		if w <= 60 {
			n++
		}
	}
	return n / float64(len(latest))
}

// startInterval returns the mean seconds between a group's latest starts until now.
func (g *group) startInterval(now int64) float64 {
	starts := tail(g.started, lately)
	if len(starts) == 0 {
		return 0
	}
	return max(float64(now-starts[0])/float64(len(starts)), 1)
}

// line is a part of the queue.
type line struct {
	jobs, nodes, hours float64
	first, last        int64 // submissions
}

// longestLimit bounds the limits that are summed, in seconds: a job without a limit must
// not hide the others.
const longestLimit = 30 * 86400

// add adds a job; jobs come in the order of submission.
func (l *line) add(j *trace.Job) {
	if l.jobs == 0 {
		l.first = j.Submit
	}
	l.last = j.Submit
	l.jobs++
	l.nodes += float64(j.Nodes)
	l.hours += float64(j.Nodes) * float64(min(j.Limit, longestLimit)) / 3600
}

func (l *line) oldest(now int64) float64   { return l.age(now - l.first) }
func (l *line) youngest(now int64) float64 { return l.age(now - l.last) }

// age returns a waiting time as a feature; -1 if nothing waits.
func (l *line) age(seconds int64) float64 {
	if l.jobs == 0 {
		return -1
	}
	return logMinutes(float64(seconds))
}
