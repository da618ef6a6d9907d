package session

import (
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/summary"
)

// unreadRing holds what a ring had counted when it was last drained.
type unreadRing struct {
	changed uint64
	before  map[unreadKey]event.Unread
}

// unreadKey is the place of a construct and the number of an iteration's counts.
type unreadKey struct{ place, slot uint64 }

// countUnread adds the tasks that the rings only counted since the last drain, to their
// iterations.
func (s *Session) countUnread() {
	for i, r := range s.rings {
		if len(s.unread) <= i {
			s.unread = append(s.unread, unreadRing{before: map[unreadKey]event.Unread{}})
		}
		u := &s.unread[i]
		counts, changed := r.Unread()
		if changed == u.changed {
			continue
		}
		u.changed = changed
		for _, c := range counts {
			key := unreadKey{c.Place, c.Iteration % event.Iterations}
			b := u.before[key]
			u.before[key] = c
			s.countConstruct(c, b)
		}
	}
}

// countConstruct adds the difference of two counts of a thread.
func (s *Session) countConstruct(now, before event.Unread) {
	round := s.span(int(now.Iteration))
	round.Created += int(now.Created - before.Created + now.BegunReported - before.BegunReported)
	round.Waiting += s.clock.Between(0, now.Waited-before.Waited)
	n, seconds := int(now.Ended-before.Ended), s.clock.Between(0, now.Ticks-before.Ticks)
	if n == 0 && seconds == 0 {
		return
	}
	name := "constructs beyond the first 255"
	if now.Place != 0 {
		name = s.function(now.Place).name
	}
	s.bodySeconds += seconds
	s.runs += n
	s.countUnlogged(name, int(now.Iteration), summary.Tasks{Count: n, Seconds: seconds, Longest: s.clock.Between(0, now.Longest)})
}
