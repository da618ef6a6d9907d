package backtest

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/foretime/foretime/mirage/trace"
)

// known is what a log shows at an instant: the jobs submitted by then, and of
// those that started or ended before it, when they did.
type known struct {
	jobs    []trace.Job
	now     int64
	starts  []int // jobs in the order of their starts, those to come
	ends    []int // and of their ends
	pending []int // in the order of submission
	running []int // in the order of their starts

	users   map[string]*group
	shapes  map[shape]*group // of a user
	classes map[class]*group
	all     group
	used    int // nodes
}

// group is what jobs that have something in common have come to.
type group struct {
	waits     []float64 // seconds, of those that started, in the order of their starts
	last      int64     // start of the latest
	started   []int64   // in order
	uses      []float64 // run time as a share of the limit, of those that ended
	submitted []int64   // in order
}

// shape is a user's kind of job, and class anybody's.
type shape struct {
	user, partition string
	nodes           int
	limit           int64
}

type class struct {
	partition    string
	nodes, limit int
}

func shapeOf(j *trace.Job) shape { return shape{j.User, j.Partition, j.Nodes, j.Limit} }

// classOf puts sizes and limits that differ by less than a factor of two in one
// class.
func classOf(j *trace.Job) class {
	return class{j.Partition, bits.Len(uint(max(j.Nodes, 1))), bits.Len64(uint64(max(j.Limit, 60)))}
}

func newKnown(jobs []trace.Job) *known {
	k := &known{
		jobs: jobs, now: math.MinInt64,
		users: map[string]*group{}, shapes: map[shape]*group{}, classes: map[class]*group{},
	}
	k.starts, k.ends = make([]int, len(jobs)), make([]int, len(jobs))
	for i := range jobs {
		k.starts[i], k.ends[i] = i, i
	}
	slices.SortStableFunc(k.starts, func(a, b int) int { return cmp.Compare(jobs[a].Start, jobs[b].Start) })
	slices.SortStableFunc(k.ends, func(a, b int) int { return cmp.Compare(jobs[a].End, jobs[b].End) })
	return k
}

func find[K comparable](m map[K]*group, key K) *group {
	p, ok := m[key]
	if !ok {
		p = &group{}
		m[key] = p
	}
	return p
}

// groups are those a job belongs to.
func (k *known) groups(j *trace.Job) [4]*group {
	return [4]*group{&k.all, find(k.users, j.User), find(k.shapes, shapeOf(j)), find(k.classes, classOf(j))}
}

// advance lets everything become known that happened before an instant, and
// reports the jobs that have started.
func (k *known) advance(now int64, started func(job int)) {
	for {
		start, end := int64(math.MaxInt64), int64(math.MaxInt64)
		if len(k.starts) > 0 {
			start = k.jobs[k.starts[0]].Start
		}
		if len(k.ends) > 0 {
			end = k.jobs[k.ends[0]].End
		}
		switch {
		case min(start, end) >= now:
			k.now = now
			return
		case end < start:
			k.end(k.ends[0])
			k.ends = k.ends[1:]
		default:
			i := k.starts[0]
			k.starts = k.starts[1:]
			k.start(i)
			started(i)
		}
	}
}

func (k *known) start(i int) {
	j := &k.jobs[i]
	if at, ok := slices.BinarySearch(k.pending, i); ok {
		k.pending = slices.Delete(k.pending, at, at+1)
	}
	k.running = append(k.running, i)
	k.used += j.Nodes
	if j.NoStart {
		return
	}
	for _, p := range k.groups(j) {
		p.waits = append(p.waits, float64(j.Wait()))
		p.last = j.Start
		p.started = append(p.started, j.Start)
	}
}

func (k *known) end(i int) {
	j := &k.jobs[i]
	at := slices.Index(k.running, i)
	if at < 0 {
		return
	}
	k.running = slices.Delete(k.running, at, at+1)
	k.used -= j.Nodes
	if j.Limit <= 0 {
		return
	}
	for _, p := range k.groups(j) {
		p.uses = append(p.uses, float64(j.Duration())/float64(j.Limit))
	}
}

// submit adds a job to the queue.
func (k *known) submit(i int) {
	j := &k.jobs[i]
	k.pending = append(k.pending, i)
	for _, p := range k.groups(j) {
		p.submitted = append(p.submitted, j.Submit)
	}
}
