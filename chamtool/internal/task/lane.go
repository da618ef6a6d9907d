package task

import "github.com/foretime/foretime/chamtool/internal/event"

// lane is one thread's part of the tracker.
type lane struct {
	number     int
	named      uint64 // slots before it had their creations taken
	namedWaits int    // taskwaits left before that slot
	waits      int    // taskwaits left
	cursor     cursor
	nested     []float64 // by depth, seconds of runs and waits within one that has not ended
	waiting    []wait    // the innermost last
}

// wait is a point at which a thread waits for tasks, and runs those that it finds.
type wait struct {
	depth int
	from  uint64  // ticks
	ran   float64 // seconds at this depth before it, less those of runs within it that have no event
}

// endWait ends a thread's innermost wait, and the iteration where it is the first of
// its threads to go on. Those that wait still have waited in the one that ends.
func (t *Tracker[M]) endWait(l *lane, s *event.Slot) {
	iteration, left := l.waits, int(s[event.WordRound])
	if s.Flag()&event.Counted != 0 {
		iteration = t.iterations
	} else {
		l.waits++
		left = l.waits
	}
	if n := len(l.waiting); n > 0 {
		l.waiting[n-1].ran -= t.clock.Between(0, s[event.WordUnreported])
	}
	t.idle(l, iteration, s[event.WordTicks])
	l.waiting = l.waiting[:max(0, len(l.waiting)-1)]
	if left <= t.iterations {
		return
	}
	for i := range t.lanes {
		if t.started[i] != nil {
			continue // it is not idle
		}
		t.idle(&t.lanes[i], t.iterations, s[event.WordTicks])
	}
	for ; t.iterations < left; t.iterations++ {
		t.observer.IterationEnded(t.iterations, t.clock.Seconds(s[event.WordTicks]))
	}
}

// idle reports the time in which a thread has had nothing to run in its innermost wait, which
// continues. It does not belong to the waiting task.
func (t *Tracker[M]) idle(l *lane, iteration int, now uint64) {
	if len(l.waiting) == 0 {
		return
	}
	w := &l.waiting[len(l.waiting)-1]
	if idle := t.clock.Between(w.from, now) - (l.within(w.depth) - w.ran); idle > 0 {
		t.observer.TimeWaited(iteration, idle)
		l.add(w.depth, idle)
	}
	w.from, w.ran = max(w.from, now), l.within(w.depth)
}

// nest keeps the span of a run that lay within depth others, and returns the
// spans that lay within it.
func (l *lane) nest(depth int, span float64) (within float64) {
	for i := depth + 1; i < len(l.nested); i++ {
		within += l.nested[i]
		l.nested[i] = 0
	}
	l.add(depth, span)
	return within
}

// within returns the seconds of what lay within depth others.
func (l *lane) within(depth int) float64 {
	if depth < len(l.nested) {
		return l.nested[depth]
	}
	return 0
}

func (l *lane) add(depth int, span float64) {
	for len(l.nested) <= depth {
		l.nested = append(l.nested, 0)
	}
	l.nested[depth] += span
}
