package backtest

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// known holds what a log shows at a time: the jobs submitted by then, and of
// those that started or ended before it, when they did.
type known struct {
	jobs    []trace.Job
	now     int64
	starts  []int // jobs in the order of their starts, those to come
	ends    []int // and of their ends
	pending []int // in the order of submission
	running []int // in the order of their starts

	of      []groups // of each job that was submitted
	users   map[string]*group
	shapes  map[shape]*group // of a user
	classes map[class]*group
	all     group
	used    int // nodes
}

// group holds the waits and run times of jobs that have something in common.
type group struct {
	waits     []float64 // seconds, of those that started, in the order of their starts
	last      int64     // start of the latest
	started   []int64   // in order
	ended     []float64 // run time as a share of the limit, of those that ended
	submitted []int64   // in order
	running   []int     // jobs

	uses   lengths.Uses // at usesAt
	usesAt int64
	mean   float64 // share that jobs of the shape use, at meanAt
	meanAt int64
}

// groups holds the groups that a job belongs to.
type groups [4]*group

// By whom the jobs of groups are.
const (
	ofAnybody = iota
	ofItsUser
	ofItsShape
	ofItsClass
)

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

// groups returns the groups of a job.
func (k *known) groups(j *trace.Job) groups {
	return groups{&k.all, find(k.users, j.User), find(k.shapes, shapeOf(j)), find(k.classes, classOf(j))}
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
	for _, p := range k.of[i] {
		p.running = append(p.running, i)
	}
	if j.NoStart {
		return
	}
	for _, p := range k.of[i] {
		p.waits = append(p.waits, float64(j.Wait()))
		p.last = j.Start
		p.started = append(p.started, j.Start)
	}
}

func (k *known) end(i int) {
	j := &k.jobs[i]
	if !removed(&k.running, i) {
		return
	}
	k.used -= j.Nodes
	for _, p := range k.of[i] {
		removed(&p.running, i)
		if j.Limit > 0 {
			p.ended = append(p.ended, float64(j.Duration())/float64(j.Limit))
		}
	}
}

// removed takes a job out of a list, and says whether it was there.
func removed(jobs *[]int, job int) bool {
	at := slices.Index(*jobs, job)
	if at >= 0 {
		*jobs = slices.Delete(*jobs, at, at+1)
	}
	return at >= 0
}

// submit adds a job to the queue.
func (k *known) submit(i int) {
	j := &k.jobs[i]
	k.pending = append(k.pending, i)
	k.of = append(k.of, k.groups(j))
	for _, p := range k.of[i] {
		p.submitted = append(p.submitted, j.Submit)
	}
}

// lengthsOf returns the run times of the jobs of some groups that are known now.
func (k *known) lengthsOf(g groups) lengths.Kinds {
	return func(kind int) lengths.Uses {
		switch kind {
		case 0:
			return k.usesOf(g[ofItsShape], lengths.OfKind)
		case 1:
			return k.usesOf(g[ofItsUser], lengths.OfKind)
		}
		return k.usesOf(g[ofAnybody], lengths.OfAll)
	}
}

func (k *known) usesOf(p *group, most int) lengths.Uses {
	if p.usesAt == k.now {
		return p.uses
	}
	p.uses, p.usesAt = p.uses[:0], k.now
	for _, share := range tail(p.ended, most) {
		p.uses = append(p.uses, lengths.Use{Share: share})
	}
	for _, i := range p.running {
		if j := &k.jobs[i]; j.Limit > 0 {
			p.uses = append(p.uses, lengths.Use{Share: float64(k.now-j.Start) / float64(j.Limit), Running: true})
		}
	}
	p.uses.Sort()
	return p.uses
}

// remaining returns the expected rest of a running job, in seconds.
func (k *known) remaining(i int) float64 {
	j := &k.jobs[i]
	ran, limit := float64(k.now-j.Start), float64(j.Limit)
	return max(k.lengthsOf(k.of[i]).Share(ran/max(limit, 1), .5, .5)*limit-ran, shortest)
}

// length returns the mean run time of jobs of some groups, in seconds.
func (k *known) length(j *trace.Job, g groups) float64 {
	p := g[ofItsShape]
	if p.meanAt != k.now {
		p.mean, p.meanAt = k.lengthsOf(g).Mean(), k.now
	}
	return max(p.mean*float64(j.Limit), shortest)
}

// shortest is the shortest run time that counts, in seconds: less than a pass of the scheduler
// makes no difference.
const shortest = 60
