package policy

import (
	"cmp"
	"slices"
	"time"
)

// RoundRobin gives the device to one client at a time, in turn, for a quantum of wall time
// each. While that client has no work for the device, the next one that has some may use
// it, so the device idles only if no client has any; the client continues its turn when it
// has work again.
type RoundRobin struct {
	quantum  time.Duration
	presence presence
	owner    int           // whose turn it is
	until    time.Duration // its end
}

var _ Policy = (*RoundRobin)(nil)

// NewRoundRobin returns the policy.
func NewRoundRobin(s Settings) *RoundRobin {
	return &RoundRobin{quantum: cmp.Or(s.Quantum, 10*time.Millisecond), presence: newPresence(s), owner: noHolder}
}

// Decide begins the next turn when one is over.
func (r *RoundRobin) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	r.presence.observe(now, clients)
	next := r.presence.decide(now, clients, anotherHasJob(clients))
	var want []int // in ascending order
	for _, c := range clients {
		if r.presence.usesDevice(c) {
			want = append(want, c.ID)
		}
	}
	if len(want) == 0 {
		r.presence.giveDevice(noHolder, clients, directives)
		return next
	}
	after := slices.IndexFunc(want, func(id int) bool { return id > r.owner })
	holder := want[max(after, 0)]
	if now >= r.until || r.owner == noHolder {
		r.owner, r.until = holder, now+r.quantum
	}
	if slices.Contains(want, r.owner) {
		holder = r.owner
	}
	r.presence.giveDevice(r.presence.effectiveHolder(holder, clients), clients, directives)
	return min(r.until, next)
}
