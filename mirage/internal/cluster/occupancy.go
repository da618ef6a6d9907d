package cluster

import (
	"cmp"
	"slices"
)

// Allocation is a running job: the nodes it holds, when it must end at the
// latest and when it will end.
type Allocation struct {
	Job   int32
	Nodes int32
	User  int32
	Start int64
	Until int64  // start + limit: what a scheduler plans with
	End   int64  // what only time shows
	Place *Place // where nodes are of kinds
}

// Occupancy says who holds the nodes. Its zero value is no machine; see
// NewOccupancy.
type Occupancy struct {
	free    int
	running []Allocation // by Until, then Job
	ends    []ending     // the latest first
	down    []Window
	layout  *Layout  // nil where nodes are only counted
	idle    []Amount // free on each node
}

type ending struct {
	at  int64
	job int32
}

func latest(a, b ending) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.job, a.job)) }

// NewOccupancy returns an idle machine.
func NewOccupancy(m Machine) *Occupancy {
	o := &Occupancy{free: m.Nodes, down: m.Down, layout: m.Layout()}
	if o.layout != nil {
		o.idle = append(o.idle, o.layout.nodes...)
	}
	return o
}

// Clone returns an independent copy.
func (o *Occupancy) Clone() *Occupancy {
	c := *o
	c.running = append(make([]Allocation, 0, len(o.running)+8), o.running...)
	c.ends = append(make([]ending, 0, len(o.ends)+8), o.ends...)
	c.idle = slices.Clone(o.idle)
	return &c
}

// Free returns the number of nodes that no job holds, whether up or down; where nodes
// are of kinds, those with a CPU that no job holds.
func (o *Occupancy) Free() int { return o.free }

// Running returns the allocations in the order in which their limits run out. The
// slice is the occupancy's own and changes with it.
func (o *Occupancy) Running() []Allocation { return o.running }

// NeedsPlan reports whether nodes are down now or later, or have kinds: then free nodes alone do
// not decide whether a job fits.
func (o *Occupancy) NeedsPlan(now int64) bool {
	return o.layout != nil || slices.ContainsFunc(o.down, func(w Window) bool { return w.To > now })
}

func order(a, b Allocation) int {
	return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Job, b.Job))
}

// Take gives nodes to a job. It panics when there are not enough of those that
// are only counted: the caller decides what fits.
func (o *Occupancy) Take(a Allocation) {
	switch {
	case a.Place != nil:
		o.adjust(a.Place, -1)
	case int(a.Nodes) > o.free:
		panic("cluster: more nodes taken than are free")
	default:
		o.free -= int(a.Nodes)
	}
	i, _ := slices.BinarySearchFunc(o.running, a, order)
	o.running = slices.Insert(o.running, i, a)
	e := ending{a.End, a.Job}
	i, _ = slices.BinarySearchFunc(o.ends, e, latest)
	o.ends = slices.Insert(o.ends, i, e)
}

// Reschedule changes when running jobs will end.
func (o *Occupancy) Reschedule(ends func(job int32, until, end int64) int64) {
	o.ends = o.ends[:0]
	for i := range o.running {
		a := &o.running[i]
		a.End = ends(a.Job, a.Until, a.End)
		o.ends = append(o.ends, ending{a.End, a.Job})
	}
	slices.SortFunc(o.ends, latest)
}

// NextEnd returns the end of the next job to end; ok is false on an idle machine.
func (o *Occupancy) NextEnd() (at int64, ok bool) {
	if len(o.ends) == 0 {
		return 0, false
	}
	return o.ends[len(o.ends)-1].at, true
}

// Release ends the job that ends first and returns what it held.
func (o *Occupancy) Release() Allocation {
	last := len(o.ends) - 1
	job := o.ends[last].job
	o.ends = o.ends[:last]
	i := slices.IndexFunc(o.running, func(a Allocation) bool { return a.Job == job })
	a := o.running[i]
	o.running = slices.Delete(o.running, i, i+1)
	if a.Place != nil {
		o.adjust(a.Place, 1)
	} else {
		o.free += int(a.Nodes)
	}
	return a
}

// Room says that so many nodes, which are of kinds, have now what a job takes of
// them, whatever is planned.
func (o *Occupancy) Room(nodes int, share *Share) bool {
	for n := range o.idle {
		if o.layout.admits(int32(n), share) && o.layout.takes(int32(n), share, o.idle[n]) {
			if nodes--; nodes == 0 {
				return true
			}
		}
	}
	return false
}

// adjust returns the resources of a place to its nodes, or takes them.
func (o *Occupancy) adjust(p *Place, times int64) {
	for _, n := range p.On {
		before := o.idle[n][cpus] > 0
		o.idle[n].add(o.layout.resources(p.Share, n), times)
		switch after := o.idle[n][cpus] > 0; {
		case before && !after:
			o.free--
		case after && !before:
			o.free++
		}
	}
}

// PlaceOf returns the nodes of a running job; nil if nodes are only counted.
func (o *Occupancy) PlaceOf(job int32) *Place {
	if o.layout == nil {
		return nil
	}
	i := slices.IndexFunc(o.running, func(a Allocation) bool { return a.Job == job })
	return o.running[i].Place
}

// Assign returns a place for a job that already runs: on the given nodes if they are known;
// else on the first ones with room now and, if those do not suffice, on those with the most
// free CPUs. It is nil if nodes are only counted.
func (o *Occupancy) Assign(nodes int, share *Share, on []int32) *Place {
	if o.layout == nil {
		return nil
	}
	if len(on) != nodes || slices.ContainsFunc(on, func(n int32) bool { return n < 0 || int(n) >= len(o.idle) }) {
		var p Profile
		p.plan(o, 0)
		if on = p.board.choose(nodes, share, 0, 1); on == nil {
			on = o.roomiest(nodes)
		}
	}
	place := &Place{On: on, Share: share}
	for _, n := range on {
		place.CPUs += int32(o.layout.resources(share, n)[cpus])
	}
	return place
}

func (o *Occupancy) roomiest(nodes int) []int32 {
	on := make([]int32, len(o.idle))
	for n := range on {
		on[n] = int32(n)
	}
	slices.SortStableFunc(on, func(a, b int32) int { return cmp.Compare(o.idle[b][cpus], o.idle[a][cpus]) })
	return on[:min(nodes, len(on))]
}

// PlanNow fills p with the nodes that are free now and will go on to be, as if no
// job ended: what fits from now on fits in that, as nodes that go down have to be
// empty.
func (o *Occupancy) PlanNow(p *Profile, now int64) {
	if o.layout == nil {
		o.Plan(p, now, 0)
		return
	}
	p.plan(o, now)
	o.windows(p, now, 0)
}

// Plan fills p with the nodes that will be free from now on if every job runs
// to its limit. Times of release are rounded up to multiples of resolution
// seconds after now; 0 keeps them exact.
func (o *Occupancy) Plan(p *Profile, now, resolution int64) {
	p.plan(o, now)
	for _, a := range o.running {
		at := RoundUp(max(a.Until, now+1), now, resolution)
		if a.Place == nil {
			p.Release(at, int(a.Nodes))
			continue
		}
		for _, n := range a.Place.On {
			p.board.rows[n].change(at, forever, o.layout.resources(a.Place.Share, n), 1)
		}
	}
	o.windows(p, now, resolution)
}

// windows takes what goes down out of p.
func (o *Occupancy) windows(p *Profile, now, resolution int64) {
	for _, w := range o.down {
		if w.To > now {
			p.lose(w, max(w.From, now), RoundUp(w.To, now, resolution))
		}
	}
}

// plan fills p with what no job holds, for ever.
func (p *Profile) plan(o *Occupancy, now int64) {
	p.Reset(now, o.free)
	if o.layout == nil {
		p.board = nil
		return
	}
	if p.board == nil {
		p.board = new(board)
	}
	p.board.reset(o.layout, now, o.idle)
}

// lose takes the nodes of a window.
func (p *Profile) lose(w Window, from, to int64) {
	if p.board == nil {
		p.reserve(from, to, w.Nodes)
		return
	}
	for _, n := range p.board.layout.nodesOf(w) {
		p.board.rows[n].change(from, to, p.board.layout.nodes[n], -1)
	}
}

// RoundUp moves at to the next multiple of resolution seconds after origin.
func RoundUp(at, origin, resolution int64) int64 {
	if resolution <= 0 || at <= origin {
		return at
	}
	return origin + (at-origin+resolution-1)/resolution*resolution
}
