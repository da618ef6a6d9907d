package task

import (
	"github.com/foretime/foretime/chamtool/internal/event"
)

// Each ring holds its thread's events in order; together they are processed in the order of
// time, so a task is predicted by what had ended when it started. A run is two moments, its
// start and its end; every other event is one.

// cursor is a position in one ring.
type cursor struct {
	lane    int
	at, end uint64
	time    uint64 // of the next moment, in ticks
	atEnd   bool   // the next moment is the end of a run whose start was reported
	drained bool   // of the events; the task under way is next
	token   uint64 // of that task
	events  int    // events
}

// queue is the cursors that have a moment left, as a binary heap by time. It is
// container/heap without its calls by interface, which cost more than the rest.
type queue []*cursor

// down lets the cursor at i sink to its place.
func (q queue) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q); child++ {
			if q[child].time < q[least].time {
				least = child
			}
		}
		if least == i {
			return
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}

// second returns the time of the second cursor's moment, or the largest number if there is
// none.
func (q queue) second() uint64 {
	when := ^uint64(0)
	for _, c := range q[1:min(len(q), 3)] {
		when = min(when, c.time)
	}
	return when
}

// rest takes the events up to the limits that are not creations.
func (t *Tracker[M]) rest(rings []*event.Ring, limits []uint64) (events int) {
	t.queue = t.queue[:0]
	for i, r := range rings {
		c := &t.lanes[i].cursor
		*c = cursor{lane: i, at: r.Tail(), end: limits[i]}
		if t.next(c, r) {
			t.queue = append(t.queue, c)
			continue
		}
		r.Release(c.at)
		events += c.events
	}
	for i := len(t.queue)/2 - 1; i >= 0; i-- {
		t.queue.down(i)
	}
	for len(t.queue) > 0 {
		c := t.queue[0]
		until := t.queue.second()
		more := true
		for more && c.time <= until {
			more = t.step(c, rings[c.lane])
		}
		if more {
			t.queue.down(0)
			continue
		}
		rings[c.lane].Release(c.at)
		events += c.events
		last := len(t.queue) - 1
		t.queue[0] = t.queue[last]
		t.queue = t.queue[:last]
		t.queue.down(0)
	}
	return events
}

// next finds the moment of the event at the cursor, and whether there is one.
func (t *Tracker[M]) next(c *cursor, r *event.Ring) bool {
	c.atEnd = false
	for c.at < c.end {
		s := r.Slot(c.at)
		if !s.Valid() {
			t.counts.Bad++
			c.at = c.end // nothing behind it can be trusted
			return false
		}
		switch s.Kind() {
		case event.Create, event.Announce, event.Open: // which were reported before
		default:
			c.time = s[event.WordTicks]
			last := c.time
			switch s.Kind() {
			case event.Run:
				last = max(last, s[event.WordEnd])
			case event.Part:
				c.time, last = s[event.WordEnd], s[event.WordEnd]
			}
			return last <= t.cutoff
		}
		c.skip(r, s)
	}
	token, began, ok := r.RunningTask()
	c.drained = true
	c.token = token
	c.time = began
	return ok && began >= t.reportedUntil
}

// step reports the cursor's moment and finds the next, if there is one.
func (t *Tracker[M]) step(c *cursor, r *event.Ring) bool {
	if c.drained {
		if task := t.tasks.get(c.token); task != nil {
			task.Lane = c.lane
			t.begin(task, c.time)
		}
		return false
	}
	s := r.Slot(c.at)
	if s.Kind() == event.Run && !c.atEnd {
		task := t.tasks.get(s[event.WordToken])
		t.started[c.lane] = task
		if task != nil {
			task.Core, task.Lane = s.Core(), c.lane
			t.begin(task, c.time)
		}
		c.atEnd, c.time = true, s[event.WordEnd]
		return true
	}
	t.handle(&t.lanes[c.lane], r, s, c.at)
	c.skip(r, s)
	return t.next(c, r)
}

// skip moves the cursor behind its event, and now and then gives its room back.
func (c *cursor) skip(r *event.Ring, s *event.Slot) {
	c.events++
	c.at += s.Slots()
	if c.events%256 == 0 {
		r.Release(c.at)
	}
}
