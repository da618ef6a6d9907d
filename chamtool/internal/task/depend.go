package task

import "github.com/foretime/foretime/chamtool/internal/event"

// location holds what a later task with the same address depends on: the last set of tasks of one
// kind, and the set before, each as the longest path of its ended tasks. A task of a set depends
// on all tasks of the set before.
type location struct {
	kind         event.DependenceKind
	last, before *path // nil without tasks
}

// depend adds the addresses that a task depends on.
func (s *spans) depend(n *node, words []int64) {
	for _, word := range words {
		address, kind := event.Dependence(word)
		if address == 0 { // all memory
			for known := range n.parent.locations {
				if known != 0 {
					s.dependAt(n, n.parent.location(known), kind)
				}
			}
		}
		s.dependAt(n, n.parent.location(address), kind)
	}
}

// location returns what the children of a task depend on at an address, at first what depends on
// all memory.
func (n *node) location(address uint64) *location {
	if n.locations == nil {
		n.locations = map[uint64]*location{}
	}
	l := n.locations[address]
	if l == nil {
		l = &location{}
		if all := n.locations[0]; all != nil {
			*l = *all
		}
		n.locations[address] = l
	}
	return l
}

// dependAt adds a task to the tasks at a location. Of a set of MutexInOutSet one task runs at a
// time, so it also follows those of its own set that have ended.
func (s *spans) dependAt(n *node, l *location, kind event.DependenceKind) {
	if kind == event.Out || kind != l.kind || l.last == nil {
		*l = location{kind: kind, last: &path{}, before: l.last}
	}
	if l.before != nil {
		n.predecessors = append(n.predecessors, l.before)
	}
	if kind == event.MutexInOutSet {
		n.predecessors = append(n.predecessors, l.last)
	}
	n.sets = append(n.sets, l.last)
}

// await makes a thread's present task wait for those that one with the given dependences would
// depend on.
func (s *spans) await(lane int, words []int64) {
	top := s.strand(lane).top()
	for _, word := range words {
		address, kind := event.Dependence(word)
		l := top.location(address)
		before := l.before
		if kind == event.Out || kind != l.kind {
			before = l.last
		}
		if before != nil {
			top.awaited = append(top.awaited, before)
		}
	}
}
