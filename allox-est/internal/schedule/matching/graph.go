package matching

import (
	"cmp"
	"math"
	"slices"
)

// graph is the residual network of a plan. Its nodes are the levels and, as
// node 0, the pool of machines. An edge from level to level moves a job; an
// edge from a level to the pool takes one more machine for it, and one from
// the pool gives a machine back. A plan is optimal if and only if no cycle
// has a negative cost, and a job is added optimally along a shortest path to
// the pool (successive shortest paths).
//
// The duals of the plan are kept as one price for each node: prices are right
// when no edge leads to a node for less than its price, and prove that there
// is no negative cycle. Only nodes whose edges or price have changed since
// need another look.
type graph struct {
	levels []*level  // by node; levels[0] is nil
	price  []float64 // by node
	via    []int     // the node that last lowered the price
	moved  []*job    // the job that moves from there
	queue  []int     // nodes with edges to look at
	queued []bool

	distance []float64 // scratch of augment
	settled  []bool
}

const pool = 0

// moves holds the costs of the cheapest moves of a job from one level to each other.
type moves struct {
	// Within a type only the neighbouring levels matter: further ones are
	// reached through them at no more cost, for in an optimal plan each level
	// holds shorter jobs than the one before it.
	shortest, longest *job
	across            [][]move // by type and level of other types
}

type move struct {
	cost float64
	job  *job
}

// movesOf returns the cheapest moves out of a level, up to date.
func (p *Plan) movesOf(l *level) *moves {
	m := l.moves
	if m == nil {
		m = &moves{across: make([][]move, len(p.types))}
		byTime := func(a, b *job) int { return cmp.Compare(a.seconds[l.kind], b.seconds[l.kind]) }
		m.shortest, m.longest = slices.MinFunc(l.jobs, byTime), slices.MaxFunc(l.jobs, byTime)
		l.moves = m
	}
	for t, k := range p.types {
		if t == l.kind {
			continue
		}
		m.across[t] = slices.Grow(m.across[t], max(k.open-len(m.across[t]), 0))
		for n := len(m.across[t]) + 1; n <= k.open; n++ {
			m.across[t] = append(m.across[t], l.cheapest(t, n))
		}
	}
	return m
}

// cheapest returns the cheapest move of a job of l to the n-th level of type t.
func (l *level) cheapest(t, n int) move {
	best := move{cost: math.Inf(1)}
	for _, j := range l.jobs {
		if cost := float64(n)*j.seconds[t] - float64(l.n)*j.seconds[l.kind]; cost < best.cost {
			best = move{cost, j}
		}
	}
	return best
}

// edges calls visit with the end, the cost and the job of every edge out of
// node v.
func (p *Plan) edges(v int, visit func(to int, cost float64, moved *job)) {
	if v == pool {
		for _, k := range p.types {
			for _, l := range k.levels[:k.open] {
				if len(l.jobs) > 0 {
					visit(l.node, -k.last(l), nil)
				}
			}
		}
		return
	}
	l := p.graph.levels[v]
	k := p.types[l.kind]
	if len(l.jobs) < len(k.order) {
		visit(pool, k.next(l), nil)
	}
	if len(l.jobs) == 0 {
		return
	}
	m := p.movesOf(l)
	if l.n < k.open {
		visit(k.levels[l.n].node, m.shortest.seconds[l.kind], m.shortest)
	}
	if l.n > 1 {
		visit(k.levels[l.n-2].node, -m.longest.seconds[l.kind], m.longest)
	}
	for t, row := range m.across {
		other := p.types[t]
		for n, to := range row[:min(len(row), other.open)] {
			if to.job != nil {
				visit(other.levels[n].node, to.cost, to.job)
			}
		}
	}
}

// add makes a node for a new level.
func (g *graph) add(l *level) {
	if len(g.levels) == 0 {
		g.addNode(nil)
	}
	l.node = len(g.levels)
	g.addNode(l)
}

func (g *graph) addNode(l *level) {
	g.levels = append(g.levels, l)
	g.price = append(g.price, 0)
	g.via = append(g.via, -1)
	g.moved = append(g.moved, nil)
	g.queued = append(g.queued, false)
	g.distance = append(g.distance, 0)
	g.settled = append(g.settled, false)
}

// enqueue queues a node whose edges or price have changed.
func (g *graph) enqueue(v int) {
	if !g.queued[v] {
		g.queued[v] = true
		g.queue = append(g.queue, v)
	}
}

func (g *graph) pop() int {
	v := g.queue[0]
	g.queue = g.queue[1:]
	g.queued[v] = false
	return v
}

// lower offers node v a price. Differences that may be rounding count for
// nothing.
func (p *Plan) lower(v int, price float64, via int, moved *job) {
	g := &p.graph
	if price < g.price[v]-1e-11*p.scale {
		g.price[v], g.via[v], g.moved[v] = price, via, moved
		g.enqueue(v)
	}
}

// appraise gives an empty level that has just been opened the price that the
// edges to it allow.
func (p *Plan) appraise(to *level) {
	g := &p.graph
	price := math.Inf(1)
	for _, k := range p.types {
		for _, l := range k.levels[:k.open] {
			switch {
			case len(l.jobs) == 0:
			case l.kind != to.kind:
				if m := p.movesOf(l).across[to.kind]; m[to.n-1].job != nil {
					price = min(price, g.price[l.node]+m[to.n-1].cost)
				}
			case l.n == to.n-1:
				price = min(price, g.price[l.node]+p.movesOf(l).shortest.seconds[l.kind])
			}
		}
	}
	if math.IsInf(price, 1) {
		price = g.price[pool] - p.types[to.kind].next(to)
	}
	g.price[to.node], g.via[to.node], g.moved[to.node] = price, -1, nil
	g.enqueue(to.node)
}

// solve makes the prices right, and with them the plan optimal: it lowers
// prices until they are, and cancels the cycles of negative cost it meets.
func (p *Plan) solve() {
	g := &p.graph
	if p.dirty {
		p.dirty = false
		g.enqueue(pool)
		for _, k := range p.types {
			for _, l := range k.levels[:k.open] {
				if len(l.jobs) < len(k.order) {
					p.lower(pool, g.price[l.node]+k.next(l), l.node, nil)
				}
			}
		}
	}
	if len(g.queue) == 0 {
		return
	}
	for round := len(g.levels); len(g.queue) > 0; round-- {
		if round == 0 {
			round = len(g.levels)
			if v := g.cycle(); v >= 0 {
				p.turn(v)
			}
		}
		v := g.pop()
		if l := g.levels[v]; l != nil && l.n > p.types[l.kind].open {
			continue
		}
		here := g.price[v]
		p.edges(v, func(to int, cost float64, moved *job) { p.lower(to, here+cost, v, moved) })
	}
	g.forget()
	p.trim()
	if base := g.price[pool]; math.Abs(base) > 1e3*p.scale { // keep the digits
		for v := range g.price {
			g.price[v] -= base
		}
	}
}

// trim takes empty levels at the end out of use, but one.
func (p *Plan) trim() {
	for _, k := range p.types {
		for k.open > 1 && len(k.levels[k.open-1].jobs) == 0 && len(k.levels[k.open-2].jobs) == 0 {
			k.open--
		}
	}
}

// cycle returns a node on a cycle of the edges that last lowered prices, or -1.
func (g *graph) cycle() int {
	color := make([]int, len(g.levels))
	for v := range g.levels {
		w := v
		for w >= 0 && color[w] == 0 {
			color[w] = v + 1
			w = g.via[w]
		}
		if w >= 0 && color[w] == v+1 {
			return w
		}
	}
	return -1
}

// turn moves the jobs of the cycle through node v one step along it.
func (p *Plan) turn(v int) {
	g := &p.graph
	var path []int
	for w := v; ; {
		path = append(path, w)
		if w = g.via[w]; w == v {
			break
		}
	}
	p.shift(path)
	for _, w := range path {
		g.enqueue(w)
	}
	g.enqueue(pool)
	g.forget() // the jobs to be moved may be elsewhere now
}

// forget drops where prices came from.
func (g *graph) forget() {
	for v := range g.via {
		g.via[v] = -1
	}
}

// shift moves each job on a path to the next node.
func (p *Plan) shift(path []int) {
	g := &p.graph
	type step struct {
		job *job
		to  *level
	}
	steps := make([]step, 0, len(path))
	for _, v := range path {
		if g.moved[v] != nil {
			steps = append(steps, step{g.moved[v], g.levels[v]})
		}
	}
	for _, s := range steps {
		p.moveTo(s.job, s.to)
	}
}

// augment adds job j along a shortest path from outside to the pool, found by
// Dijkstra's algorithm on costs that the prices make non-negative. The prices
// must be right, and are so again.
func (p *Plan) augment(j *job) {
	g := &p.graph
	for v := range g.levels {
		g.distance[v], g.settled[v], g.via[v] = math.Inf(1), false, -1
	}
	for t, k := range p.types {
		if math.IsInf(j.seconds[t], 1) {
			continue
		}
		for _, l := range k.levels[:k.open] {
			g.distance[l.node] = float64(l.n)*j.seconds[t] - g.price[l.node]
			g.moved[l.node] = j
		}
	}
	for {
		v := -1
		for w := range g.levels {
			if !g.settled[w] && (v < 0 || g.distance[w] < g.distance[v]) {
				v = w
			}
		}
		if v == pool {
			break
		}
		g.settled[v] = true
		here := g.distance[v] + g.price[v]
		p.edges(v, func(to int, cost float64, moved *job) {
			reduced := max(here+cost-g.price[to], g.distance[v])
			if !g.settled[to] && reduced < g.distance[to] {
				g.distance[to], g.via[to], g.moved[to] = reduced, v, moved
			}
		})
	}
	for v, settled := range g.settled {
		if settled {
			g.price[v] += g.distance[v] - g.distance[pool]
		}
	}
	var path []int
	for v := g.via[pool]; v >= 0; v = g.via[v] {
		path = append(path, v)
	}
	p.shift(path)
	g.forget()
	// Where a level was empty, the one behind it has gained a way to it.
	for _, v := range path {
		g.enqueue(v)
	}
}

// moveTo moves a job to a level, opening the next one if it was the last.
func (p *Plan) moveTo(j *job, to *level) {
	if j.level != nil {
		j.level.remove(j)
	}
	to.add(j)
	if to.n == p.types[to.kind].open {
		p.open(to.kind)
	}
}
