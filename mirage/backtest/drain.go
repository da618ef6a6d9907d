package backtest

import (
	"container/heap"

	"github.com/foretime/foretime/mirage/trace"
)

// drain is how long those that are pending already would hold a job up, in
// seconds: among all of the user's jobs, or among those of its shape. Both
// values are 0 where none is pending.
type drain struct {
	rate  float64 // if they went on to start as fast as they did lately
	slots float64 // if no more of them ran at once than now, each as long as such jobs do
}

// drains are those of the user's jobs, and of those of the same shape.
func (k *known) drains(j *trace.Job) (user, same drain) {
	return k.drain(j, find(k.users, j.User), func(q *trace.Job) bool { return q.User == j.User }),
		k.drain(j, find(k.shapes, shapeOf(j)), func(q *trace.Job) bool { return shapeOf(q) == shapeOf(j) })
}

func (k *known) drain(j *trace.Job, p *party, in func(*trace.Job) bool) drain {
	var pending []*trace.Job
	for _, i := range k.pending {
		if q := &k.jobs[i]; in(q) {
			pending = append(pending, q)
		}
	}
	if len(pending) == 0 {
		return drain{}
	}
	var busy slots
	for _, i := range k.running {
		if q := &k.jobs[i]; in(q) {
			busy = append(busy, k.remaining(q, float64(k.now-q.Start)))
		}
	}
	return drain{p.pace(k.now) * float64(len(pending)), busy.after(pending, p.usual())}
}

// paceOf is how many of the latest starts tell how fast jobs start.
const paceOf = 20

// pace is the seconds between two starts lately: the time that the latest
// starts have taken until now, or the longer one since the last of them.
func (p *party) pace(now int64) float64 {
	starts := tail(p.started, paceOf)
	if len(starts) == 0 {
		return 0
	}
	return max(float64(now-starts[0])/float64(len(starts)), 1)
}

// usual is the mean share of their limits that such jobs use.
func (p *party) usual() float64 {
	uses := tail(p.uses, 60)
	if len(uses) == 0 {
		return 1
	}
	return min(mean(uses), 1)
}

// slots are the seconds after which running jobs end.
type slots []float64

func (s slots) Len() int           { return len(s) }
func (s slots) Less(a, b int) bool { return s[a] < s[b] }
func (s slots) Swap(a, b int)      { s[a], s[b] = s[b], s[a] }
func (s *slots) Push(x any)        { *s = append(*s, x.(float64)) }
func (s *slots) Pop() any          { last := (*s)[len(*s)-1]; *s = (*s)[:len(*s)-1]; return last }

// after is when the next slot is free once all of the pending have had theirs.
func (s slots) after(pending []*trace.Job, use float64) float64 {
	if len(s) == 0 {
		return 0
	}
	heap.Init(&s)
	for _, q := range pending {
		s[0] += max(use*float64(q.Limit), 60)
		heap.Fix(&s, 0)
	}
	return s[0]
}
