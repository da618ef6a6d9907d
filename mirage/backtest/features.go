package backtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/stats"
)

// logMinutes turns seconds into the scale that forecasts are made on: the
// logarithm of minutes, and of one more.
func logMinutes(seconds float64) float64 { return math.Log1p(max(seconds, 0) / 60) }

// seconds is the inverse of logMinutes.
func seconds(l float64) float64 { return 60 * math.Expm1(max(l, 0)) }

// unknown stands for what is not known yet.
var unknown = math.NaN()

// row collects the features of a job.
type row []float64

func (r *row) add(values ...float64) { *r = append(*r, values...) }

// features are what is known about a job when it is submitted, before it is in
// the queue, on a machine of a size, behind what of its user's is pending,
// and behind the whole queue as lists.
func (k *known) features(j *trace.Job, size float64, user, same drain, lists []float64) []float64 {
	r := make(row, 0, 128)
	r.add(float64(j.Nodes), math.Log1p(float64(j.Limit)), hourOf(j.Submit), weekdayOf(j.Submit), j.Priority)
	for _, p := range k.groups(j) {
		r.group(p, k.now)
	}
	k.queued(&r, j)
	k.machine(&r, j, size)
	for _, seconds := range lists {
		r.add(logMinutes(seconds))
	}
	r.add(logMinutes(user.rate), logMinutes(user.slots), logMinutes(same.rate), logMinutes(same.slots))
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
	if len(p.uses) == 0 {
		r.add(unknown)
	} else {
		r.add(stats.Median(tail(p.uses, 30)))
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

// queued adds what the queue is: of all jobs, of the user's, of the same shape,
// and of those no larger.
func (k *known) queued(r *row, j *trace.Job) {
	var all, own, same, small, class, ahead line
	mine := classOf(j)
	for _, i := range k.pending {
		q := &k.jobs[i]
		age := float64(k.now - q.Submit)
		all.add(q, age)
		if q.User == j.User {
			own.add(q, age)
			if q.Nodes == j.Nodes && q.Limit == j.Limit {
				same.add(q, age)
			}
		}
		if q.Nodes <= j.Nodes {
			small.add(q, age)
		}
		if classOf(q) == mine {
			class.add(q, age)
		}
		if q.Priority > j.Priority {
			ahead.add(q, age)
		}
	}
	for _, l := range []*line{&all, &own, &same, &small, &class, &ahead} {
		l.features(r)
	}
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

func (l *line) features(r *row) {
	r.add(math.Log1p(float64(len(l.ages))), math.Log1p(l.nodes), math.Log1p(l.hours))
	if len(l.ages) == 0 {
		r.add(-1, -1, -1)
		return
	}
	slices.Reverse(l.ages) // they came in the order of submission
	s := stats.Sorted(l.ages)
	r.add(logMinutes(s[len(s)-1]), logMinutes(s[0]), logMinutes(s.Median()))
}

// machine adds what runs, and when there will be room for the job if those
// before it start as the running ones end.
func (k *known) machine(r *row, j *trace.Job, size float64) {
	var full, part []release
	own, ownNodes, hours := 0.0, 0.0, 0.0
	for _, i := range k.running {
		q := &k.jobs[i]
		ran, limit := float64(k.now-q.Start), float64(q.Limit)
		if q.User == j.User {
			own++
			ownNodes += float64(q.Nodes)
		}
		remaining := max(limit-ran, 60)
		hours += remaining * float64(q.Nodes) / 3600
		full = append(full, release{remaining, float64(q.Nodes)})
		part = append(part, release{k.remaining(q, ran), float64(q.Nodes)})
	}
	free := size - float64(k.used)
	r.add(float64(len(k.running)), float64(k.used), free, free-float64(j.Nodes), math.Log1p(hours), own, ownNodes)
	pending := 0.0
	for _, i := range k.pending {
		pending += float64(k.jobs[i].Nodes)
	}
	for _, ends := range [][]release{full, part} {
		slices.SortFunc(ends, func(a, b release) int { return cmp.Compare(a.after, b.after) })
		r.add(logMinutes(roomAfter(ends, free, float64(j.Nodes))), logMinutes(roomAfter(ends, free, float64(j.Nodes)+pending)))
	}
}

// release is nodes that come free.
type release struct{ after, nodes float64 }

// roomAfter is how many seconds it takes until so many nodes are free; the last
// release where there never are.
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

// remaining is how much longer a job that has run so many seconds will: the
// median of those of its user's that ran longer, as shares of their limits.
func (k *known) remaining(j *trace.Job, ran float64) float64 {
	limit := float64(j.Limit)
	remaining := max(limit-ran, 60)
	uses := tail(find(k.shapes, shapeOf(j)).uses, 60)
	if len(uses) < 5 {
		uses = tail(find(k.users, j.User).uses, 60)
	}
	var longer []float64
	for _, u := range uses {
		if u*limit > ran {
			longer = append(longer, min(u, 1))
		}
	}
	if len(longer) == 0 {
		return remaining
	}
	return max(stats.Median(longer)*limit-ran, 60)
}
