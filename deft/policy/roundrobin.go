package policy

import (
	"cmp"
	"time"
)

// RoundRobin gives the device to one client at a time, in turn, for a quantum
// of wall time each. While the client whose turn it is has no work for the
// device the next one that has is its guest, so the device idles only where
// nobody has any; when it has work again within its turn it takes the rest.
type RoundRobin struct {
	quantum time.Duration
	demand  demand
	owner   int           // whose turn it is
	until   time.Duration // its end
}

var _ Policy = (*RoundRobin)(nil)

// NewRoundRobin returns the policy with its quantum (0 is 10 ms).
func NewRoundRobin(quantum time.Duration) *RoundRobin {
	return &RoundRobin{quantum: cmp.Or(quantum, 10*time.Millisecond), demand: newDemand(), owner: -1}
}

// Decide passes the turn on where it is over.
func (r *RoundRobin) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	r.demand.observe(now, clients)
	next, ok := r.after(now, clients)
	if !ok {
		r.demand.free(clients, directives)
		return r.recheck(now, clients)
	}
	if now >= r.until || r.owner < 0 {
		r.owner, r.until = next, now+r.quantum
	}
	holder := next
	if r.owns(now, clients) {
		holder = r.owner
	}
	r.demand.give(now, holder, clients, directives)
	return min(r.until, r.recheck(now, clients))
}

// owns says whether the client whose turn it is has work.
func (r *RoundRobin) owns(now time.Duration, clients []Client) bool {
	for _, c := range clients {
		if c.ID == r.owner {
			return r.demand.wants(now, c)
		}
	}
	return false
}

// after is the next client after the owner that has work.
func (r *RoundRobin) after(now time.Duration, clients []Client) (id int, ok bool) {
	first, next := -1, -1
	for _, c := range clients {
		if !r.demand.wants(now, c) {
			continue
		}
		if first < 0 {
			first = c.ID
		}
		if next < 0 && c.ID > r.owner {
			next = c.ID
		}
	}
	if next < 0 {
		next = first
	}
	return next, next >= 0
}

// recheck is when a client may be found without work, or with work again.
func (r *RoundRobin) recheck(now time.Duration, clients []Client) time.Duration {
	for _, c := range clients {
		if c.Active {
			return now + patience
		}
	}
	return Never
}
