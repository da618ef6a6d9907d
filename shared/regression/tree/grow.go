package tree

import "math"

// growth holds the limits of one tree.
type growth struct {
	penalty
	maxDepth int    // 0: unlimited
	allowed  []bool // features that a node may be split on; nil allows all
}

// grower holds the buffers that trees on the same matrix share.
type grower struct {
	m         *binned
	offsets   []int // of each feature's bins in a histogram
	cells     int
	gradients gradients
	rows      []uint32 // ordered: the rows of each node are one ascending run
	left      []uint32 // scratch for the rows of either side
	right     []uint32
	adders    []accumulator // one per thread
	pool      []planes
}

func newGrower(m *binned, threads int) *grower {
	g := &grower{m: m, offsets: make([]int, m.columns), adders: make([]accumulator, threads)}
	for c, f := range m.features {
		g.offsets[c] = g.cells
		g.cells += f.codes()
	}
	for i := range g.adders {
		g.adders[i].sums = make([][8][maxBins]int64, len(m.words))
	}
	return g
}

// branch is a node that is not split yet.
type branch struct {
	node       int
	start, end int // its rows
	depth      int
	total      cell
	sums       planes // empty for a node that cannot be split
	best       split
}

// leaf is a run of the grower's rows that ended in one node.
type leaf struct{ node, start, end int }

// grow fits one tree to the gradients of some rows, which must ascend; nil hessians
// are 1. It reorders the rows slice; each leaf gives its run of it.
func (g *grower) grow(rows []uint32, gradient, hessian []float64, limits growth) (*decisionTree, []leaf) {
	g.rows = rows
	g.left = resize(g.left, len(rows))
	g.right = resize(g.right, len(rows))
	packed := g.gradients.packed
	g.gradients.load(gradient, hessian, len(g.adders))
	if g.gradients.packed != packed {
		g.pool = nil // histograms of another shape
	}
	limits.packing = g.gradients.packing

	t := &decisionTree{}
	root := &branch{end: len(rows), total: g.gradients.total(rows, len(g.adders))}
	t.addNode(root.total, limits.weight(root.total), limits.penalty)
	root.sums = g.takePlanes()
	g.forEachBranch([]*branch{root}, func(_, worker, team int) { g.sum(root, worker, team) })
	g.search(root, limits)

	var leaves []leaf
	open := []*branch{root}
	for len(open) > 0 {
		const most = 64 // every open branch holds a histogram
		at := max(0, len(open)-most)
		var divided []*branch
		for _, b := range open[at:] {
			if b.best.gain <= 0 {
				leaves = append(leaves, leaf{b.node, b.start, b.end})
				g.release(b.sums)
				continue
			}
			divided = append(divided, b)
		}
		open = open[:at]
		open = append(open, g.divide(t, divided, limits)...)
	}
	return t, leaves
}

// divide splits branches and finds the best splits of their children.
func (g *grower) divide(t *decisionTree, branches []*branch, limits growth) []*branch {
	children := make([]*branch, 0, 2*len(branches))
	for _, b := range branches {
		left, right := g.children(t, b, limits)
		children = append(children, left, right)
	}
	g.forEachBranch(branches, func(i, worker, team int) {
		g.distribute(branches[i], children[2*i], children[2*i+1], worker, team)
	})
	parallel(len(g.adders), len(children), func(_, i int) { g.search(children[i], limits) })
	return children
}

// forEachBranch calls f for every branch: branches with many rows one by one, by a team of
// all workers, the others in parallel by teams of one.
func (g *grower) forEachBranch(branches []*branch, f func(i, worker, team int)) {
	threads := len(g.adders)
	var small []int
	for i, b := range branches {
		if threads > 1 && b.end-b.start < 2*runRows {
			small = append(small, i)
		} else {
			f(i, 0, threads)
		}
	}
	parallel(threads, len(small), func(worker, i int) { f(small[i], worker, 1) })
}

// children makes a branch an inner node. Its histogram goes to the left child and
// an empty one to the right, unless neither can be split.
func (g *grower) children(t *decisionTree, b *branch, limits growth) (left, right *branch) {
	s := b.best
	left = &branch{depth: b.depth + 1, total: s.sumLeft}
	right = &branch{depth: b.depth + 1, total: b.total.minus(s.sumLeft)}
	t.split(b.node, s, g.m.features[s.feature])
	left.node = t.addNode(left.total, s.weightLeft, limits.penalty)
	right.node = t.addNode(right.total, s.weightRight, limits.penalty)
	final := limits.maxDepth > 0 && left.depth >= limits.maxDepth
	if final || !limits.divisible(left.total) && !limits.divisible(right.total) {
		g.release(b.sums)
		return left, right
	}
	left.sums, right.sums = b.sums, g.takePlanes()
	return left, right
}

// distribute gives two children their rows, and their histograms if they have them:
// the smaller child's is summed, the other's is the parent's less that.
func (g *grower) distribute(b, left, right *branch, worker, team int) {
	middle := b.start + g.partition(b, team)
	left.start, left.end = b.start, middle
	right.start, right.end = middle, b.end
	if left.sums[0] == nil {
		return
	}
	small, large := right, left
	if left.end-left.start < right.end-right.start {
		small, large = left, right
		left.sums, right.sums = right.sums, left.sums
	}
	g.sum(small, worker, team)
	large.sums.subtract(small.sums)
}

// partition orders a branch's rows stably by their side and returns the number that
// go left.
func (g *grower) partition(b *branch, team int) int {
	s, f := b.best, g.m.features[b.best.feature]
	var goesLeft [maxBins]uint8
	for code := range f.codes() {
		left := code <= s.cut
		if s.right != nil {
			left = !s.right.contains(code)
		}
		if f.missing && code == f.bins {
			left = s.missingLeft
		}
		if left {
			goesLeft[code] = 1
		}
	}
	column, rows := g.m.byColumn[s.feature], g.rows[b.start:b.end]
	left, right := g.left[b.start:b.end], g.right[b.start:b.end]
	share := (len(rows) + team - 1) / team
	lefts := make([]int, team+1) // number of rows before each run that go left
	parallel(team, team, func(_, i int) {
		start, end := min(len(rows), i*share), min(len(rows), (i+1)*share)
		lefts[i+1] = partition(rows[start:end], left[start:end], right[start:end], column, &goesLeft)
	})
	for i := range team {
		lefts[i+1] += lefts[i]
	}
	middle := lefts[team]
	parallel(team, team, func(_, i int) {
		start, end := min(len(rows), i*share), min(len(rows), (i+1)*share)
		n := lefts[i+1] - lefts[i]
		copy(rows[lefts[i]:], left[start:start+n])
		copy(rows[middle+start-lefts[i]:], right[start:end-n])
	})
	return middle
}

// partition writes the rows to their sides. Both writes happen for every row: there
// is no branch to mispredict.
func partition(rows, left, right []uint32, column []uint8, goesLeft *[maxBins]uint8) int {
	left, right = left[:len(rows)], right[:len(rows)]
	n := 0
	for i, r := range rows {
		left[n], right[i-n] = r, r
		n += int(goesLeft[column[r]])
	}
	return n
}

// sum computes a branch's histogram.
func (g *grower) sum(b *branch, worker, team int) {
	rows := g.rows[b.start:b.end]
	share := (len(rows) + team - 1) / team
	for plane, values := range g.gradients.values {
		if len(values) == 0 {
			continue
		}
		parallel(team, team, func(_, i int) {
			g.adders[worker+i].add(g.m, rows[min(len(rows), i*share):min(len(rows), (i+1)*share)], values)
		})
		for i := range team {
			g.adders[worker+i].drain(g.m, b.sums[plane], i == 0)
		}
	}
}

// search finds a branch's best split.
func (g *grower) search(b *branch, limits growth) {
	if b.sums[0] == nil {
		return
	}
	for c, info := range g.m.features {
		if limits.allowed != nil && !limits.allowed[c] || info.bins == 0 {
			continue
		}
		f := limits.finder(b.total)
		f.sums = b.sums.part(g.offsets[c], info.codes())
		gain := b.best.gain
		if info.categorical {
			f.categorical(info, &b.best)
		} else {
			f.numeric(info, &b.best)
		}
		if b.best.gain > gain {
			b.best.feature = c
		}
	}
	if b.best.gain > 0 {
		b.best.weightLeft = limits.weight(b.best.sumLeft)
		b.best.weightRight = limits.weight(b.total.minus(b.best.sumLeft))
	}
}

func (g *grower) takePlanes() planes {
	if n := len(g.pool); n > 0 {
		h := g.pool[n-1]
		g.pool = g.pool[:n-1]
		return h
	}
	h := planes{make([]int64, g.cells)}
	if !g.gradients.packed {
		h[1] = make([]int64, g.cells)
	}
	return h
}

func (g *grower) release(h planes) {
	if h[0] != nil {
		g.pool = append(g.pool, h)
	}
}

// finite guards against sums of extreme settings.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
