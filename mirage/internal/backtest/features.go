package backtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// logMinutes turns seconds into the scale that forecasts are made on: the
// logarithm of minutes, and of one more.
func logMinutes(seconds float64) float64 { return math.Log1p(max(seconds, 0) / 60) }

// unknown is the value of a feature that is not known yet.
var unknown = math.NaN()

// row collects the features of a job.
type row []float64

func (r *row) add(values ...float64) { *r = append(*r, values...) }

// features returns the features of a job at its submission, before it is in the queue, on a
// machine of a size, behind the running jobs and the queue as lists.
func (k *known) features(j *trace.Job, g groups, size float64, running []release, lists []float64) []float64 {
	r := make(row, 0, 128)
	r.add(float64(j.Nodes), math.Log1p(float64(j.Limit)), hourOf(j.Submit), weekdayOf(j.Submit), j.Priority)
	for _, p := range g {
		r.group(p, k.now)
	}
	own, same := k.queued(&r, j, g)
	k.machine(&r, j, g, size, running)
	for _, seconds := range lists {
		r.add(logMinutes(seconds))
	}
	r.add(logMinutes(own*g[ofItsUser].startInterval(k.now)), logMinutes(same*g[ofItsShape].startInterval(k.now)))
	return r
}

func hourOf(at int64) float64    { return float64(((at%86400)+86400)%86400) / 3600 }
func weekdayOf(at int64) float64 { return float64(((at/86400)%7 + 7) % 7) }

// group adds what the waits of a group have been.
func (r *row) group(p *group, now int64) {
	n := len(p.waits)
	r.add(math.Log1p(float64(n)))
	if n == 0 {
		r.add(unknown, unknown, unknown, unknown, unknown, unknown, unknown)
	} else {
		r.add(logMinutes(float64(now-p.last)), logMinutes(p.waits[n-1]))
		for _, over := range []int{5, 20, 100} {
			r.add(logMinutes(stats.Median(tail(p.waits, over))))
		}
		last := tail(p.waits, 20)
		r.add(logMinutes(mean(last)), shortShare(last))
	}
	r.add(since(p.submitted, now-600), since(p.submitted, now-3600), since(p.submitted, now-21600))
	if len(p.ended) == 0 {
		r.add(unknown)
	} else {
		r.add(stats.Median(tail(p.ended, lengths.OfKind)))
	}
}

func tail[T any](values []T, n int) []T { return values[max(len(values)-n, 0):] }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

// shortShare is the share of waits of at most a minute.
func shortShare(waits []float64) float64 {
	n := 0.0
	for _, w := range waits {
		if w <= 60 {
			n++
		}
	}
	return n / float64(len(waits))
}

// since counts the times from an instant on.
func since(times []int64, from int64) float64 {
	at, _ := slices.BinarySearch(times, from)
	return math.Log1p(float64(len(times) - at))
}

// queued adds what the queue is: of all jobs, of the user's, of the same shape, of
// those no larger, of the same class and of those more important. It returns how
// many are the user's and of the same shape.
func (k *known) queued(r *row, j *trace.Job, g groups) (ofUser, ofShape float64) {
	var all, own, same, small, class, ahead line
	for _, i := range k.pending {
		q, of := &k.jobs[i], &k.of[i]
		age := float64(k.now - q.Submit)
		all.add(q, age)
		if of[ofItsUser] == g[ofItsUser] {
			own.add(q, age)
		}
		if of[ofItsShape] == g[ofItsShape] {
			same.add(q, age)
		}
		if q.Nodes <= j.Nodes {
			small.add(q, age)
		}
		if of[ofItsClass] == g[ofItsClass] {
			class.add(q, age)
		}
		if q.Priority > j.Priority {
			ahead.add(q, age)
		}
	}
	for _, l := range []*line{&all, &own, &same, &small, &class, &ahead} {
		l.features(r)
	}
	return float64(len(own.ages)), float64(len(same.ages))
}

// startsOf is the number of latest starts whose rate is a feature.
const startsOf = 20

// startInterval is the seconds between two starts lately: the time that the latest
// starts have taken until now.
func (p *group) startInterval(now int64) float64 {
	starts := tail(p.started, startsOf)
	if len(starts) == 0 {
		return 0
	}
	return max(float64(now-starts[0])/float64(len(starts)), 1)
}

// line is a part of the queue.
type line struct {
	nodes, hours float64
	ages         []float64
}

func (l *line) add(j *trace.Job, age float64) {
	l.nodes += float64(j.Nodes)
	l.hours += float64(j.Nodes) * float64(j.Limit) / 3600
	l.ages = append(l.ages, age)
}

// features sets the features of the queue. Its ages fall, because jobs are in the order of
// submission.
func (l *line) features(r *row) {
	n := len(l.ages)
	r.add(math.Log1p(float64(n)), math.Log1p(l.nodes), math.Log1p(l.hours))
	if n == 0 {
		r.add(-1, -1, -1)
		return
	}
	r.add(logMinutes(l.ages[0]), logMinutes(l.ages[n-1]), logMinutes((l.ages[(n-1)/2]+l.ages[n/2])/2))
}

// releases returns the ends of the running jobs, if they run as long as such jobs do.
func (k *known) releases() []release {
	ends := make([]release, len(k.running))
	for at, i := range k.running {
		ends[at] = release{k.remaining(i), float64(k.jobs[i].Nodes)}
	}
	return ends
}

// machine adds what runs, and when there will be room for the job if those
// before it start as the running ones end, at their limits or as such jobs do.
func (k *known) machine(r *row, j *trace.Job, g groups, size float64, part []release) {
	full := make([]release, len(k.running))
	ownNodes, hours := 0.0, 0.0
	for at, i := range k.running {
		q := &k.jobs[i]
		remaining := max(float64(q.Limit-(k.now-q.Start)), shortest)
		hours += remaining * float64(q.Nodes) / 3600
		full[at] = release{remaining, float64(q.Nodes)}
	}
	for _, i := range g[ofItsUser].running {
		ownNodes += float64(k.jobs[i].Nodes)
	}
	free := size - float64(k.used)
	r.add(float64(len(k.running)), float64(k.used), free, free-float64(j.Nodes), math.Log1p(hours), float64(len(g[ofItsUser].running)), ownNodes)
	pending := 0.0
	for _, i := range k.pending {
		pending += float64(k.jobs[i].Nodes)
	}
	for _, ends := range [][]release{full, part} {
		slices.SortFunc(ends, func(a, b release) int { return cmp.Compare(a.after, b.after) })
		r.add(logMinutes(roomAfter(ends, free, float64(j.Nodes))), logMinutes(roomAfter(ends, free, float64(j.Nodes)+pending)))
	}
}

// roomAfter returns the seconds until so many nodes are free, or those of the last release if
// they never are.
func roomAfter(ends []release, free, want float64) float64 {
	if free >= want {
		return 0
	}
	for _, e := range ends {
		if free += e.nodes; free >= want {
			return e.after
		}
	}
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1].after * want / max(free, 1)
}
