package tree

import "math"

// growth is what bounds one tree.
type growth struct {
	penalty
	maxDepth  int // 0: unlimited
	maxLeaves int // 0: unlimited; else nodes are split best first
	trends    []int8
	// allowed picks the features that a node may be split on; nil allows all.
	allowed func() []bool
}

// grower holds what growing many trees on the same matrix can share.
type grower struct {
	m       *binned
	offsets []int // of each feature's bins in a histogram
	cells   int
	rows    []uint32 // kept so that each node's rows are one run
	spare   []uint32
	sums    gradients
	adders  []accumulator // one a thread
	pool    []histogram
}

func newGrower(m *binned, threads int) *grower {
	g := &grower{m: m, offsets: make([]int, m.columns), adders: make([]accumulator, max(1, threads))}
	for c, f := range m.features {
		g.offsets[c] = g.cells
		g.cells += f.codes()
	}
	return g
}

// branch is a node that is not split yet.
type branch struct {
	node       int
	start, end int // its rows
	depth      int
	total      cell
	bounds     bounds
	sums       histogram
	best       split
}

// leaf is a run of the grower's rows that ended in one node.
type leaf struct{ node, start, end int }

// grow fits one tree to the gradients of some rows. The rows slice is reordered;
// leaves say which run of it ended where.
func (g *grower) grow(rows []uint32, gradient, hessian []float64, limits growth) (*decisionTree, []leaf) {
	g.rows, g.spare = rows, resized(g.spare, len(rows))
	g.sums.load(rows, gradient, hessian)
	limits.gUnit, limits.hUnit = g.sums.gUnit, g.sums.hUnit

	t := &decisionTree{}
	root := &branch{end: len(rows), total: g.sums.total(0, len(rows)), bounds: unbounded}
	t.addNode(-1, root.total, limits.weight(root.total, unbounded), limits.penalty)
	root.sums = g.histogram(0, len(rows))
	g.search(root, limits)

	var leaves []leaf
	open := []*branch{root}
	for count := 1; len(open) > 0; {
		b := g.next(&open, limits)
		if b.best.gain <= limits.gamma || b.best.gain <= 0 || limits.maxLeaves > 0 && count >= limits.maxLeaves {
			leaves = append(leaves, leaf{b.node, b.start, b.end})
			g.release(b.sums)
			continue
		}
		count++
		left, right := g.divide(t, b, limits)
		open = append(open, left, right)
	}
	return t, leaves
}

// next takes the branch to split: the oldest, or, with a limit on leaves, the
// one that gains most.
func (g *grower) next(open *[]*branch, limits growth) *branch {
	at := 0
	if limits.maxLeaves > 0 {
		for i, b := range *open {
			if b.best.gain > (*open)[at].best.gain {
				at = i
			}
		}
	}
	b := (*open)[at]
	*open = append((*open)[:at], (*open)[at+1:]...)
	return b
}

// divide splits a branch and finds the best splits of its children.
func (g *grower) divide(t *decisionTree, b *branch, limits growth) (left, right *branch) {
	s := b.best
	middle := b.start + g.partition(b)
	left = &branch{start: b.start, end: middle, depth: b.depth + 1, total: s.sumLeft, bounds: b.bounds}
	right = &branch{start: middle, end: b.end, depth: b.depth + 1, total: b.total.minus(s.sumLeft), bounds: b.bounds}
	if limits.trends != nil && limits.trends[s.feature] != 0 {
		middle := (s.weightLeft + s.weightRight) / 2
		if limits.trends[s.feature] > 0 {
			left.bounds.high, right.bounds.low = middle, middle
		} else {
			left.bounds.low, right.bounds.high = middle, middle
		}
	}
	t.split(b.node, s, g.m.features[s.feature])
	left.node = t.addNode(b.node, left.total, s.weightLeft, limits.penalty)
	right.node = t.addNode(b.node, right.total, s.weightRight, limits.penalty)

	if limits.maxDepth > 0 && left.depth >= limits.maxDepth {
		g.release(b.sums)
		return left, right
	}
	small, large := left, right
	if small.end-small.start > large.end-large.start {
		small, large = large, small
	}
	small.sums = g.histogram(small.start, small.end)
	large.sums = b.sums
	large.sums.subtract(small.sums)
	g.search(left, limits)
	g.search(right, limits)
	return left, right
}

// partition orders a branch's rows stably by the side they go to and returns
// how many go left. Both writes happen for every row: there is no branch to
// mispredict.
func (g *grower) partition(b *branch) int {
	s, f := b.best, g.m.features[b.best.feature]
	var goesLeft [maxBins]uint8
	for code := range f.codes() {
		left := code <= s.cut
		if s.right != nil {
			left = !s.right.has(code)
		}
		if f.missing && code == f.bins {
			left = s.missingLeft
		}
		if left {
			goesLeft[code] = 1
		}
	}
	column, rows := g.m.byColumn[s.feature], g.rows[b.start:b.end]
	if len(g.sums.packed) > 0 {
		return partition(rows, g.spare, g.sums.packed[b.start:b.end], g.sums.scratchPacked, column, &goesLeft)
	}
	return partition(rows, g.spare, g.sums.pairs[b.start:b.end], g.sums.scratchPairs, column, &goesLeft)
}

func partition[T any](rows, spareRows []uint32, values, spareValues []T, column []uint8, goesLeft *[maxBins]uint8) int {
	values = values[:len(rows)]
	left, right := 0, 0
	for i, r := range rows {
		v := values[i]
		rows[left], spareRows[right] = r, r
		values[left], spareValues[right] = v, v
		side := int(goesLeft[column[r]])
		left += side
		right += 1 - side
	}
	copy(rows[left:], spareRows[:right])
	copy(values[left:], spareValues[:right])
	return left
}

// histogram sums the gradients of a run of rows.
func (g *grower) histogram(start, end int) histogram {
	h := g.take()
	threads := min(len(g.adders), (end-start)/4096+1)
	parallel(threads, threads, func(t int) {
		a := &g.adders[t]
		if len(g.sums.packed) > 0 && a.packed == nil {
			a.packed = make([][8][maxBins]int64, len(g.m.words))
		}
		if len(g.sums.packed) == 0 && a.pairs == nil {
			a.pairs = make([][8][maxBins]cell, len(g.m.words))
		}
		share := (end - start + threads - 1) / threads
		a.add(g.m, g.rows, &g.sums, min(end, start+t*share), min(end, start+(t+1)*share))
	})
	for t := range threads {
		g.adders[t].drain(g.m, &g.sums, h, g.offsets)
	}
	return h
}

// search finds a branch's best split.
func (g *grower) search(b *branch, limits growth) {
	b.best.gain = 0
	var allowed []bool
	if limits.allowed != nil {
		allowed = limits.allowed()
	}
	found := make([]split, g.m.columns)
	threads := len(g.adders)
	if g.cells < 2048 {
		threads = 1
	}
	parallel(threads, g.m.columns, func(c int) {
		info := g.m.features[c]
		if allowed != nil && !allowed[c] || info.bins == 0 {
			return
		}
		trend := int8(0)
		if limits.trends != nil {
			trend = limits.trends[c]
		}
		f := limits.finder(b.total, b.bounds, trend)
		cells := b.sums[g.offsets[c]:][:info.codes()]
		if info.categorical {
			f.categorical(cells, info, &found[c])
		} else {
			f.numeric(cells, info, &found[c])
		}
	})
	for c := range found {
		if found[c].gain > b.best.gain {
			b.best = found[c]
			b.best.feature = c
		}
	}
	if b.best.gain > 0 {
		b.best.weightLeft = limits.weight(b.best.sumLeft, b.bounds)
		b.best.weightRight = limits.weight(b.total.minus(b.best.sumLeft), b.bounds)
	}
}

func (g *grower) take() histogram {
	if n := len(g.pool); n > 0 {
		h := g.pool[n-1]
		g.pool = g.pool[:n-1]
		clear(h)
		return h
	}
	return make(histogram, g.cells)
}

func (g *grower) release(h histogram) {
	if h != nil {
		g.pool = append(g.pool, h)
	}
}

// finite guards against sums of extreme settings.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
