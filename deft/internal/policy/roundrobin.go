package policy

import (
	"cmp"
	"slices"
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
	return &RoundRobin{quantum: cmp.Or(quantum, 10*time.Millisecond), demand: newDemand(), owner: nobody}
}

// Decide passes the turn on where it is over.
func (r *RoundRobin) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	r.demand.observe(now, clients)
	var want []int // in ascending order
	recheck := Never
	for _, c := range clients {
		if r.demand.wants(now, c) {
			want = append(want, c.ID)
		}
		if c.Active { // it may be found without work, or with work again
			recheck = now + patience
		}
	}
	if len(want) == 0 {
		r.demand.give(now, nobody, clients, directives)
		return recheck
	}
	after := slices.IndexFunc(want, func(id int) bool { return id > r.owner })
	holder := want[max(after, 0)]
	if now >= r.until || r.owner == nobody {
		r.owner, r.until = holder, now+r.quantum
	}
	if slices.Contains(want, r.owner) {
		holder = r.owner
	}
	r.demand.give(now, holder, clients, directives)
	return min(r.until, recheck)
}
