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

func (k *known) drain(j *trace.Job, p *group, in func(*trace.Job) bool) drain {
	var pending []*trace.Job
	for _, i := range k.pending {
		if q := &k.jobs[i]; in(q) {
			pending = append(pending, q)
		}
	}
	if len(pending) == 0 {
		return drain{}
	}
	var busy releases
	for _, i := range k.running {
		if q := &k.jobs[i]; in(q) {
			busy = append(busy, release{after: k.remaining(q, float64(k.now-q.Start))})
		}
	}
	return drain{p.startInterval(k.now) * float64(len(pending)), busy.behind(pending, p.meanUse())}
}

// startsOf is how many of the latest starts tell how fast jobs start.
const startsOf = 20

// startInterval is the seconds between two starts lately: the time that the latest
// starts have taken until now, or the longer one since the last of them.
func (p *group) startInterval(now int64) float64 {
	starts := tail(p.started, startsOf)
	if len(starts) == 0 {
		return 0
	}
	return max(float64(now-starts[0])/float64(len(starts)), 1)
}

// meanUse is the mean share of their limits that such jobs use.
func (p *group) meanUse() float64 {
	uses := tail(p.uses, 60)
	if len(uses) == 0 {
		return 1
	}
	return min(mean(uses), 1)
}

// behind is when the next slot is free once all of the pending have had theirs,
// where r are the running jobs' ends.
func (r releases) behind(pending []*trace.Job, use float64) float64 {
	if len(r) == 0 {
		return 0
	}
	heap.Init(&r)
	for _, q := range pending {
		r[0].after += max(use*float64(q.Limit), 60)
		heap.Fix(&r, 0)
	}
	return r[0].after
}
