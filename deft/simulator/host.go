package simulator

import (
	"math/rand/v2"
	"time"

	"github.com/foretime/foretime/deft/policy"
)

// phase is what a host thread is doing.
type phase int

const (
	sleeping  phase = iota // until wake, then a job begins
	launching              // until wake, then the next launch is tried
	atGate                 // until the gate opens
	atBound                // until fewer are in flight
	syncing                // at a synchronization point, until the queue is empty
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
	sinceSync int           // launches since the last synchronization point
	directive policy.Directive
	job       Job
	active    bool
	warmUp    bool // the present job is one
	inFlight  int
	launches  uint64
	gpu       time.Duration // of kernels done
	doneJobs  int
	lastJob   policy.Job
	result    ClientResult
}

func newHost(c *Config, i int) *host {
	h := &host{spec: &c.Clients[i], launch: cost(c.Clients[i].Launch, DefaultLaunch), jitter: c.Jitter}
	if c.Jitter > 0 {
		h.rng = rand.New(rand.NewPCG(c.Seed, uint64(i)))
	}
	h.result.Client = c.Clients[i]
	h.result.WarmUp = c.WarmUp
	return h
}

// varied is a time with jitter.
func (h *host) varied(t time.Duration) time.Duration {
	if h.rng == nil || t == 0 {
		return t
	}
	factor := min(max(1+h.jitter*h.rng.NormFloat64(), 0.5), 1.5)
	return max(time.Duration(float64(t)*factor), 1)
}

// timed says whether the host goes on at its wake time.
func (h *host) timed() bool {
	return h.phase == sleeping || h.phase == launching || h.phase == waking
}

// observed is the client as the policy sees it. Partial is the time that its
// kernel has been on the device.
func (h *host) observed(id int, partial time.Duration) policy.Client {
	return policy.Client{
		ID: id, Terms: h.spec.Terms,
		Active: h.active, Begin: h.job.Begin,
		Launches: h.launches, InFlight: h.inFlight, GPU: h.gpu + partial,
		Drained: h.phase == atGate && h.inFlight == 0,
		Jobs:    h.doneJobs, LastJob: h.lastJob,
	}
}
