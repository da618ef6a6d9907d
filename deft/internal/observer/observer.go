package observer

import (
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
)

// Observer holds the counters of a client at the last reading.
type Observer struct {
	terms  policy.Terms
	known  bool                               // terms are the settings'; else the slot's, which change
	device func(kernels uint64) time.Duration // nil unknown
	first  session.Client
	last   session.Client // as of the last look

	quietFrom  int64 // when Launches was last seen to change, or kernels were queued, ns
	launchedAt int64 // when Launches was last seen to change, ns
	filledAt   int64 // since when the queue is not empty: at the latest, ns
}

// New returns an observer of a client whose counters begin with first. Without terms they
// are those of its slot. Device returns the device time of so many of its kernels; nil if
// that is not known.
func New(first session.Client, terms *policy.Terms, device func(kernels uint64) time.Duration) *Observer {
	o := &Observer{first: first, last: first, device: device}
	if terms != nil {
		o.terms, o.known = *terms, true
	}
	return o
}

// Totals sums up a client since its observer began.
type Totals struct {
	Jobs     int
	Launches int
	Syncs    int
	Stall    time.Duration // in synchronization points and at the bound in flight
	Gate     time.Duration // at the closed gate
	GPU      time.Duration // estimated
}

// Totals returns the client's totals.
func (o *Observer) Totals(c session.Client) Totals {
	return Totals{
		Jobs:     int(c.JobsEnded - o.first.JobsEnded),
		Launches: int(c.Launches - o.first.Launches),
		Syncs:    int(c.Syncs - o.first.Syncs),
		Stall:    c.Stall - o.first.Stall,
		Gate:     c.AtGate - o.first.AtGate,
		GPU:      o.gpu(c),
	}
}

// Add returns the sum of the counters of two clients.
func (t Totals) Add(other Totals) Totals {
	return Totals{
		t.Jobs + other.Jobs, t.Launches + other.Launches, t.Syncs + other.Syncs,
		t.Stall + other.Stall, t.Gate + other.Gate, t.GPU + other.GPU,
	}
}

// gpu returns the device time since the first look.
func (o *Observer) gpu(c session.Client) time.Duration {
	if o.device == nil {
		return c.GPU - o.first.GPU
	}
	return max(0, o.device(c.Kernels-c.Queued)-o.device(o.first.Kernels-o.first.Queued))
}

// Observe returns the client as the policy sees it, without its ID. Times count from began.
func (o *Observer) Observe(c session.Client, began, now int64) policy.Client {
	if c.Launches != o.last.Launches || o.launchedAt == 0 {
		o.launchedAt = now
	}
	if c.Launches != o.last.Launches || c.Waiting > 0 || c.Queued > 0 {
		o.quietFrom = now
	}
	switch done := c.Kernels - c.Queued; {
	case c.Queued == 0:
		o.filledAt = now
	case done <= c.JobKernels:
		o.filledAt = c.JobBeginNs
	case done != o.last.Kernels-o.last.Queued:
		o.filledAt = now
	}
	o.last = c
	if !o.known {
		o.terms = policy.Terms{Name: c.Name, Priority: int(c.Priority), Weight: float64(c.Weight)}
	}
	p := policy.Client{
		Device: c.Device, Gang: c.Gang, Terms: o.terms, Job: c.Job, Started: c.Kernels > c.JobKernels, Held: c.Waiting > 0,
		Active: c.State == session.Active, Begin: time.Duration(c.JobBeginNs - began),
		Launches: c.Kernels - o.first.Kernels, InFlight: int(c.Queued), GPU: o.gpu(c), Drained: c.Drained,
		Jobs: int(c.JobsEnded - o.first.JobsEnded), Syncs: c.OwnSyncs - o.first.OwnSyncs,
		Queueing: time.Duration(now - o.filledAt),
		Busy:     o.busy(c, now), Waits: c.InWait > 0, Longest: time.Duration(c.MostKernels) * o.mean(c),
	}
	if p.Terms.Deadline == 0 && c.DeadlineNs > 0 {
		p.Terms.Deadline = time.Duration(c.DeadlineNs - c.JobBeginNs)
	}
	return p
}

// unknownKernel is the device time of a kernel of a client that nothing is known of: that
// of the hook (KERNEL_NS in queue.c).
const unknownKernel = 12500 * time.Nanosecond

// mean returns the device time of a kernel of the client.
func (o *Observer) mean(c session.Client) time.Duration {
	done := c.Kernels - c.Queued
	switch {
	case done == 0:
		return unknownKernel
	case o.device != nil:
		return o.device(done) / time.Duration(done)
	}
	return c.GPU / time.Duration(done)
}

// busy says whether the client has kernels on the device. The hook learns that its queue
// is empty only when the program waits for it; until then, the kernels that were
// launched may take twice their usual time. A program that waits in the driver is busy
// for as long as it runs: one that is stopped (SIGSTOP, a debugger) does not see the end.
func (o *Observer) busy(c session.Client, now int64) bool {
	if c.Queued == 0 {
		return false
	}
	usual := int64(c.Queued) * int64(o.mean(c))
	switch {
	case now <= o.launchedAt+usual:
		return true
	case c.Identity != 0 && c.Identity.IsStopped():
		return false
	}
	return c.InWait > 0 || now <= o.launchedAt+2*usual
}

// IsIdle says whether an unmarked job has launched nothing for so long.
func (o *Observer) IsIdle(c session.Client, now int64, after time.Duration) bool {
	return c.State == session.Active && !c.JobMarked && o.quietFrom > 0 && now-o.quietFrom > int64(after)
}
