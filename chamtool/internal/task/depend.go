package task

import (
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// location holds the tasks that a later one with the same address depends on: the last set of
// one kind, and the set before. Each task of a set depends on all tasks of the set before.
type location struct {
	kind         event.DependenceKind
	last, before []*node
	exclusive    *path // of a set of MutexInOutSet
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
			l.kind = all.kind
			l.last = slices.Clone(all.last)
			for _, before := range l.last {
				before.refs++
			}
		}
		n.locations[address] = l
	}
	return l
}

// dependAt adds a task to the tasks at a location.
func (s *spans) dependAt(n *node, l *location, kind event.DependenceKind) {
	if kind == event.Out || kind != l.kind {
		s.releaseAll(l.before)
		l.before, l.last = l.last, nil
		l.kind, l.exclusive = kind, nil
		if kind == event.MutexInOutSet {
			l.exclusive = &path{}
		}
	}
	for _, before := range l.before {
		if before != n {
			s.follow(n, before)
		}
	}
	if l.exclusive != nil {
		n.exclusive = append(n.exclusive, l.exclusive)
	}
	n.refs++
	l.last = append(l.last, n)
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
		for _, b := range before {
			b.refs++
			top.awaited = append(top.awaited, b)
		}
	}
}
