package wait

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Replay holds what a log shows at a time: the jobs submitted by then and, if they started
// or ended before it, when they did.
type Replay struct {
	jobs    []trace.Job
	now     int64
	starts  []int // jobs in the order of their starts, those to come
	ends    []int // and of their ends
	pending []int // in the order of submission
	running []int // in the order of their starts

	groupsOf []groups // of each job that was submitted
	users    map[string]*group
	shapes   map[shape]*group // of a user
	classes  map[class]*group
	all      group
	used     int // nodes
}

// group holds the waits and run times of jobs that have something in common.
type group struct {
	waits   []float64    // seconds, of those that started, in the order of their starts
	started []int64      // when, in order
	latest  []float64    // shares of their limits that the latest jobs used, in the order of their ends
	ended   lengths.Uses // the same by share
	running []int        // jobs

	uses   lengths.Uses // of both, at usesAt
	usesAt int64
	mean   float64 // share that jobs of the shape use, at meanAt
	meanAt int64
}

// groups holds the groups that a job belongs to.
type groups [4]*group

// What the jobs of groups have in common.
const (
	groupAll = iota
	groupUser
	groupShape
	groupClass
)

// shape is a user's kind of job.
type shape struct {
	user, partition string
	nodes           int
	limit           int64
}

// class is anybody's kind of job: sizes and limits that differ by less than a factor of
// two are in one class.
type class struct {
	partition            string
	nodesLog2, limitLog2 int
}

// NewReplay returns a replay at the beginning of a log, whose jobs are in the order of
// submission.
func NewReplay(jobs []trace.Job) *Replay {
	r := &Replay{
		jobs: jobs, now: math.MinInt64,
		users: map[string]*group{}, shapes: map[shape]*group{}, classes: map[class]*group{},
	}
	r.starts, r.ends = make([]int, len(jobs)), make([]int, len(jobs))
	for i := range jobs {
		r.starts[i], r.ends[i] = i, i
	}
	slices.SortStableFunc(r.starts, func(a, b int) int { return cmp.Compare(jobs[a].Start, jobs[b].Start) })
	slices.SortStableFunc(r.ends, func(a, b int) int { return cmp.Compare(jobs[a].End, jobs[b].End) })
	return r
}

// Advance lets everything become known that happened before an instant, and reports the
// jobs that have started.
func (r *Replay) Advance(now int64, started func(job int)) {
	for {
		start, end := int64(math.MaxInt64), int64(math.MaxInt64)
		if len(r.starts) > 0 {
			start = r.jobs[r.starts[0]].Start
		}
		if len(r.ends) > 0 {
			end = r.jobs[r.ends[0]].End
		}
		switch {
		case min(start, end) >= now:
			r.now = now
			return
		case end < start:
			r.end(r.ends[0])
			r.ends = r.ends[1:]
		default:
			i := r.starts[0]
			r.starts = r.starts[1:]
			r.start(i)
			started(i)
		}
	}
}

func (r *Replay) start(i int) {
	j := &r.jobs[i]
	removeJob(&r.pending, i)
	r.running = append(r.running, i)
	r.used += j.Nodes
	for _, g := range r.groupsOf[i] {
		g.running = append(g.running, i)
		if !j.NoStart {
			g.waits = append(g.waits, float64(j.Wait()))
			g.started = append(g.started, j.Start)
		}
	}
}

func (r *Replay) end(i int) {
	j := &r.jobs[i]
	if !removeJob(&r.running, i) {
		return
	}
	r.used -= j.Nodes
	for k, g := range r.groupsOf[i] {
		removeJob(&g.running, i)
		if j.Limit > 0 {
			most := lengths.OfKind
			if k == groupAll {
				most = lengths.OfAll
			}
			g.end(float64(j.Duration())/float64(j.Limit), most)
		}
	}
}

// end adds the share of its limit that a job used, and drops the earliest one beyond so many.
func (g *group) end(share float64, most int) {
	g.ended = slices.Insert(g.ended, g.ended.Find(share), lengths.Use{Share: share})
	g.latest = append(g.latest, share)
	if len(g.latest) > most {
		at := g.ended.Find(g.latest[0])
		g.ended = slices.Delete(g.ended, at, at+1)
		g.latest = g.latest[1:]
	}
}

// removeJob takes a job out of a list and reports whether it was there.
func removeJob(jobs *[]int, job int) bool {
	at := slices.Index(*jobs, job)
	if at >= 0 {
		*jobs = slices.Delete(*jobs, at, at+1)
	}
	return at >= 0
}

// Submit adds a job of the log to the queue.
func (r *Replay) Submit(i int) {
	j := &r.jobs[i]
	g := r.groups(j)
	r.users[j.User] = g[groupUser]
	r.shapes[shapeOf(j)] = g[groupShape]
	r.classes[classOf(j)] = g[groupClass]
	r.groupsOf = append(r.groupsOf, g)
	r.pending = append(r.pending, i)
}

// groups returns the groups of a job, new ones if it is the first.
func (r *Replay) groups(j *trace.Job) groups {
	return groups{&r.all, orNew(r.users[j.User]), orNew(r.shapes[shapeOf(j)]), orNew(r.classes[classOf(j)])}
}

func orNew(g *group) *group {
	if g == nil {
		return &group{}
	}
	return g
}

func shapeOf(j *trace.Job) shape { return shape{j.User, j.Partition, j.Nodes, j.Limit} }

func classOf(j *trace.Job) class {
	return class{j.Partition, bits.Len(uint(max(j.Nodes, 1))), bits.Len64(uint64(max(j.Limit, 60)))}
}

// lengthsOf returns the run times of the jobs of some groups that are known now.
func (r *Replay) lengthsOf(g groups) lengths.Kinds {
	return func(kind int) lengths.Uses {
		switch kind {
		case 0:
			return r.usesOf(g[groupShape])
		case 1:
			return r.usesOf(g[groupUser])
		}
		return r.usesOf(g[groupAll])
	}
}

func (r *Replay) usesOf(g *group) lengths.Uses {
	if g.usesAt == r.now {
		return g.uses
	}
	running := make(lengths.Uses, 0, len(g.running))
	for _, i := range g.running {
		if j := &r.jobs[i]; j.Limit > 0 {
			running = append(running, lengths.Use{Share: float64(r.now-j.Start) / float64(j.Limit), Running: true})
		}
	}
	running.Sort()
	g.uses, g.usesAt = lengths.Merge(g.uses[:0], g.ended, running), r.now
	return g.uses
}

// remaining returns the expected rest of a running job, in seconds.
func (r *Replay) remaining(i int) float64 {
	j := &r.jobs[i]
	ran, limit := float64(r.now-j.Start), float64(j.Limit)
	return max(r.lengthsOf(r.groupsOf[i]).Share(ran/max(limit, 1), 0.5, 0.5)*limit-ran, shortestRun)
}

// length returns the mean run time of jobs of some groups, in seconds.
func (r *Replay) length(j *trace.Job, g groups) float64 {
	p := g[groupShape]
	if p.meanAt != r.now {
		p.mean, p.meanAt = r.lengthsOf(g).Mean(), r.now
	}
	return max(p.mean*float64(j.Limit), shortestRun)
}

// shortestRun is the shortest run time that counts, in seconds: less than a pass of the
// scheduler makes no difference.
const shortestRun = 60
