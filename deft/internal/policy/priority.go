package policy

import (
	"math"
	"time"
)

// Priority stops every client while a more urgent one uses the device: while it has a job,
// except in gaps that are worth giving away ([presence]). There may be any number of
// levels. A client below the highest registered level has little device time in flight
// ([DefaultInFlight], or the bound of its Interval), so its kernels are soon done when it
// is stopped.
type Priority struct{ presence presence }

var _ Policy = (*Priority)(nil)

// NewPriority returns the policy.
func NewPriority(s Settings) *Priority { return &Priority{newPresence(s)} }

// Decide closes the gates below the most urgent client that uses the device.
func (p *Priority) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	p.presence.observe(now, clients)
	lowest := math.MaxInt
	for _, c := range clients {
		if c.Active {
			lowest = min(lowest, c.Priority)
		}
	}
	next := p.presence.decide(now, clients, func(c Client) bool { return lowest < c.Priority })
	highest, urgent := highestPriority(clients, isRegistered), highestPriority(clients, p.presence.usesDevice)
	for i, c := range clients {
		directives[i].Closed = c.Priority < urgent
		if c.Priority < highest {
			c.boundQueue(&directives[i])
		}
	}
	p.presence.setBounds(clients, directives)
	return next
}
