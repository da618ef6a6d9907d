package supervisor

import (
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
)

// observed is what is remembered of a client between two looks.
type observed struct {
	terms  policy.Terms
	known  bool                               // terms are the settings'; else the slot's, which change
	device func(kernels uint64) time.Duration // nil unknown
	first  session.Client
	last   session.Client // as of the last look

	quietFrom int64 // when Launches was last seen to change, ns
}

// Totals are what a client did since the supervisor began.
type Totals struct {
	Jobs     int
	Launches int
	Syncs    int
	Stall    time.Duration // in synchronization points and at the bound in flight
	Gate     time.Duration // at the closed gate
	GPU      time.Duration // estimated
}

func (o *observed) totals(c session.Client) Totals {
	return Totals{
		Jobs:     int(c.JobsEnded - o.first.JobsEnded),
		Launches: int(c.Launches - o.first.Launches),
		Syncs:    int(c.Syncs - o.first.Syncs),
		Stall:    c.Stall - o.first.Stall,
		Gate:     c.AtGate - o.first.AtGate,
		GPU:      o.gpu(c),
	}
}

// plus is what two clients did together.
func (t Totals) plus(other Totals) Totals {
	return Totals{
		t.Jobs + other.Jobs, t.Launches + other.Launches, t.Syncs + other.Syncs,
		t.Stall + other.Stall, t.Gate + other.Gate, t.GPU + other.GPU,
	}
}

// gpu is the device time since the first look.
func (o *observed) gpu(c session.Client) time.Duration {
	if o.device == nil {
		return c.GPU - o.first.GPU
	}
	return max(0, o.device(c.Kernels-c.Queued)-o.device(o.first.Kernels-o.first.Queued))
}

// observe is the client as the policy sees it. Times count from began.
func (o *observed) observe(c session.Client, began, now int64) policy.Client {
	if c.Launches != o.last.Launches || c.Waiting > 0 || c.Queued > 0 {
		o.quietFrom = now
	}
	o.last = c
	if !o.known {
		o.terms = policy.Terms{Name: c.Name, Priority: int(c.Priority), Weight: float64(c.Weight)}
	}
	p := policy.Client{
		ID: ID(c), Device: c.Device, Gang: c.Gang, Terms: o.terms, Job: c.Job, Started: c.Kernels > c.JobKernels, Held: c.Waiting > 0,
		Active: c.State == session.Active, Begin: time.Duration(c.JobBeginNs - began),
		Launches: c.Kernels - o.first.Kernels, InFlight: int(c.Queued), GPU: o.gpu(c), Drained: c.Drained,
		Jobs: int(c.JobsEnded - o.first.JobsEnded),
	}
	if p.Terms.Deadline == 0 && c.DeadlineNs > 0 {
		p.Terms.Deadline = time.Duration(c.DeadlineNs - c.JobBeginNs)
	}
	return p
}

// idle says whether an unmarked job has launched nothing for so long.
func (o *observed) idle(c session.Client, now int64, after time.Duration) bool {
	return c.State == session.Active && !c.JobMarked && o.quietFrom > 0 && now-o.quietFrom > int64(after)
}
