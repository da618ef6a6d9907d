package policy

import (
	"cmp"
	"slices"
	"time"
)

// Devices runs one policy for each device, and treats the ranks of a gang as one client.
//
// The ranks of a gang wait for one another inside their kernels. Two of them
// stopped at different places, or two gangs whose kernels meet in another order
// on each of two devices, would wait for ever. So where gangs span devices
//   - those devices have one policy together,
//   - a gang stops between jobs alone, all ranks after the same one: the last
//     that any of them had begun,
//   - one gang runs at a time: another is let in when the last has stopped.
//
// A gang whose jobs do not end is therefore not stopped.
type Devices struct {
	newPolicy func() Policy
	groups    map[uint64]*group // by the smallest of their devices
}

// NewDevices returns a policy that combines the policies that newPolicy returns.
func NewDevices(newPolicy func() Policy) *Devices {
	return &Devices{newPolicy, map[uint64]*group{}}
}

// group holds devices that gangs couple, or one device.
type group struct {
	policy  Policy
	gangs   map[uint64]*gang
	running uint64 // the gang that runs; 0 none
}

// gang holds the ranks of a gang and the history of its stops.
type gang struct {
	ranks     []int          // in the present question
	stopped   bool           // none of them keeps another from ending
	closed    bool           // as the last answer said
	stoppedAt map[int]uint64 // job of each rank, by its ID, when all had stopped
	until     map[int]uint64 // to which they may go
	launches  uint64
	moved     time.Duration // when launches last changed
}

// rankPatience is the time that ranks may wait at their gates for a rank that waits for
// them, before they may run one more job; set by hand.
const rankPatience = 5 * time.Millisecond

// Decide implements [Policy]. It leaves out clients that are exempt.
func (d *Devices) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	return DecideFor(now, clients, directives, func(c Client) bool { return !c.Exempt }, d.decide)
}

// decide runs the policy of each group of devices.
func (d *Devices) decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	if len(clients) == 0 || !slices.ContainsFunc(clients, func(c Client) bool { return c.Device != clients[0].Device || c.Gang != 0 }) {
		return d.group(clients).policy.Decide(now, clients, directives)
	}
	next := Never
	root := coupledDevices(clients)
	decided := map[uint64]bool{}
	for _, c := range clients {
		r := root(c.Device)
		if decided[r] {
			continue
		}
		decided[r] = true
		isMember := func(o Client) bool { return root(o.Device) == r }
		next = min(next, DecideFor(now, clients, directives, isMember, func(now time.Duration, own []Client, answers []Directive) time.Duration {
			return d.group(own).decide(now, own, answers)
		}))
	}
	return next
}

// group returns the group of the clients' devices.
func (d *Devices) group(clients []Client) *group {
	var key uint64
	for i, c := range clients {
		if i == 0 || c.Device < key {
			key = c.Device
		}
	}
	if d.groups[key] == nil {
		d.groups[key] = &group{policy: d.newPolicy(), gangs: map[uint64]*gang{}}
	}
	return d.groups[key]
}

// coupledDevices returns a function from a device to one that gangs couple with it, the same
// for all of them.
func coupledDevices(clients []Client) (root func(device uint64) uint64) {
	of := map[uint64]uint64{} // device -> a device of the same group
	root = func(device uint64) uint64 {
		for of[device] != device {
			device = of[device]
		}
		return device
	}
	first := map[uint64]uint64{} // gang -> device of its first rank
	for _, c := range clients {
		if _, known := of[c.Device]; !known {
			of[c.Device] = c.Device
		}
		if c.Gang == 0 {
			continue
		}
		if _, known := first[c.Gang]; !known {
			first[c.Gang] = c.Device
		}
		of[root(c.Device)] = root(first[c.Gang])
	}
	return root
}

// decide runs the policy with one client for each gang.
func (g *group) decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	units, of := g.mergeGangs(clients)
	answers := make([]Directive, len(units))
	next := g.policy.Decide(now, units, answers)
	g.admitGang(units, answers)
	for i := range clients {
		directives[i] = answers[of[i]]
	}
	for _, w := range g.gangs {
		unit := units[of[w.ranks[0]]]
		if w.stopped || w.stoppedAt == nil {
			w.stoppedAt, w.until = map[int]uint64{}, map[int]uint64{}
			for _, r := range w.ranks {
				w.stoppedAt[clients[r].ID] = clients[r].lastStartedJob()
			}
		}
		if w.closed = answers[of[w.ranks[0]]].Closed; !w.closed {
			clear(w.until)
			continue
		}
		w.stopRanks(now, clients, unit.Launches, directives)
		if !w.stopped {
			next = min(next, now+rankPatience)
		}
	}
	return next
}

// mergeGangs returns one client for each gang's ranks, and the index of that client for
// each rank.
func (g *group) mergeGangs(clients []Client) (units []Client, of []int) {
	at := map[uint64]int{}
	for _, w := range g.gangs {
		w.ranks, w.stopped = w.ranks[:0], true
	}
	for i, c := range clients {
		u, known := at[c.Gang]
		if c.Gang == 0 || !known {
			u = len(units)
			at[c.Gang] = u
			units = append(units, c)
		} else {
			units[u] = units[u].mergeRank(c)
		}
		of = append(of, u)
		if c.Gang != 0 {
			if g.gangs[c.Gang] == nil {
				g.gangs[c.Gang] = &gang{stopped: true}
			}
			w := g.gangs[c.Gang]
			w.ranks, w.stopped = append(w.ranks, i), w.stopped && c.isStopped()
		}
	}
	for id, w := range g.gangs {
		if len(w.ranks) == 0 {
			delete(g.gangs, id)
		}
	}
	return units, of
}

// isStopped says that a rank cannot keep another from ending: it has no job, or waits at
// its gate before the first launch of one, with nothing in flight.
func (c Client) isStopped() bool { return c.Drained && !c.Started || !c.Active && c.InFlight == 0 }

// mergeRank returns two ranks as one client.
func (c Client) mergeRank(rank Client) Client {
	if rank.Active && (!c.Active || rank.Begin < c.Begin) {
		c.Begin = rank.Begin
	}
	c.Drained = c.Drained && rank.isStopped() || rank.Drained && c.isStopped()
	c.Priority = max(c.Priority, rank.Priority)
	c.Active = c.Active || rank.Active
	c.Busy = c.Busy || rank.Busy
	c.Waits = c.Waits || rank.Waits
	c.Started = c.Started || rank.Started
	c.Longest = max(c.Longest, rank.Longest)
	c.Syncs += rank.Syncs
	c.Held = c.Held || rank.Held
	c.Launches += rank.Launches
	c.InFlight += rank.InFlight
	c.GPU = max(c.GPU, rank.GPU)
	c.Jobs = min(c.Jobs, rank.Jobs)
	return c
}

// admitGang closes all gangs except the running one, and admits the next when that one has
// stopped: the most urgent, then the one that has waited longest.
func (g *group) admitGang(units []Client, answers []Directive) {
	if len(g.gangs) < 2 {
		g.running = 0
		return
	}
	var waiting *Client
	for i := range units {
		u := &units[i]
		if u.Gang == 0 || u.Gang == g.running || !u.Held || answers[i].Closed {
			continue
		}
		if waiting == nil || cmp.Or(cmp.Compare(waiting.Priority, u.Priority), cmp.Compare(u.Begin, waiting.Begin)) < 0 {
			waiting = u
		}
	}
	i := slices.IndexFunc(units, func(u Client) bool { return u.Gang != 0 && u.Gang == g.running })
	leaves := i < 0 || g.gangs[g.running].stopped && g.gangs[g.running].closed
	if leaves {
		g.running = 0
		if waiting != nil {
			g.running = waiting.Gang
		}
	}
	for i, u := range units {
		if u.Gang == 0 {
			continue
		}
		idle := !leaves && waiting != nil && g.gangs[u.Gang].stopped
		if u.Gang != g.running || idle {
			answers[i].Closed = true
		}
	}
}

// stopRanks sets the job after which each rank stops. Ranks may number their jobs
// differently, so jobs are counted from the moment when all had stopped.
func (w *gang) stopRanks(now time.Duration, clients []Client, launches uint64, directives []Directive) {
	if w.stopped || launches != w.launches {
		w.launches, w.moved = launches, now
	}
	last, waits := uint64(0), false
	for _, r := range w.ranks {
		c := clients[r]
		last = max(last, c.lastStartedJob()-min(w.stoppedAt[c.ID], c.lastStartedJob()))
		waits = waits || c.Started && !c.isStopped()
	}
	stuck := waits && now-w.moved >= rankPatience
	for _, r := range w.ranks {
		c := clients[r]
		w.until[c.ID] = max(w.until[c.ID], w.stoppedAt[c.ID]+last)
		if stuck && c.Held {
			w.until[c.ID], w.moved = max(w.until[c.ID], c.Job), now
		}
		directives[r].Until = w.until[c.ID]
	}
}

// lastStartedJob returns the number of the last job that has launched a kernel.
func (c Client) lastStartedJob() uint64 {
	if c.Active && !c.Started {
		return c.Job - 1
	}
	return c.Job
}
