package wait

import (
	"container/heap"
	"slices"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// The number of waits in the medians of the rules. 50 for the class gave 6 % more error
// on wagap.
const (
	waitsOfUser  = 20
	waitsOfShape = 5
	waitsOfClass = 100
	waitsOfAll   = 100
)

// Rules holds the simple predictions of a wait, in seconds: what a person would look at.
type Rules struct {
	User  float64 // median of the user's latest waits
	Shape float64 // of the user's latest jobs of that shape
	Class float64 // of anybody's jobs of such size and limit
	All   float64 // of anybody's
	Mean  float64 // mean of anybody's
}

// Rules returns the simple predictions for a job.
func (r *Replay) Rules(j *trace.Job) Rules { return r.groups(j).rules() }

func (g groups) rules() (s Rules) {
	user := g[groupUser]
	s.Mean = mean(tail(g[groupAll].waits, waitsOfAll))
	s.All = g[groupAll].median(waitsOfAll, 0)
	s.Class = g[groupClass].median(waitsOfClass, s.All)
	s.User = user.median(waitsOfUser, s.Class)
	s.Shape = g[groupShape].median(waitsOfShape, user.median(waitsOfShape, s.Class))
	return s
}

// median returns the median of the latest waits of a group, or else another value.
func (g *group) median(n int, otherwise float64) float64 {
	if len(g.waits) == 0 {
		return otherwise
	}
	return stats.Median(tail(g.waits, n))
}

// How many pending jobs are checked for one that fits, and how many may be in a list that
// is served one by one; a longer one counts as work to be done. The first is the depth of a
// pass of Slurm, the second bounds the CPU time.
const (
	scanDepth  = 100
	longestRow = 1000
)

// listed is a job of a list.
type listed struct {
	nodes, length float64
	asked         bool
}

// listWait returns the seconds until a job would start if the queue were served as a list
// in the order of submission, on a cluster of a size, behind the running jobs.
func (r *Replay) listWait(j *trace.Job, g groups, size float64) float64 {
	list := make([]listed, 0, len(r.pending)+1)
	for _, i := range r.pending {
		q := &r.jobs[i]
		list = append(list, listed{float64(q.Nodes), r.length(q, r.groupsOf[i]), false})
	}
	list = append(list, listed{float64(j.Nodes), r.length(j, g), true})
	ends := make(releases, len(r.running))
	for at, i := range r.running {
		ends[at] = release{r.remaining(i), float64(r.jobs[i].Nodes)}
	}
	if len(list) > longestRow {
		return workWait(list, ends, size)
	}
	return serveList(list, ends, max(size-float64(r.used), 0))
}

// workWait returns the seconds that the jobs before the last of a list and the running ones
// take on all nodes.
func workWait(list []listed, ends releases, size float64) float64 {
	work := 0.0
	for _, e := range ends {
		work += e.after * e.nodes
	}
	for _, q := range list[:len(list)-1] {
		work += q.length * q.nodes
	}
	return work / max(size, 1)
}

// serveList returns the seconds until the asked job of a list starts, if each of its first
// jobs starts as soon as it fits. It changes its arguments.
func serveList(list []listed, ends releases, free float64) float64 {
	heap.Init(&ends)
	now := 0.0
	for {
		for i := 0; i < min(len(list), scanDepth) && free > 0; {
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

// release holds nodes that become free after so many seconds.
type release struct{ after, nodes float64 }

// releases orders releases by time, as a heap.
type releases []release

func (r releases) Len() int           { return len(r) }
func (r releases) Less(a, b int) bool { return r[a].after < r[b].after }
func (r releases) Swap(a, b int)      { r[a], r[b] = r[b], r[a] }
func (r *releases) Push(x any)        { *r = append(*r, x.(release)) }
func (r *releases) Pop() any          { last := (*r)[len(*r)-1]; *r = (*r)[:len(*r)-1]; return last }
