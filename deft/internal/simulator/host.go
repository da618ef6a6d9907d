package simulator

import (
	"math/rand/v2"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
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
	warmUp    bool          // the present job is one
	inFlight  int           // kernels
	mean      time.Duration // of a kernel
	longest   time.Duration // mean of its kernels times those of a launch
	launches  uint64
	used      time.Duration // device time, to the end of the last kernel
	started   uint64        // number of the last launch that the device took up, plus 1
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
	h.longest = h.mean * time.Duration(min(max(h.spec.Graph, 1), len(h.spec.Kernels)))
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

// policyClient returns the client as the policy sees it. Used is its device time.
func (h *host) policyClient(id int, used time.Duration) policy.Client {
	return policy.Client{
		ID: id, Terms: h.spec.Terms,
		Active: h.active, Begin: max(h.job.Begin, h.begun), Started: h.next > 0,
		Launches: h.launches, InFlight: h.inFlight, GPU: used,
		Busy: h.inFlight > 0, Waits: h.phase == finishing || h.phase == ownWait, Longest: h.longest, Syncs: h.ownSyncs,
		Held: h.phase == atGate, Drained: h.phase == atGate && h.inFlight == 0,
		Jobs: h.doneJobs, Job: uint64(h.doneJobs) + 1,
	}
}

// nextLaunch returns the next kernel or graph: one piece of work, as long as its kernels
// together.
func (h *host) nextLaunch(client int) device.Kernel {
	k := device.Kernel{Client: client, Kernels: h.launchKernels()}
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
