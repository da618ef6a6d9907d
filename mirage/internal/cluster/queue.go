package cluster

import (
	"cmp"
	"math"
	"slices"
)

// Request is a pending job as a scheduler sees it.
type Request struct {
	Job      int32
	Nodes    int32
	User     int32
	Limit    int64   // seconds
	Submit   int64   // Unix seconds
	Eligible int64   // Unix seconds from which its age counts
	Tier     int     // goes before all priority
	Static   float64 // priority without age
	key      float64 // orders requests whose age still grows
	Share    *Share  // of each node, where nodes are of kinds
	Barred   int64   // Unix seconds at which a limit let it go; 0 is none did, -1 while one holds it
}

// Queue holds the pending jobs in the order of tier and priority; equal ones in the
// order of submission, then of job number. Age grows at the same pace for
// all, so the order of two jobs changes only when one of them reaches the
// greatest age: the queue keeps those apart and merges while it is read.
type Queue struct {
	rate    float64 // points a second of age
	maxAge  int64   // seconds
	origin  int64   // keeps keys small, and equal under a shift of all times
	young   []Request
	old     []Request
	nextOld int64 // no young request reaches the greatest age before
	started int   // started requests that are still in the lists
}

// NewQueue returns an empty queue for the rules; origin is any time near the
// first submission.
func NewQueue(r *Rules, origin int64) *Queue {
	q := &Queue{origin: origin, nextOld: math.MaxInt64}
	if r.Weights.Age > 0 {
		q.maxAge = int64(r.Weights.MaxAgeDays * 86400)
		q.rate = r.Weights.Age / float64(q.maxAge)
	}
	return q
}

// Clone returns an independent copy.
func (q *Queue) Clone() *Queue {
	c := *q
	c.young = append(make([]Request, 0, len(q.young)+8), q.young...)
	c.old = append(make([]Request, 0, len(q.old)+8), q.old...)
	return &c
}

// Len returns the number of pending jobs.
func (q *Queue) Len() int { return len(q.young) + len(q.old) - q.started }

// compare orders two requests that have so many points: by tier, points and submission.
// Points are compared in steps of 2^-20: sums that differ by rounding alone are equal.
func compare(a, b *Request, pointsA, pointsB float64) int {
	const steps = 1 << 20
	return cmp.Or(
		cmp.Compare(b.Tier, a.Tier), cmp.Compare(math.RoundToEven(pointsB*steps), math.RoundToEven(pointsA*steps)),
		cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Job, b.Job),
	)
}

func byKey(a, b Request) int { return compare(&a, &b, a.key, b.key) }

func byStatic(a, b Request) int { return compare(&a, &b, a.Static, b.Static) }

// Add puts a request in its place.
func (q *Queue) Add(r Request) {
	r.key = r.Static - q.rate*float64(r.Eligible-q.origin)
	i, _ := slices.BinarySearchFunc(q.young, r, byKey)
	q.young = slices.Insert(q.young, i, r)
	if q.rate > 0 {
		q.nextOld = min(q.nextOld, r.Eligible+q.maxAge)
	}
}

// Advance lets the queue know what time it is.
func (q *Queue) Advance(now int64) {
	if now < q.nextOld {
		return
	}
	q.nextOld = math.MaxInt64
	q.young = slices.DeleteFunc(q.young, func(r Request) bool {
		if r.Nodes < 0 {
			q.started--
			return true
		}
		if r.Eligible+q.maxAge > now {
			q.nextOld = min(q.nextOld, r.Eligible+q.maxAge)
			return false
		}
		i, _ := slices.BinarySearchFunc(q.old, r, byStatic)
		q.old = slices.Insert(q.old, i, r)
		return true
	})
}

// walk is a position in the queue, which is read in the order of priority.
type walk struct {
	q    *Queue
	now  int64
	i, j int
}

// next returns the next request, or nil at the end.
func (w *walk) next() *Request {
	r := w.any()
	for r != nil && r.Nodes < 0 {
		r = w.any()
	}
	return r
}

// any returns the next request, taken or not.
func (w *walk) any() *Request {
	q := w.q
	switch {
	case w.i < len(q.young) && w.j < len(q.old):
		a, b := &q.young[w.i], &q.old[w.j]
		// Both sides are priorities less the age points of a job that became
		// eligible at origin.
		if compare(a, b, a.key+q.rate*float64(w.now-q.origin), b.Static+q.rate*float64(q.maxAge)) < 0 {
			w.i++
			return a
		}
		w.j++
		return b
	case w.i < len(q.young):
		w.i++
		return &q.young[w.i-1]
	case w.j < len(q.old):
		w.j++
		return &q.old[w.j-1]
	}
	return nil
}

// markStarted marks a request as started; sweep removes those marked, once they are many.
func (q *Queue) markStarted(r *Request) {
	r.Nodes = -r.Nodes
	q.started++
}

func (q *Queue) sweep() {
	taken := func(r Request) bool { return r.Nodes < 0 }
	if 8*q.started >= len(q.young)+len(q.old) {
		q.young = slices.DeleteFunc(q.young, taken)
		q.old = slices.DeleteFunc(q.old, taken)
		q.started = 0
	}
}

// Each calls f for the pending jobs in the order of priority until it returns
// false. f must not keep the request.
func (q *Queue) Each(now int64, f func(r *Request) bool) {
	q.Advance(now)
	w := walk{q: q, now: now}
	for r := w.next(); r != nil && f(r); r = w.next() {
	}
}
