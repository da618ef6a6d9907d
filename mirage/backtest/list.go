package backtest

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/foretime/foretime/mirage/trace"
)

// How many pending jobs are looked at for one that fits, and how many may be in
// a list that is served one by one; a longer one counts as work to be done.
const (
	scanned = 100
	longest = 1000
)

// lists are when a job would start if the queue were served as a list, in the order
// of submission and by priority.
func (k *known) lists(j *trace.Job, size float64) []float64 {
	all := make([]*trace.Job, len(k.pending))
	for i, p := range k.pending {
		all[i] = &k.jobs[p]
	}
	first := slices.DeleteFunc(slices.Clone(all), func(q *trace.Job) bool { return q.Priority < j.Priority })
	if len(first) <= longest {
		slices.SortStableFunc(first, func(a, b *trace.Job) int { return cmp.Compare(b.Priority, a.Priority) })
	}
	return []float64{k.served(j, all, size), k.served(j, first, size)}
}

// served is after how many seconds a job would start behind a list, of whose first
// jobs each that fits starts as soon as it does, if all ran as long as such jobs do.
func (k *known) served(j *trace.Job, list []*trace.Job, size float64) float64 {
	var ends releases
	work := 0.0
	for _, i := range k.running {
		q := &k.jobs[i]
		ends = append(ends, release{k.remaining(q, float64(k.now-q.Start)), float64(q.Nodes)})
		work += ends[len(ends)-1].after * float64(q.Nodes)
	}
	if len(list) > longest {
		limits := 0.0
		for _, q := range list {
			limits += float64(q.Limit) * float64(q.Nodes)
		}
		return (work + k.all.meanUse()*limits) / max(size, 1)
	}
	heap.Init(&ends)
	list = append(slices.Clone(list), j)
	free, now := max(size-float64(k.used), 0), 0.0
	for {
		for i := 0; i < min(len(list), scanned) && free > 0; {
			q := list[i]
			if float64(q.Nodes) > free {
				i++
				continue
			}
			if q == j {
				return now
			}
			free -= float64(q.Nodes)
			heap.Push(&ends, release{now + k.length(q), float64(q.Nodes)})
			list = slices.Delete(list, i, i+1)
		}
		if len(ends) == 0 {
			return now
		}
		e := heap.Pop(&ends).(release)
		now, free = e.after, free+e.nodes
	}
}

// length is how long such a job runs on average, in seconds.
func (k *known) length(q *trace.Job) float64 {
	p := find(k.shapes, shapeOf(q))
	if len(p.uses) < 5 {
		p = find(k.users, q.User)
	}
	return max(p.meanUse()*float64(q.Limit), 60)
}

// releases is a heap by time.
type releases []release

func (r releases) Len() int           { return len(r) }
func (r releases) Less(a, b int) bool { return r[a].after < r[b].after }
func (r releases) Swap(a, b int)      { r[a], r[b] = r[b], r[a] }
func (r *releases) Push(x any)        { *r = append(*r, x.(release)) }
func (r *releases) Pop() any          { last := (*r)[len(*r)-1]; *r = (*r)[:len(*r)-1]; return last }
