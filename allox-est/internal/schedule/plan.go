package schedule

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// plan is the assignment of jobs to nodes, and the order on each node, with the least sum of
// completion times by the reported times. A job that is the n-th from the end of a node's
// queue delays itself and the n-1 jobs behind it, so it costs n times its own time plus the
// time at which the node is free: the best plan is a minimum-cost matching of jobs to such
// slots (Horn 1973; Bruno, Coffman and Sethi 1974; AlloX, EuroSys 2020, section 4).
//
// It is kept as a residual network between updates. Its vertices are the levels and the
// pool of nodes. An edge from level to level moves a job; one from a level to the pool takes
// one more node for it, and one from the pool gives a node back. A plan is optimal if and
// only if no cycle has a negative cost (Klein 1967), and a job is added optimally along a
// shortest path to the pool. The prices of the vertices are right when no edge leads to one
// for less than its price, and then prove that there is no such cycle.
type plan struct {
	ready   [Devices][]float64 // time at which each node is free
	order   [Devices][]int     // nodes by that time
	levels  [Devices][]*vertex // levels[d][n-1] is the n-th from the end; the last is empty
	pool    vertex
	changed []*vertex // with edges to look at: their price or their jobs have changed
}

// vertex is the pool or a level: all slots of one distance n from the end on one device. They
// differ only in the time at which their node is free, which is no matter to which job takes
// which. Its jobs take the nodes that are free first.
type vertex struct {
	device Device
	n      int // counts from 1
	jobs   []*Job
	moves  [Devices][]move // cheapest ones by the level they lead to, as far as known
	price  float64
	via    *vertex // the one that last lowered the price or the distance, or nil
	moved  *Job    // the job that moves from there
	queued bool

	distance float64 // from the job that is added, above the price
	settled  bool
}

// move is a move of a job from one level to another.
type move struct {
	cost float64
	job  *Job
}

// update makes the plan optimal for the waiting jobs and the times at which nodes are free.
// It stops early when the context is done.
func (p *plan) update(ctx context.Context, ready [Devices][]float64, waiting []*Job) {
	p.enqueue(&p.pool)
	for d, times := range ready {
		p.ready[d], p.order[d] = times, make([]int, len(times))
		for i := range times {
			p.order[d][i] = i
		}
		slices.SortStableFunc(p.order[d], func(a, b int) int { return cmp.Compare(times[a], times[b]) })
		for _, l := range p.levels[d] {
			n := len(l.jobs)
			l.jobs = slices.DeleteFunc(l.jobs, func(j *Job) bool { return j.end > 0 })
			if len(l.jobs) < n {
				p.change(l)
			}
			p.lower(l, &p.pool, p.next(l), nil)
		}
		if len(times) > 0 && len(p.levels[d]) == 0 {
			p.open(Device(d))
		}
	}
	p.solve()
	for _, j := range waiting {
		if j.level == nil && ctx.Err() == nil {
			p.add(j)
			p.solve()
		}
	}
}

// vertices returns the pool and all levels.
func (p *plan) vertices() []*vertex {
	return slices.Concat([]*vertex{&p.pool}, p.levels[CPU], p.levels[GPU])
}

// enqueue lets solve look at the edges out of a vertex.
func (p *plan) enqueue(v *vertex) {
	if !v.queued {
		v.queued = true
		p.changed = append(p.changed, v)
	}
}

// change notes that the jobs of a level have changed.
func (p *plan) change(l *vertex) {
	for _, known := range l.moves {
		clear(known)
	}
	p.enqueue(l)
}

// open takes one more level of a device into use, at the price that the edges to it allow.
func (p *plan) open(d Device) {
	l := &vertex{device: d, n: len(p.levels[d]) + 1, price: math.Inf(1)}
	for _, levels := range p.levels {
		for _, from := range levels {
			if from.device != d || from.n == l.n-1 {
				l.price = min(l.price, from.price+from.cheapest(l).cost)
			}
		}
	}
	if math.IsInf(l.price, 1) {
		l.price = p.pool.price - p.next(l)
	}
	p.levels[d] = append(p.levels[d], l)
	p.enqueue(l)
}

// next returns the cost of one more slot of a level, +Inf where it is full.
func (p *plan) next(l *vertex) float64 {
	if len(l.jobs) == len(p.order[l.device]) {
		return math.Inf(1)
	}
	return p.ready[l.device][p.order[l.device][len(l.jobs)]]
}

// cheapest returns the cheapest move of a job of one level to another, at the cost +Inf if
// there is none.
func (v *vertex) cheapest(to *vertex) move {
	known := v.moves[to.device]
	if len(known) >= to.n && known[to.n-1].job != nil {
		return known[to.n-1]
	}
	best := move{cost: math.Inf(1)}
	for _, j := range v.jobs {
		cost := float64(to.n)*j.Reported[to.device] - float64(v.n)*j.Reported[v.device]
		if best.job == nil || cost < best.cost {
			best = move{cost, j}
		}
	}
	for len(known) < to.n {
		known = append(known, move{})
	}
	known[to.n-1] = best
	v.moves[to.device] = known
	return best
}

// edges calls visit with the end, the cost and the job of every edge out of a vertex.
func (p *plan) edges(from *vertex, visit func(to *vertex, cost float64, moved *Job)) {
	if from != &p.pool {
		visit(&p.pool, p.next(from), nil)
	}
	for d, levels := range p.levels {
		if from != &p.pool && from.device == Device(d) { // levels further off are reached through these
			levels = levels[max(from.n-2, 0):min(from.n+1, len(levels))]
		}
		for _, to := range levels {
			switch {
			case from == &p.pool && len(to.jobs) > 0:
				visit(to, -p.ready[d][p.order[d][len(to.jobs)-1]], nil)
			case from != to && len(from.jobs) > 0:
				best := from.cheapest(to)
				visit(to, best.cost, best.job)
			}
		}
	}
}

// move puts a job into a level, and opens the next one if that was the last.
func (p *plan) move(j *Job, to *vertex) {
	if from := j.level; from != nil {
		at := slices.Index(from.jobs, j)
		from.jobs = slices.Delete(from.jobs, at, at+1)
		p.change(from)
	}
	j.level, to.jobs = to, append(to.jobs, j)
	p.change(to)
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

// add adds a job along the shortest path to the pool, found by Dijkstra's algorithm: right
// prices make the costs of all edges non-negative. They are right again after it but for the
// edges of vertices in the queue.
func (p *plan) add(j *Job) {
	all := p.vertices()
	for _, v := range all {
		v.distance = math.Inf(1)
		v.settled = false
		v.moved = j
		if v != &p.pool {
			v.distance = float64(v.n)*j.Reported[v.device] - v.price
		}
	}
	for !p.pool.settled {
		var from *vertex
		for _, v := range all {
			if !v.settled && (from == nil || v.distance < from.distance) {
				from = v
			}
		}
		from.settled = true
		p.edges(from, func(to *vertex, cost float64, moved *Job) {
			distance := max(from.distance+from.price+cost-to.price, from.distance)
			if !to.settled && distance < to.distance {
				to.distance = distance
				to.via = from
				to.moved = moved
			}
		})
	}
	for _, v := range all {
		if v.settled {
			v.price += v.distance - p.pool.distance
		}
	}
	p.shift(&p.pool)
}

// lower offers the price over an edge to its end. Differences that may be rounding count for
// nothing.
func (p *plan) lower(from, to *vertex, cost float64, moved *Job) {
	rounding := 1e-11 * (math.Abs(from.price) + math.Abs(cost))
	if from.price+cost < to.price-rounding {
		to.price = from.price + cost
		to.via = from
		to.moved = moved
		p.enqueue(to)
	}
}

// solve makes the prices right and the plan optimal: it lowers prices by the algorithm of
// Bellman and Ford and cancels the cycles of negative cost that it meets. It keeps the pool
// at price 0, and one empty level at the end of each device.
func (p *plan) solve() {
	for looked := 1; len(p.changed) > 0; looked++ {
		from := p.changed[0]
		p.changed, from.queued = p.changed[1:], false
		p.edges(from, func(to *vertex, cost float64, moved *Job) { p.lower(from, to, cost, moved) })
		if looked%(1+len(p.levels[CPU])+len(p.levels[GPU])) == 0 {
			if v := p.cycle(); v != nil {
				p.shift(v)
				p.enqueue(&p.pool)
			}
		}
	}
	base := p.pool.price
	for _, v := range p.vertices() {
		v.price -= base
		v.via = nil
	}
	for d, levels := range p.levels {
		for len(levels) > 1 && len(levels[len(levels)-2].jobs) == 0 {
			levels = levels[:len(levels)-1]
		}
		p.levels[d] = levels
	}
}

// cycle returns a vertex on a cycle of the edges that last lowered prices, or nil.
func (p *plan) cycle() *vertex {
	seen := map[*vertex]*vertex{}
	for _, v := range p.vertices() {
		w := v
		for w != nil && seen[w] == nil {
			seen[w] = v
			w = w.via
		}
		if w != nil && seen[w] == v {
			return w
		}
	}
	return nil
}

// shift moves the jobs of the path that ends at a vertex, or of the cycle through it, one
// step along it. It forgets the path: the jobs to be moved may be elsewhere now.
func (p *plan) shift(end *vertex) {
	for v := end; ; {
		if v.moved != nil {
			p.move(v.moved, v)
		}
		if v = v.via; v == nil || v == end {
			break
		}
	}
	for _, v := range p.vertices() {
		v.via = nil
	}
}
