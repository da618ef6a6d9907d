package matching

import "math"

// graph is the residual network of a plan. Its nodes are the levels and, as
// node 0, the pool of machines. An edge from level to level moves a job; an
// edge from a level to the pool takes one more machine for it, and one from
// the pool gives a machine back. A plan is optimal if and only if no cycle
// has a negative cost, and a job is added optimally along a shortest path to
// the pool (successive shortest paths).
type graph struct {
	levels   []*level // by node; levels[0] is nil
	distance []float64
	via      []int  // the node before on the path
	moved    []*job // the job that moves from via
	queue    []int  // nodes whose distance has changed
	queued   []bool
}

const pool = 0

func (g *graph) add(l *level) {
	if len(g.levels) == 0 {
		g.levels = append(g.levels, nil)
	}
	l.node = len(g.levels)
	g.levels = append(g.levels, l)
}

// moves is what the cheapest move of a job from one level to each other costs.
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
		for _, j := range l.jobs {
			if m.shortest == nil || j.seconds[l.kind] < m.shortest.seconds[l.kind] {
				m.shortest = j
			}
			if m.longest == nil || j.seconds[l.kind] > m.longest.seconds[l.kind] {
				m.longest = j
			}
		}
		l.moves = m
	}
	for t, k := range p.types {
		if t == l.kind {
			continue
		}
		for n := len(m.across[t]) + 1; n <= len(k.levels); n++ {
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

// reset prepares a search. start gives every node's first distance.
func (g *graph) reset(start float64) {
	n := len(g.levels)
	for len(g.distance) < n {
		g.distance = append(g.distance, 0)
		g.via = append(g.via, 0)
		g.moved = append(g.moved, nil)
		g.queued = append(g.queued, false)
	}
	g.queue = g.queue[:0]
	for v := range n {
		g.distance[v], g.via[v], g.moved[v], g.queued[v] = start, -1, nil, false
	}
}

// reach offers node v a path of the given cost. Differences that may be
// rounding count for nothing.
func (p *Plan) reach(v int, cost float64, via int, moved *job) {
	g := &p.graph
	if cost < g.distance[v]-1e-11*p.scale {
		g.distance[v], g.via[v], g.moved[v] = cost, via, moved
		if !g.queued[v] {
			g.queued[v] = true
			g.queue = append(g.queue, v)
		}
	}
}

// relax offers the neighbours of node v the path over v.
func (p *Plan) relax(v int) {
	g := &p.graph
	here := g.distance[v]
	if v == pool {
		for w, l := range g.levels {
			if w != pool && len(l.jobs) > 0 {
				p.reach(w, here-p.types[l.kind].last(l), pool, nil)
			}
		}
		return
	}
	l := g.levels[v]
	p.reach(pool, here+p.types[l.kind].next(l), v, nil)
	if len(l.jobs) == 0 {
		return
	}
	m := p.movesOf(l)
	own := p.types[l.kind].levels
	if l.n < len(own) {
		p.reach(own[l.n].node, here+m.shortest.seconds[l.kind], v, m.shortest)
	}
	if l.n > 1 {
		p.reach(own[l.n-2].node, here-m.longest.seconds[l.kind], v, m.longest)
	}
	for t, row := range m.across {
		for n, to := range row {
			p.reach(p.types[t].levels[n].node, here+to.cost, v, to.job)
		}
	}
}

// augment adds job j along a shortest path from outside to the pool. The plan
// must be optimal, and is so again.
func (p *Plan) augment(j *job) {
	g := &p.graph
	g.reset(math.Inf(1))
	for t, k := range p.types {
		for _, l := range k.levels {
			if !math.IsInf(j.seconds[t], 1) {
				p.reach(l.node, float64(l.n)*j.seconds[t], -1, j)
			}
		}
	}
	// The pool ends the path, so it is not relaxed.
	for limit := 4 * len(g.levels) * len(g.levels); len(g.queue) > 0 && limit > 0; limit-- {
		v := g.pop()
		if v != pool {
			p.relax(v)
		}
	}
	p.shift(g.via[pool])
}

func (g *graph) pop() int {
	v := g.queue[0]
	g.queue = g.queue[1:]
	g.queued[v] = false
	return v
}

// shift moves each job of the path that ends in node v one step along it,
// from the end back, until the path comes from outside or from the pool.
func (p *Plan) shift(v int) {
	g := &p.graph
	var path []int
	for ; v > pool && len(path) <= len(g.levels); v = g.via[v] {
		path = append(path, v)
	}
	for _, v := range path {
		if j := g.moved[v]; j != nil {
			p.put(j, g.levels[v])
		}
	}
}

// put moves a job to a level, opening the next one if it was the last.
func (p *Plan) put(j *job, to *level) {
	if j.level != nil {
		j.level.remove(j)
	}
	to.add(j)
	if to.n == len(p.types[to.kind].levels) {
		p.open(to.kind)
	}
}

// solve makes the plan optimal by cancelling cycles of negative cost.
func (p *Plan) solve() {
	if !p.dirty {
		return
	}
	p.dirty = false
	for p.cancel() {
	}
}

// cancel finds one cycle of negative cost and moves its jobs around it.
func (p *Plan) cancel() bool {
	g := &p.graph
	g.reset(0)
	for v := range g.levels {
		g.queued[v] = true
		g.queue = append(g.queue, v)
	}
	for round := len(g.queue); len(g.queue) > 0; round-- {
		if round == 0 {
			if v := g.cycle(); v >= 0 {
				p.turn(v)
				return true
			}
			round = len(g.queue)
		}
		p.relax(g.pop())
	}
	return false
}

// cycle returns a node on a cycle of the paths found so far, or -1.
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
	type step struct {
		job *job
		to  *level
	}
	var steps []step
	for w := v; ; {
		if g.moved[w] != nil {
			steps = append(steps, step{g.moved[w], g.levels[w]})
		}
		if w = g.via[w]; w == v {
			break
		}
	}
	for _, s := range steps {
		p.put(s.job, s.to)
	}
}
