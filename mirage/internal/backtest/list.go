package backtest

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// How many pending jobs are looked at for one that fits, and how many may be in
// a list that is served one by one; a longer one counts as work to be done. The first is
// the depth of a pass of Slurm, the second bounds the CPU time.
const (
	scanned = 100
	longest = 1000
)

// waiting is a job of a list.
type waiting struct {
	nodes, length float64
	priority      float64
	asked         bool
}

// lists are after how many seconds a job would start if the queue were served as a
// list, in the order of submission and by priority, behind what runs.
func (k *known) lists(j *trace.Job, g groups, size float64, running []release) []float64 {
	all := make([]waiting, 0, len(k.pending)+1)
	for _, i := range k.pending {
		q := &k.jobs[i]
		all = append(all, waiting{float64(q.Nodes), k.length(q, k.of[i]), q.Priority, false})
	}
	first := slices.DeleteFunc(slices.Clone(all), func(q waiting) bool { return q.priority < j.Priority })
	if len(first) <= longest {
		slices.SortStableFunc(first, func(a, b waiting) int { return cmp.Compare(b.priority, a.priority) })
	}
	me := waiting{float64(j.Nodes), k.length(j, g), j.Priority, true}
	free := max(size-float64(k.used), 0)
	return []float64{served(append(all, me), running, free, size), served(append(first, me), running, free, size)}
}

// served is after how many seconds the job that is asked for starts, the last of a
// list, of whose first jobs each that fits starts as soon as it does.
func served(list []waiting, running []release, free, size float64) float64 {
	if len(list) > longest {
		work := 0.0
		for _, e := range running {
			work += e.after * e.nodes
		}
		for _, q := range list[:len(list)-1] {
			work += q.length * q.nodes
		}
		return work / max(size, 1)
	}
	ends := releases(slices.Clone(running))
	heap.Init(&ends)
	now := 0.0
	for {
		for i := 0; i < min(len(list), scanned) && free > 0; {
			q := list[i]
			if q.nodes > free {
				i++
				continue
			}
			if q.asked {
				return now
			}
			free -= q.nodes
			heap.Push(&ends, release{now + q.length, q.nodes})
			list = slices.Delete(list, i, i+1)
		}
		if len(ends) == 0 {
			return now
		}
		e := heap.Pop(&ends).(release)
		now, free = e.after, free+e.nodes
	}
}

// release is nodes that come free after so many seconds.
type release struct{ after, nodes float64 }

// releases is a heap by time.
type releases []release

func (r releases) Len() int           { return len(r) }
func (r releases) Less(a, b int) bool { return r[a].after < r[b].after }
func (r releases) Swap(a, b int)      { r[a], r[b] = r[b], r[a] }
func (r *releases) Push(x any)        { *r = append(*r, x.(release)) }
func (r *releases) Pop() any          { last := (*r)[len(*r)-1]; *r = (*r)[:len(*r)-1]; return last }
