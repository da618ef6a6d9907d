package policy

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// DefaultInterval is the interval of sync for a client that has none of its own and has
// not ended a job.
const DefaultInterval = 16

// SyncCost is the assumed loss of a job at a synchronization point: its host wakes up,
// and the device waits for the next launch.
const SyncCost = 30 * time.Microsecond

// syncCheck is the time between two observations of a client without an interval.
const syncCheck = time.Millisecond

// Sync bounds the queues of the clients below the highest level, or of all clients if
// there is one level, and never closes a gate: by a synchronization point every Interval
// launches. On a device that runs kernels in order of launch this bounds how long a more
// urgent job waits behind them. A client without an interval gets the one of least cost for
// its jobs until now ([Harris]), within the deadlines of urgent jobs, and waits for each
// launch while one of them runs, unless they arrive too often.
type Sync struct{ pasts map[int]*syncPast }

var _ Policy = (*Sync)(nil)

// syncPast is the memory of sync about a client.
type syncPast struct {
	at   time.Duration
	last Client
	// kernel adds up the time of a kernel over the observed time: long kernels are
	// more likely to be found by an urgent job than short ones.
	kernel, observed float64
}

// NewSync returns the policy.
func NewSync() *Sync { return &Sync{map[int]*syncPast{}} }

// Decide bounds the queues.
func (s *Sync) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	dropAbsent(s.pasts, clients)
	next := Never
	var priorities []int
	for _, c := range clients {
		priorities = append(priorities, c.Priority)
	}
	for i, c := range clients {
		if !IsBounded(c.Priority, priorities) {
			continue
		}
		directives[i].SyncEvery = cmp.Or(c.Interval, s.observe(now, c).bestInterval(c, clients))
		if c.Interval == 0 && c.Active {
			next = now + syncCheck
		}
	}
	return next
}

// observe adds what the client did since the last observation.
func (s *Sync) observe(now time.Duration, c Client) *syncPast {
	p := s.pasts[c.ID]
	if p == nil {
		p = &syncPast{at: now, last: c}
		s.pasts[c.ID] = p
	}
	if kernels := c.done() - p.last.done(); kernels > 0 {
		ns := float64(now - p.at)
		p.kernel += ns * float64(c.GPU-p.last.GPU) / float64(kernels)
		p.observed += ns
		p.at, p.last = now, c
	}
	return p
}

// bestInterval returns the interval of least cost for the client's jobs until now. While a
// more urgent job runs it is 1 if the client has at least two jobs for each urgent one: what
// it waits for then, its next job need not.
func (p *syncPast) bestInterval(c Client, clients []Client) int {
	kernel := float64(c.GPU) / float64(c.done())
	if p.observed > 0 {
		kernel = p.kernel / p.observed
	}
	n := Harris(float64(SyncCost)*float64(c.Launches)/float64(c.Jobs), kernel)
	if n == 0 || c.Jobs == 0 || c.done() == 0 {
		return DefaultInterval
	}
	runs, jobs := false, 0
	for _, o := range clients {
		if o.Priority <= c.Priority {
			continue
		}
		runs = runs || o.Active
		jobs += o.Jobs
		if o.Deadline > 0 && o.Jobs > 0 {
			left := float64(o.Deadline) - float64(o.GPU)/float64(o.Jobs)
			if left >= kernel { // or no interval keeps it
				n = min(n, int(left/kernel))
			}
		}
	}
	if runs && 2*jobs <= c.Jobs {
		return 1
	}
	return n
}

// Harris returns the interval N of least cost setup/N + delay·N/2, at least 1:
// sqrt(2·setup/delay), the economic order quantity (F. W. Harris, "How many parts to make
// at once", 1913). Setup is the cost of a synchronization point at each launch of a job;
// delay is the device time of a kernel, since an urgent job finds half of the N kernels
// still queued. Both have the same unit. It returns 0 if delay is not above 0 or setup is
// below 0.
func Harris(setup, delay float64) int {
	if !(delay > 0) || !(setup >= 0) {
		return 0
	}
	return int(max(1, math.Round(math.Sqrt(min(2*setup/delay, math.MaxInt32)))))
}

// IsBounded says that the queue of a client of some priority is bounded: another one is more
// urgent, or all are equal.
func IsBounded(priority int, all []int) bool {
	return priority < slices.Max(all) || slices.Min(all) == slices.Max(all)
}
