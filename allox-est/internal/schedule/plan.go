package schedule

import (
	"cmp"
	"math"
	"slices"
)

// plan is the assignment of jobs to nodes, and the order on each node, with the least sum of
// completion times by the reported times. A job that is the n-th from the end of a node's
// queue delays itself and the n-1 jobs behind it, so it costs n times its own time plus the
// time at which the node is free: the best plan is a minimum-cost matching of jobs to such
// slots (Horn 1973; Bruno, Coffman and Sethi 1974; AlloX, EuroSys 2020, section 4).
//
// It is kept as a residual network between updates. The vertices are the levels and, as
// number 0, the pool of nodes. An edge from level to level moves a job; one from a level to
// the pool takes one more node for it, and one from the pool gives a node back. A plan is
// optimal if and only if no cycle has a negative cost (Klein 1967).
type plan struct {
	ready    [Devices][]float64 // time at which each node is free
	order    [Devices][]int     // nodes by that time
	levels   [Devices][]*level  // levels[d][n-1] is the n-th from the end; the last is empty
	vertices []vertex
}

// level is all slots of one distance n from the end on one device: they differ only in the
// time at which their node is free, which is no matter to which job takes which. Its jobs
// take the nodes that are free first.
type level struct {
	device    Device
	n, vertex int // n counts from 1
	jobs      []*Job
}

// vertex is a vertex of the network. Via is the one that last lowered its price, -1 for
// none, and moved the job that moves from there. Changed says that its price or its jobs
// have changed since its edges were looked at.
type vertex struct {
	level   *level
	price   float64
	via     int
	moved   *Job
	changed bool
}

// update makes the plan optimal for the waiting jobs and the times at which nodes are free.
func (p *plan) update(ready [Devices][]float64, waiting []*Job) {
	if p.vertices == nil {
		p.vertices = []vertex{{}}
	}
	for d, times := range ready {
		p.ready[d], p.order[d] = times, make([]int, len(times))
		for i := range times {
			p.order[d][i] = i
		}
		slices.SortStableFunc(p.order[d], func(a, b int) int { return cmp.Compare(times[a], times[b]) })
		for _, l := range p.levels[d] {
			n := len(l.jobs)
			l.jobs = slices.DeleteFunc(l.jobs, func(j *Job) bool { return j.end > 0 })
			p.vertices[l.vertex].changed = p.vertices[l.vertex].changed || len(l.jobs) < n
		}
		if len(p.levels[d]) == 0 {
			p.open(Device(d))
		}
	}
	for _, j := range waiting {
		if j.level == nil {
			p.add(j)
		}
	}
	p.solve()
}

// open takes one more level of a device into use.
func (p *plan) open(d Device) {
	l := &level{device: d, n: len(p.levels[d]) + 1, vertex: len(p.vertices)}
	p.levels[d], p.vertices = append(p.levels[d], l), append(p.vertices, vertex{level: l, price: math.Inf(1)})
	for v := range p.vertices {
		p.vertices[v].changed = true
	}
}

// next returns the cost of one more slot of a level, +Inf where it is full.
func (p *plan) next(l *level) float64 {
	if len(l.jobs) == len(p.order[l.device]) {
		return math.Inf(1)
	}
	return p.ready[l.device][p.order[l.device][len(l.jobs)]]
}

// add puts a job into its cheapest free slot.
func (p *plan) add(j *Job) {
	var best *level
	least := math.Inf(1)
	for d, levels := range p.levels {
		for _, l := range levels {
			if cost := float64(l.n)*j.Reported[d] + p.next(l); cost < least {
				best, least = l, cost
			}
		}
	}
	p.move(j, best)
}

// move puts a job into a level, and opens the next one if that was the last.
func (p *plan) move(j *Job, to *level) {
	if from := j.level; from != nil {
		at := slices.Index(from.jobs, j)
		from.jobs = slices.Delete(from.jobs, at, at+1)
		p.vertices[from.vertex].changed = true
	}
	j.level, to.jobs = to, append(to.jobs, j)
	p.vertices[to.vertex].changed = true
	if to.n == len(p.levels[to.device]) {
		p.open(to.device)
	}
}

// first returns the job that node i of a device runs first, or nil. Jobs of one level may
// change places at no cost; of those it returns the shortest, and of equal ones the earliest.
func (p *plan) first(d Device, i int) *Job {
	place := slices.Index(p.order[d], i)
	for _, l := range slices.Backward(p.levels[d]) {
		if len(l.jobs) > place {
			return slices.MinFunc(l.jobs, func(a, b *Job) int {
				return cmp.Or(cmp.Compare(a.Reported[d], b.Reported[d]), cmp.Compare(a.index, b.index))
			})
		}
	}
	return nil
}

// solve makes the plan optimal: it computes the prices of all vertices by the algorithm of
// Bellman and Ford and cancels the cycles of negative cost that it meets. The prices
// then prove that there is none.
func (p *plan) solve() {
	p.forget()
	for p.lower() {
		if v := p.cycle(); v >= 0 {
			p.turn(v)
			p.forget()
		}
	}
}

// forget drops where prices came from: the jobs to be moved may be elsewhere now.
func (p *plan) forget() {
	for v := range p.vertices {
		p.vertices[v].via = -1
	}
}

// lower passes once over all edges that may lower a price and reports whether one fell.
// Differences that may be rounding count for nothing.
func (p *plan) lower() (fell bool) {
	p.vertices[0].changed = true // nodes are free at other times
	for v := range p.vertices {
		here := p.vertices[v].price
		p.edges(v, func(to int, cost float64, moved *Job) {
			rounding := 1e-11 * (math.Abs(here) + math.Abs(cost))
			if w := &p.vertices[to]; here+cost < w.price-rounding {
				w.price, w.via, w.moved, w.changed, fell = here+cost, v, moved, true, true
			}
		})
	}
	return fell
}

// edges calls visit with the end, the cost and the job of every edge out of a vertex; of
// one that has not changed only of the edge to the pool.
func (p *plan) edges(v int, visit func(to int, cost float64, moved *Job)) {
	from := p.vertices[v].level
	if from != nil {
		visit(0, p.next(from), nil)
	}
	if !p.vertices[v].changed {
		return
	}
	p.vertices[v].changed = false
	for d, levels := range p.levels {
		for _, to := range levels {
			switch {
			case from == nil && len(to.jobs) > 0:
				visit(to.vertex, -p.ready[d][p.order[d][len(to.jobs)-1]], nil)
			case from == nil || from == to:
			case from.device != to.device || from.n == to.n+1 || from.n == to.n-1: // further ones are reached through these
				for _, j := range from.jobs {
					visit(to.vertex, float64(to.n)*j.Reported[d]-float64(from.n)*j.Reported[from.device], j)
				}
			}
		}
	}
}

// cycle returns a vertex on a cycle of the edges that last lowered prices, or -1.
func (p *plan) cycle() int {
	color := make([]int, len(p.vertices))
	for v := range p.vertices {
		w := v
		for w >= 0 && color[w] == 0 {
			color[w] = v + 1
			w = p.vertices[w].via
		}
		if w >= 0 && color[w] == v+1 {
			return w
		}
	}
	return -1
}

// turn moves the jobs of the cycle through a vertex one step along it.
func (p *plan) turn(v int) {
	var steps []vertex
	for w := v; len(steps) == 0 || w != v; w = p.vertices[w].via {
		steps = append(steps, p.vertices[w])
	}
	for _, s := range steps {
		if s.moved != nil {
			p.move(s.moved, s.level)
		}
	}
}
