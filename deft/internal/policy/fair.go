package policy

import (
	"math"
	"time"
)

// Fair gives each client device time in proportion to its weight. As in stride
// scheduling (Waldspurger and Weihl 1995) and Linux' CFS each client has a
// virtual time, its device time divided by its weight; the one that is behind
// holds the device until it is ahead by the granularity. A client that comes
// back to work is brought up to the others, less ten times that: it cannot save
// up time that it did not ask for, and loses nothing between two jobs.
type Fair struct {
	demand  demand
	virtual map[int]virtual
	holder  int
}

var _ Policy = (*Fair)(nil)

// virtual is the account of a client.
type virtual struct {
	time    float64 // ns of device time per unit of weight
	gpu     time.Duration
	working bool
}

// granularity is how far one client may run ahead of another; set by hand.
const granularity = 2 * time.Millisecond

// credit is how many granularities a client that comes back may be behind.
const credit = 10

// NewFair returns the policy.
func NewFair() *Fair {
	return &Fair{demand: newDemand(), virtual: map[int]virtual{}, holder: nobody}
}

// Decide gives the device to the client that is furthest behind.
func (f *Fair) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	f.demand.observe(now, clients)
	f.charge(now, clients)
	f.choose(now, clients)
	f.demand.give(now, f.holder, clients, directives)
	if top(clients, active) == math.MinInt || len(clients) == 1 {
		return Never
	}
	return now + granularity/2
}

// charge adds the device time since the last question to every account, and
// brings up the accounts of those that come back.
func (f *Fair) charge(now time.Duration, clients []Client) {
	forget(f.virtual, clients)
	floor := math.Inf(1) // the least of those that work and worked before
	for _, c := range clients {
		v, known := f.virtual[c.ID]
		if known {
			v.time += float64(c.GPU-v.gpu) / c.weight()
		}
		v.gpu = c.GPU
		f.virtual[c.ID] = v
		if known && v.working && f.demand.wants(now, c) {
			floor = min(floor, v.time)
		}
	}
	for _, c := range clients {
		v := f.virtual[c.ID]
		wants := f.demand.wants(now, c)
		if wants && !v.working && !math.IsInf(floor, 1) {
			v.time = max(v.time, floor-credit*float64(granularity)/c.weight())
		}
		v.working = wants
		f.virtual[c.ID] = v
	}
}

// choose keeps the holder until another is behind it by the granularity.
func (f *Fair) choose(now time.Duration, clients []Client) {
	best, least, own := nobody, math.Inf(1), math.Inf(1)
	var weight float64
	for _, c := range clients {
		if !f.demand.wants(now, c) {
			continue
		}
		v := f.virtual[c.ID].time
		if v < least {
			best, least = c.ID, v
		}
		if c.ID == f.holder {
			own, weight = v, c.weight()
		}
	}
	if math.IsInf(own, 1) || own-least > float64(granularity)/weight {
		f.holder = best
	}
}
