package matching

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Errors returned when a job or a machine is not one. They arrive wrapped
// with the values.
var (
	// ErrTime is returned when a job's time is not above zero, or NaN, or
	// infinite on every type of machine.
	ErrTime = errors.New("want job times above zero, and a finite one")
	// ErrReady is returned when the time at which a machine is free is NaN or
	// infinite, or there is no machine.
	ErrReady = errors.New("want a finite ready time")
)

// Plan is an optimal plan of jobs on machines. Machines are numbered within
// their type. It is not safe for concurrent use.
type Plan struct {
	types []*kind
	jobs  []*job // by id; nil once removed
	spare []int  // ids of removed jobs
	dirty bool   // ready times or the number of jobs have changed
	scale float64
	graph graph
}

// kind is the machines of one type and the slots opened on them. All slots of
// one distance from the end form one level: they differ only in their
// machine's ready time, which is no matter to which job takes which.
type kind struct {
	ready  []float64 // by machine
	rank   []int     // by machine: place in order
	order  []int     // machines by ready time
	levels []*level  // levels[n-1] is the n-th from the end
	open   int       // levels in use, of which the last one is empty
}

// level is a position counted from the end of the queue. Its jobs take the machines that are
// ready first.
type level struct {
	kind, n int // n counts from 1
	jobs    []*job
	node    int // in graph
	moves   *moves
}

type job struct {
	id      int
	seconds []float64
	level   *level
	at      int // index in level.jobs
}

// New returns an empty plan. ready[t] holds the times at which the machines
// of type t are free.
func New(ready [][]float64) (*Plan, error) {
	p := &Plan{}
	machines := 0
	for t, times := range ready {
		for _, x := range times {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("ready %v: %w", x, ErrReady)
			}
			p.scale = max(p.scale, math.Abs(x))
		}
		machines += len(times)
		k := &kind{ready: slices.Clone(times), rank: make([]int, len(times)), order: make([]int, len(times))}
		for i := range k.order {
			k.order[i] = i
		}
		k.sort()
		p.types = append(p.types, k)
		p.open(t)
	}
	if machines == 0 {
		return nil, fmt.Errorf("no machine: %w", ErrReady)
	}
	return p, nil
}

// open takes one more level of type t into use.
func (p *Plan) open(t int) {
	k := p.types[t]
	if len(k.ready) == 0 {
		return
	}
	k.open++
	if k.open > len(k.levels) {
		l := &level{kind: t, n: k.open}
		k.levels = append(k.levels, l)
		p.graph.add(l)
	}
	p.appraise(k.levels[k.open-1])
}

func (k *kind) sort() {
	slices.SortFunc(k.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(k.ready[a], k.ready[b]), cmp.Compare(a, b))
	})
	for place, machine := range k.order {
		k.rank[machine] = place
	}
}

// next is the cost of one more slot of the level, +Inf where it is full.
func (k *kind) next(l *level) float64 {
	if len(l.jobs) == len(k.order) {
		return math.Inf(1)
	}
	return k.ready[k.order[len(l.jobs)]]
}

// last returns the saving of one slot less in the level, -Inf if it is empty.
func (k *kind) last(l *level) float64 {
	if len(l.jobs) == 0 {
		return math.Inf(-1)
	}
	return k.ready[k.order[len(l.jobs)-1]]
}

// Add puts a job into the plan and returns its id: 0, 1, 2 and so on, but the
// id of a removed job first.
// seconds[t] is its time on a machine of type t, +Inf where it cannot run.
func (p *Plan) Add(seconds []float64) (id int, err error) {
	if len(seconds) != len(p.types) {
		return 0, fmt.Errorf("%d times for %d types: %w", len(seconds), len(p.types), ErrTime)
	}
	runs := false
	for t, x := range seconds {
		if !(x > 0) {
			return 0, fmt.Errorf("time %v: %w", x, ErrTime)
		}
		runs = runs || !math.IsInf(x, 1) && len(p.types[t].ready) > 0
	}
	if !runs {
		return 0, fmt.Errorf("times %v: %w", seconds, ErrTime)
	}
	p.solve()
	for _, x := range seconds {
		if !math.IsInf(x, 1) {
			p.scale = max(p.scale, x)
		}
	}
	j := &job{id: len(p.jobs), seconds: slices.Clone(seconds)}
	if n := len(p.spare); n > 0 {
		j.id, p.spare = p.spare[n-1], p.spare[:n-1]
		p.jobs[j.id] = j
	} else {
		p.jobs = append(p.jobs, j)
	}
	p.augment(j)
	return j.id, nil
}

// Remove takes a job out of the plan.
func (p *Plan) Remove(id int) {
	j := p.jobs[id]
	p.jobs[id] = nil
	p.spare = append(p.spare, id)
	p.graph.enqueue(j.level.node)
	j.level.remove(j)
	p.dirty = true
}

// SetReady changes the time at which machine i of type t is free. It returns
// ErrReady for a time that is not finite.
func (p *Plan) SetReady(t, i int, ready float64) error {
	if math.IsNaN(ready) || math.IsInf(ready, 0) {
		return fmt.Errorf("ready %v: %w", ready, ErrReady)
	}
	k := p.types[t]
	if k.ready[i] == ready {
		return nil
	}
	k.ready[i] = ready
	p.scale = max(p.scale, math.Abs(ready))
	p.dirty = true
	// The rest is in order: move this machine to its place.
	place := k.rank[i]
	before := func(a, b int) bool { return k.ready[a] < k.ready[b] || k.ready[a] == k.ready[b] && a < b }
	for place > 0 && before(i, k.order[place-1]) {
		k.order[place], k.rank[k.order[place-1]] = k.order[place-1], place
		place--
	}
	for place+1 < len(k.order) && before(k.order[place+1], i) {
		k.order[place], k.rank[k.order[place+1]] = k.order[place+1], place
		place++
	}
	k.order[place], k.rank[i] = i, place
	return nil
}

// First returns the job that machine i of type t runs first. Jobs of one
// level may change places at no cost; of those First takes the shortest, and
// of equal ones the lowest id.
func (p *Plan) First(t, i int) (id int, ok bool) {
	p.solve()
	k := p.types[t]
	for n := k.open - 1; n >= 0; n-- {
		if l := k.levels[n]; len(l.jobs) > k.rank[i] {
			return l.shortest(t).id, true
		}
	}
	return 0, false
}

func (l *level) shortest(t int) *job {
	return slices.MinFunc(l.jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.seconds[t], b.seconds[t]), cmp.Compare(a.id, b.id))
	})
}

// add and remove keep the job's place and forget what moves out of the level
// cost.
func (l *level) add(j *job) {
	j.level, j.at = l, len(l.jobs)
	l.jobs = append(l.jobs, j)
	l.moves = nil
}

func (l *level) remove(j *job) {
	last := l.jobs[len(l.jobs)-1]
	l.jobs[j.at], last.at = last, j.at
	l.jobs = l.jobs[:len(l.jobs)-1]
	j.level, l.moves = nil, nil
}
