package task

// maxLevels bounds the depths that are counted separately; deeper tasks count to the last one.
const maxLevels = 64

// tree sums up the tasks by their depth: 0 for the implicit tasks, 1 for the tasks that these
// create. Times are in ticks.
type tree struct {
	levels []level
	// The line through the own times of tasks by the number of their children: its slope is
	// the cost of creating a child.
	n, children, squares, time, product float64
}

type level struct {
	tasks   int
	work    uint64
	longest uint64
}

// add counts a task of which all descendants have ended. Tasks that took longer than limit per
// child are not on the line: the cost of creation does not show in them.
func (t *tree) add(n *node, limit uint64) {
	depth := min(n.depth, maxLevels-1)
	for len(t.levels) <= depth {
		t.levels = append(t.levels, level{})
	}
	l := &t.levels[depth]
	l.tasks++
	l.work += n.ownTicks
	l.longest = max(l.longest, n.ownTicks+n.subtreeTicks)
	if n.ownTicks > limit*uint64(1+n.created) {
		return
	}
	k, y := float64(n.created), float64(n.ownTicks)
	t.n++
	t.children += k
	t.squares += k * k
	t.time += y
	t.product += k * y
}

// creation returns the slope of the line in ticks, 0 if all tasks have as many children.
func (t *tree) creation() float64 {
	spread := t.n*t.squares - t.children*t.children
	if spread <= 0 {
		return 0
	}
	return max(0, (t.n*t.product-t.children*t.time)/spread)
}

// Level sums up the tasks at one depth. Times are in seconds.
type Level struct {
	Tasks   int     `json:"tasks"`
	Work    float64 `json:"work"`            // without their descendants'
	Longest float64 `json:"longest_subtree"` // work of one task and all its descendants
}

// Tree holds the tasks by depth, from 1: those that no task creates.
type Tree struct {
	Levels   []Level `json:"levels"`
	Creation float64 `json:"creation"` // seconds that each child adds to the time of its parent
}

// tree returns the tasks that have ended.
func (s *spans) tree(c *Clock) Tree {
	out := Tree{Creation: c.Between(0, 1e6) * s.nested.creation() / 1e6}
	for _, l := range s.nested.levels[min(1, len(s.nested.levels)):] {
		out.Levels = append(out.Levels, Level{l.tasks, c.Between(0, l.work), c.Between(0, l.longest)})
	}
	return out
}

// Tree returns the tasks by depth, if the graph is known.
func (t *Tracker[M]) Tree() *Tree {
	if _, known := t.Graph(); !known {
		return nil
	}
	tree := t.spans.tree(t.clock)
	return &tree
}
