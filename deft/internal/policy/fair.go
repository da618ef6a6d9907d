package policy

import (
	"math"
	"time"
)

// Fair gives each client device time in proportion to its weight. As in stride
// scheduling (Waldspurger and Weihl 1995) and Linux' CFS each client has a
// virtual time, its device time divided by its weight; the one that is behind
// holds the device until it is ahead by the granularity. A client that comes
// back to work is brought up to the others, less ten times that and the longest launch:
// it cannot save up time that it did not ask for, and loses nothing between two jobs.
type Fair struct {
	presence presence
	virtual  map[int]virtual
	holder   int
}

var _ Policy = (*Fair)(nil)

// virtual holds the virtual time of a client.
type virtual struct {
	time    float64 // ns of device time per unit of weight
	gpu     time.Duration
	working bool
}

// granularity is the time by which one client may run ahead of another; set by hand.
const granularity = 2 * time.Millisecond

// credit is the number of granularities that a returning client may be behind.
const credit = 10

// NewFair returns the policy.
func NewFair(s Settings) *Fair {
	return &Fair{presence: newPresence(s), virtual: map[int]virtual{}, holder: noHolder}
}

// Decide gives the device to the client that is furthest behind.
func (f *Fair) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	f.presence.observe(now, clients)
	next := f.presence.decide(now, clients, anotherHasJob(clients))
	f.chargeClients(clients)
	f.chooseHolder(clients)
	f.presence.giveDevice(f.holder, clients, directives)
	f.widenBounds(clients, directives)
	if highestPriority(clients, isActive) == math.MinInt || len(clients) == 1 {
		return Never
	}
	return min(next, now+granularity/2)
}

// launchShare is the part of another client's longest launch that a client may have in
// flight: a turn next to graphs is long, and its host must have enough launches queued for
// it.
const launchShare = 0.1

// widenBounds raises the bounds of queues next to clients with long launches.
func (f *Fair) widenBounds(clients []Client, directives []Directive) {
	for i, c := range clients {
		if d := &directives[i]; d.InFlightTime > 0 {
			d.InFlightTime = max(d.InFlightTime, time.Duration(launchShare*float64(f.presence.longest.ofOthers(c))))
		}
	}
}

// chargedTime returns the client's device time with that of the kernels of which it is not known
// whether they are done: at most the time since its queue was last empty.
func (c Client) chargedTime() time.Duration {
	if done := c.done(); done > 0 {
		return c.GPU + min(c.Queueing, time.Duration(c.InFlight)*c.GPU/time.Duration(done))
	}
	return c.GPU + c.Queueing
}

// chargeClients adds the device time since the last decision to every account, and lets
// clients that return catch up.
func (f *Fair) chargeClients(clients []Client) {
	dropAbsent(f.virtual, clients)
	floor := math.Inf(1) // the least of those that work and worked before
	launch := 0.0        // the most that a launch adds to an account: none can be divided
	for _, c := range clients {
		v, known := f.virtual[c.ID]
		if known {
			v.time += float64(c.chargedTime()-v.gpu) / c.weight()
		}
		v.gpu = c.chargedTime()
		f.virtual[c.ID] = v
		launch = max(launch, float64(c.Longest)/c.weight())
		if known && v.working && f.presence.usesDevice(c) {
			floor = min(floor, v.time)
		}
	}
	for _, c := range clients {
		v := f.virtual[c.ID]
		wants := f.presence.usesDevice(c)
		if wants && !v.working && !math.IsInf(floor, 1) {
			v.time = max(v.time, floor-credit*float64(granularity)/c.weight()-launch)
		}
		v.working = wants
		f.virtual[c.ID] = v
	}
}

// chooseHolder keeps the holder until another is behind it by the granularity.
func (f *Fair) chooseHolder(clients []Client) {
	best := noHolder
	least, own := math.Inf(1), math.Inf(1)
	var weight float64
	for _, c := range clients {
		if !f.presence.usesDevice(c) {
			continue
		}
		v := f.virtual[c.ID]
		if v.time < least {
			best, least = c.ID, v.time
		}
		if c.ID == f.holder {
			own, weight = v.time, c.weight()
		}
	}
	if math.IsInf(own, 1) || own-least > float64(granularity)/weight {
		f.holder = best
	}
}
