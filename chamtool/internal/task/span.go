package task

import (
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// spans follows the work and the span of a program's tasks while it runs (Blumofe and
// Leiserson 1999; the burden as in Cilkview, He, Leiserson and Leiserson 2010). Work is the
// time that threads spend in tasks and outside of waits. The path of a task is the length of
// the longest chain of work that had to come before: its parent's up to its creation, and
// those of the tasks that it depends on, up to their ends. A wait continues at the longest
// path of the tasks that it waits for. The span is the longest path. All times are in ticks.
type spans struct {
	lanes    []*strand // of threads, the implicit task at the bottom of the stack
	work     uint64
	longest  path // of an ended task
	free     []*node
	hasTasks bool // a task was created
	// The work and the path before the first task: of the program's start.
	earlierWork, earlierPath uint64
	constructs               []uint64       // functions that paths distinguish
	numbers                  map[uint64]int // of constructs, by entry
	lastEntry                uint64
	lastNumber               int
	function                 func(entry uint64) uint64 // the first entry of its function; may be nil
}

// strand is one thread's stack of tasks. A hidden helper thread of the runtime never joins: it
// works only in tasks.
type strand struct {
	stack  []*node
	joined bool
}

// node is a task in the graph. It is used again when nothing refers to it.
type node struct {
	token        uint64
	parent       *node
	construct    int
	path         path
	since        uint64  // tick up to which path is counted
	children     path    // the longest of its ended children
	groups       []*path // the longest of the ended tasks of the taskgroups that it is in, the innermost last
	group        *path   // of the innermost taskgroup that it was created in, nil without one
	awaited      []*path // the sets for which the taskwait that begins waits
	predecessors []*path // the sets of tasks that it follows
	sets         []*path // that it belongs to
	refs         int     // itself until it ends, and its children
	waits        int     // nested
	started      bool
	undeferred   bool                 // its parent waits for it
	lane         int                  // one more than the number of the thread that it is under way on; 0 if it is not
	locations    map[uint64]*location // that its children depend on, by address
}

// The classes of waits, in the flag of an event.
const (
	barrier   = 1
	taskwait  = 2
	taskgroup = 3
	classes   = 3 // mask
)

// undeferred is in the flag of an Open of a task that its parent waits for.
const undeferred event.Flag = 2

func (s *spans) strand(lane int) *strand {
	for len(s.lanes) <= lane {
		s.lanes = append(s.lanes, nil)
	}
	if s.lanes[lane] == nil {
		s.lanes[lane] = &strand{stack: []*node{{construct: outside, refs: 1, started: true, waits: 1}}} // until it joins
	}
	return s.lanes[lane]
}

func (st *strand) top() *node { return st.stack[len(st.stack)-1] }

// cut takes the tasks from an index on off the stack.
func (st *strand) cut(i int) {
	for _, n := range st.stack[i:] {
		n.lane = 0
	}
	st.stack = st.stack[:i]
}

// advance counts a task's own work up to a tick.
func (s *spans) advance(n *node, at uint64) {
	if n.waits == 0 && n.since > 0 && at > n.since {
		n.path.add(n.construct, at-n.since)
		s.work += at - n.since
	}
	n.since = max(n.since, at)
}

// join starts a thread's implicit task.
func (s *spans) join(lane int, at uint64) {
	st := s.strand(lane)
	st.cut(1)
	n := st.stack[0]
	n.construct = outside
	n.since = at
	n.waits = 0
	n.path.raise(s.front())
	st.joined = true
}

// leave ends a thread.
func (s *spans) leave(lane int, at uint64) {
	st := s.strand(lane)
	s.advance(st.stack[0], at)
	st.joined = false
}

// front returns the longest path of the tasks that run.
func (s *spans) front() *path {
	longest := &path{}
	for _, st := range s.lanes {
		if st != nil && st.joined && st.stack[0].waits == 0 && st.stack[0].path.ticks > longest.ticks {
			longest = &st.stack[0].path
		}
	}
	return longest
}

// create adds a task that the thread's present task creates.
func (s *spans) create(lane int, e *event.Slot) *node {
	parent := s.strand(lane).top()
	s.advance(parent, e[event.WordTicks])
	if !s.hasTasks {
		s.hasTasks = true
		s.earlierWork = s.work
		s.earlierPath = parent.path.ticks
	}
	var n *node
	if last := len(s.free) - 1; last >= 0 {
		n, s.free = s.free[last], s.free[:last]
		*n = node{predecessors: n.predecessors[:0], sets: n.sets[:0]}
	} else {
		n = &node{}
	}
	n.token = e[event.WordToken]
	n.parent = parent
	n.path = parent.path
	n.refs = 1
	n.undeferred = e.Flag()&undeferred != 0
	n.group = parent.group
	if len(parent.groups) > 0 {
		n.group = parent.groups[len(parent.groups)-1]
	}
	parent.refs++
	return n
}

// begin puts a task on a thread's stack, at its beginning or where it goes on.
func (s *spans) begin(lane int, n *node, at uint64) {
	if n.lane > 0 { // the end of its previous part was not reported
		s.end(lane, n, at, false)
	}
	st := s.strand(lane)
	s.advance(st.top(), at)
	n.started = true
	n.since = at
	n.lane = lane + 1
	s.raise(n)
	st.stack = append(st.stack, n)
}

// raise lengthens a task's path to those of the tasks that it depends on.
func (s *spans) raise(n *node) {
	for _, set := range n.predecessors {
		n.path.raise(set)
	}
}

// end takes a task off a thread's stack. Parts of a task that leaves its thread are ended
// without being done.
func (s *spans) end(lane int, n *node, at uint64, done bool) {
	st := s.strand(lane)
	if n.lane > 0 {
		st = s.strand(n.lane - 1) // another thread may report the end
		s.advance(n, at)
		st.cut(slices.Index(st.stack, n))
	}
	top := st.top()
	top.since = max(top.since, at)
	if !done {
		return
	}
	p := n.parent
	if n.undeferred {
		p.path.raise(&n.path)
	}
	s.joinParent(n)
	s.release(n)
}

// raiseSets lengthens the paths of the sets that a task belongs to.
func (n *node) raiseSets() {
	for _, set := range n.sets {
		set.raise(&n.path)
	}
}

// joinParent lengthens the paths of those that wait for a task's end.
func (s *spans) joinParent(n *node) {
	n.raiseSets()
	s.longest.raise(&n.path)
	n.parent.children.raise(&n.path)
	if n.group != nil {
		n.group.raise(&n.path)
	}
}

// fulfill ends a detached task at the present point of a thread's task, or of another detached
// one. Its body ended before.
func (s *spans) fulfill(lane int, n *node, at uint64) {
	top := s.strand(lane).top()
	s.advance(top, at)
	n.path.raise(&top.path)
	if n.parent != nil {
		s.joinParent(n)
	}
	s.release(n)
}

// cancel ends a task that never began.
func (s *spans) cancel(n *node) {
	s.raise(n)
	n.raiseSets()
	s.release(n)
}

// release drops a reference, and keeps a node without references for another task.
func (s *spans) release(n *node) {
	for n != nil {
		n.refs--
		if n.refs > 0 {
			return
		}
		p := n.parent
		n.locations = nil
		n.parent = nil
		s.free = append(s.free, n)
		n = p
	}
}

// enterGroup begins a taskgroup.
func (s *spans) enterGroup(lane int) {
	top := s.strand(lane).top()
	top.groups = append(top.groups, &path{})
}

// wait notes that a thread's present task begins to wait.
func (s *spans) wait(lane int, at uint64) {
	st := s.strand(lane)
	n := st.top()
	s.advance(n, at)
	n.waits++
}

// resume continues a task after a wait of a class.
func (s *spans) resume(lane, class int, at uint64) {
	st := s.strand(lane)
	n := st.top()
	n.since = max(n.since, at)
	if n.waits == 0 {
		return
	}
	n.waits--
	switch {
	case class == taskwait:
		n.path.raise(&n.children)
	case class == taskgroup && len(n.groups) > 0:
		last := len(n.groups) - 1
		n.path.raise(n.groups[last])
		n.groups = n.groups[:last]
	case class == barrier && len(st.stack) == 1:
		n.path.raise(s.critical())
	}
	for _, before := range n.awaited {
		n.path.raise(before)
	}
	n.awaited = n.awaited[:0]
	if len(st.stack) == 1 && (class == taskwait || class == barrier) {
		n.locations = nil // all tasks of it have ended
	}
}

// Graph holds times of the graph of tasks in seconds. With any number of threads a program takes
// at least its span, and with P threads at least its work / P.
type Graph struct {
	Work float64 `json:"work"` // in tasks, and outside of waits
	Span float64 `json:"span"` // longest chain of work in which each part waits for the one before
}

// graph returns the graph from the first task on.
func (s *spans) graph(c *Clock) Graph {
	span := s.critical().ticks
	seconds := func(ticks uint64) float64 { return c.Between(0, ticks) }
	return Graph{Work: seconds(s.work - s.earlierWork), Span: seconds(span - min(span, s.earlierPath))}
}
