package simulator

import (
	"math/rand/v2"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/observer"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
)

// phase is the state of a host thread.
type phase int

const (
	sleeping  phase = iota // until wake, then a job begins
	launching              // until wake, then the next launch is tried
	atGate                 // until the gate opens
	atBound                // until fewer are in flight
	atFull                 // until the device has room for another launch
	syncing                // at a synchronization point, until the queue is empty
	ownWait                // in a wait of the program's own, until the queue is empty
	finishing              // after the last launch, until the queue is empty
	waking                 // until wake, from a wait for the device after the last launch
	finished               // for good
)

// host is a client's process.
type host struct {
	spec      *Client
	rng       *rand.Rand // nil without jitter
	jitter    float64
	launch    time.Duration
	phase     phase
	wake      time.Duration
	since     time.Duration // begin of the present wait
	next      int           // kernel of the job to launch next
	sinceSync int           // kernels launched since the last synchronization point
	directive policy.Directive
	job       Job
	active    bool
	begun     time.Duration // of an unmarked job: its first launch
	atBegin   uint64        // launches then
	warmUp    bool          // the present job is one
	inFlight  int           // kernels
	mean      time.Duration // of a kernel
	launches  uint64
	used      time.Duration // device time, to the end of the last kernel
	emptied   uint64        // launches, when the queue was last known to be empty
	known     time.Duration // used at that time
	observer  *observer.Observer
	started   uint64 // number of the last launch that the device took up, plus 1
	doneJobs  int
	ownSyncs  uint64
	result    ClientResult
}

func newHost(c *Config, i int) *host {
	h := &host{spec: &c.Clients[i], launch: cost(c.Clients[i].Launch, DefaultLaunch), jitter: c.Jitter}
	if c.Jitter > 0 {
		h.rng = rand.New(rand.NewPCG(c.Seed, uint64(i)))
	}
	for _, each := range h.spec.Kernels {
		h.mean += each
	}
	h.mean /= time.Duration(len(h.spec.Kernels))
	h.result.Client = c.Clients[i]
	h.result.WarmUp = c.WarmUp
	return h
}

// withJitter returns a time with jitter.
func (h *host) withJitter(t time.Duration) time.Duration {
	if h.rng == nil || t == 0 {
		return t
	}
	factor := min(max(1+h.jitter*h.rng.NormFloat64(), 0.5), 1.5)
	return max(time.Duration(float64(t)*factor), 1)
}

// hasWakeTime says whether the host continues at its wake time.
func (h *host) hasWakeTime() bool {
	return h.phase == sleeping || h.phase == launching || h.phase == waking
}

// policyClient returns the client as the owner of its session would see it.
func (h *host) policyClient(id int, now time.Duration) policy.Client {
	c := h.observer.Observe(h.counters(), 0, int64(now))
	c.ID = id
	return c
}

// counters returns what the client's hook would have written.
func (h *host) counters() session.Client {
	c := session.Client{
		Kernels: h.launches, Queued: h.launches - h.emptied, JobKernels: h.atBegin, Drained: h.phase == atGate && h.inFlight == 0,
		Words: session.Words{
			State: session.Idle, Launches: h.launches, GPU: h.known, OwnSyncs: h.ownSyncs, MostKernels: uint64(min(max(h.spec.Graph, 1), len(h.spec.Kernels))),
			Job: uint64(h.doneJobs) + 1, JobsEnded: uint64(h.doneJobs), JobBeginNs: int64(max(h.job.Begin, h.begun)),
		},
	}
	if h.active {
		c.State = session.Active
	}
	if h.phase == atGate {
		c.Waiting = 1
	}
	switch h.phase {
	case finishing, ownWait, syncing, atBound:
		c.InWait = 1
	}
	return c
}

// noteEmpty notes that the client has learned that its queue is empty.
func (h *host) noteEmpty() { h.emptied, h.known = h.launches, h.used }

// nextLaunch returns the next kernel or graph: one piece of work, as long as its kernels
// together.
func (h *host) nextLaunch(client int) device.Kernel {
	k := device.Kernel{Client: client, Kernels: h.launchKernels(), Priority: h.spec.Priority}
	for _, each := range h.spec.Kernels[h.next : h.next+k.Kernels] {
		k.Time += h.withJitter(each)
	}
	return k
}

// launchKernels returns the number of kernels of the next launch.
func (h *host) launchKernels() int {
	return min(max(h.spec.Graph, 1), len(h.spec.Kernels)-h.next)
}

// needsSync says whether the next launch exceeds the interval. A single launch never does.
func (h *host) needsSync() bool {
	every := h.directive.SyncEvery
	return every > 0 && h.sinceSync > 0 && h.sinceSync+h.launchKernels() > every
}

// exceedsBound says whether the next launch has to wait until others are done. The hook
// measures the mean kernel time of its queue; here it is that of the job's kernels.
func (h *host) exceedsBound() bool {
	d, after := h.directive, h.inFlight+h.launchKernels()
	return h.inFlight > 0 && d.InFlightTime > 0 && time.Duration(after)*h.mean > d.InFlightTime
}
