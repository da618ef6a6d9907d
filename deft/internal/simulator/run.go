package simulator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/observer"
	"github.com/foretime/foretime/deft/internal/policy"
)

// Run plays an experiment to its end. It checks ctx at intervals.
func Run(ctx context.Context, c Config) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Policy == nil {
		c.Policy = policy.None{}
	}
	if c.MinJobs == 0 {
		c.MinJobs = DefaultMinJobs
	}
	s := newSimulation(&c)
	if c.WarmUp {
		if err := s.warmUp(ctx); err != nil {
			return nil, err
		}
	}
	s.begin()
	if err := s.play(ctx); err != nil {
		return nil, err
	}
	return s.result(), nil
}

// simulation is the state of a run.
type simulation struct {
	config   *Config
	now      time.Duration
	hosts    []*host
	device   *device.Device
	queued   int // kernels on the device, those of graphs included
	syncCost time.Duration
	open     bool // the experiment has begun: the policy is asked
	ask      time.Duration
	err      error

	decisions  int
	clients    []policy.Client
	directives []policy.Directive
}

func newSimulation(c *Config) *simulation {
	s := &simulation{config: c, device: device.New(c.Device, len(c.Clients)), ask: never, syncCost: cost(c.SyncCost, DefaultSyncCost)}
	for i := range c.Clients {
		s.hosts = append(s.hosts, newHost(c, i))
	}
	s.clients = make([]policy.Client, len(s.hosts))
	s.directives = make([]policy.Directive, len(s.hosts))
	return s
}

// warmUp plays one job of each client alone and shifts them to before time 0.
func (s *simulation) warmUp(ctx context.Context) error {
	for _, h := range s.hosts {
		h.phase = finished
	}
	for _, h := range s.hosts {
		h.phase, h.wake = sleeping, s.now
		h.warmUp = true
		for n := 1; h.phase != finished; n++ {
			s.step(s.nextEvent())
			if n%8192 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		h.warmUp = false
	}
	for _, h := range s.hosts {
		first := &h.result.Jobs[0]
		first.Begin -= s.now
		first.End -= s.now
		h.used, h.started = 0, 0
		h.launches, h.doneJobs = 0, 0
		h.emptied, h.known = 0, 0
		h.sinceSync, h.next = 0, 0
		h.result.MaxQueue, h.result.GPU = 0, 0
	}
	s.now = 0
	s.device = device.New(s.config.Device, len(s.hosts))
	return nil
}

// begin lets the clients go.
func (s *simulation) begin() {
	for _, h := range s.hosts {
		h.phase, h.wake = sleeping, h.spec.Start
		h.observer = observer.New(h.counters(), &h.spec.Terms, nil)
	}
	s.open = true
	s.ask = 0
}

// maxIdleSteps is the number of decisions in a row within which a policy must let a client
// continue.
const maxIdleSteps = 100_000

// play goes from event to event.
func (s *simulation) play(ctx context.Context) error {
	idle := 0 // decisions since anything else happened
	for n := 1; ; n++ {
		at := s.nextEvent()
		if at == never {
			break
		}
		asked := s.decisions
		s.step(at)
		if s.err != nil {
			return s.err
		}
		idle++
		if s.decisions == asked {
			idle = 0
		}
		if idle > maxIdleSteps {
			break
		}
		if n%8192 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.allFinished() {
			return nil
		}
	}
	if next := s.nextChange(); next != never {
		return fmt.Errorf("simulator: %w: nothing but decisions happens from %v to %v", ErrTime, s.now, next)
	}
	return fmt.Errorf("simulator: at %v: %w", s.now, ErrStuck)
}

func (s *simulation) allFinished() bool {
	return !slices.ContainsFunc(s.hosts, func(h *host) bool { return h.phase != finished })
}

// nextEvent returns the time of the next event.
func (s *simulation) nextEvent() time.Duration { return min(s.nextChange(), s.ask) }

// nextChange returns the time of the next event of the device or a host.
func (s *simulation) nextChange() time.Duration {
	at := s.device.Next()
	for _, h := range s.hosts {
		if h.hasWakeTime() && h.wake < at {
			at = h.wake
		}
	}
	return at
}

// step plays one event: of those at the same time the device's first, then the
// policy's, then the hosts' in order.
func (s *simulation) step(at time.Duration) {
	s.now = at
	changes := s.device.Next() == at
	s.advanceDevice()
	switch {
	case changes:
	case s.ask == at:
		s.decide()
	default:
		for i, h := range s.hosts {
			if h.hasWakeTime() && h.wake == at {
				s.advance(i, h)
				break
			}
		}
	}
	s.advanceDevice()
}

// advanceDevice brings the device to the present and informs the hosts whose kernels are
// done.
func (s *simulation) advanceDevice() {
	for _, k := range s.device.Advance(s.now) {
		s.kernelDone(k)
	}
	if k, number, runs := s.device.Running(); runs && number >= s.hosts[k.Client].started {
		s.hosts[k.Client].started = number + 1
		s.trace(Started, k.Client)
	}
}

func (s *simulation) trace(kind EventKind, client int) {
	if s.config.Trace == nil || !s.open {
		return
	}
	h := s.hosts[client]
	s.config.Trace(Event{s.now, kind, client, h.inFlight, s.queued, h.directive})
}

// advance moves a host whose time has come.
func (s *simulation) advance(i int, h *host) {
	switch h.phase {
	case sleeping:
		s.beginJob(i, h)
	case launching:
		s.tryLaunch(i, h)
	case waking:
		s.endJob(i, h)
	}
}

func (s *simulation) beginJob(i int, h *host) {
	h.job = Job{Begin: s.now}
	h.active, h.next = true, 0
	h.phase, h.wake = launching, s.now
	if h.spec.Gaps != nil {
		h.wake += h.spec.Gaps[0]
	}
	if h.spec.Unmarked && h.wake > s.now {
		h.active = false
	}
	s.trace(Begun, i)
	if h.active {
		h.begun, h.atBegin = s.now, h.launches
		s.announceJob()
	}
}

// announceJob informs the policy that a job has begun.
func (s *simulation) announceJob() {
	if !s.open {
		return
	}
	s.requestDecision()
	if s.config.Reaction == 0 {
		s.decide()
	}
}

// requestDecision schedules a decision after the reaction time, or earlier if one is due.
func (s *simulation) requestDecision() {
	if s.open {
		s.ask = min(s.ask, s.now+s.config.Reaction)
	}
}

// tryLaunch launches the next kernel or waits for leave to.
func (s *simulation) tryLaunch(i int, h *host) {
	if !h.active { // the first launch of an unmarked job
		h.active = true
		h.begun, h.atBegin = s.now, h.launches
		s.announceJob()
	}
	switch {
	case h.directive.Closed:
		h.phase, h.since = atGate, s.now
		if h.inFlight == 0 {
			h.noteEmpty()
			s.requestDecision() // drained
		}
		return
	case h.needsSync():
		s.syncPoint(i, h)
		return
	case h.exceedsBound():
		h.phase, h.since = atBound, s.now
		return
	case s.isFull(i):
		h.phase = atFull
		return
	}
	s.launch(i, h)
}

// launch gives the device the next kernel or graph.
func (s *simulation) launch(i int, h *host) {
	k := h.nextLaunch(i)
	s.device.Launch(k)
	s.queued += k.Kernels
	h.sinceSync += k.Kernels
	h.next += k.Kernels
	h.inFlight += k.Kernels
	h.launches += uint64(k.Kernels)
	h.job.Launches++
	h.result.MaxQueue = max(h.result.MaxQueue, h.inFlight)
	s.trace(Launched, i)
	if h.directive.Watch {
		h.directive.Watch = false
		s.requestDecision()
	}
	h.wake = s.now + h.launch
	h.phase = launching
	switch {
	case h.next == len(h.spec.Kernels):
		h.phase = finishing
	case h.spec.Gaps == nil:
	case h.spec.Waits[h.next]:
		h.phase = ownWait
	default:
		h.wake = s.now + h.spec.Gaps[h.next]
	}
}

// syncPoint makes a host wait until its queue is empty, before its next launch.
func (s *simulation) syncPoint(i int, h *host) {
	h.sinceSync = 0
	h.job.Syncs++
	s.trace(Synced, i)
	if h.inFlight == 0 {
		h.noteEmpty()
		return // nothing to wait for: the launch is tried again at once
	}
	h.phase, h.since = syncing, s.now
}

// isFull says whether a client has as many launches on the device as it has room for.
func (s *simulation) isFull(client int) bool {
	return s.device.QueueLength(client) >= s.device.Settings().Ahead
}

// kernelDone notes that a kernel has ended and moves the host that waited for it.
func (s *simulation) kernelDone(k device.Kernel) {
	h := s.hosts[k.Client]
	h.inFlight -= k.Kernels
	s.queued -= k.Kernels
	used := s.device.TimeOf(k.Client)
	h.result.GPU += used - h.used
	h.used = used
	s.trace(Done, k.Client)
	if h.phase == atFull {
		h.phase, h.wake = launching, s.now
	}
	if h.phase == atBound && !h.exceedsBound() {
		h.job.Stall += s.now - h.since
		h.phase, h.wake = launching, s.now
	}
	if h.inFlight > 0 {
		return
	}
	if h.phase == syncing || h.phase == ownWait || h.phase == finishing || h.phase == atGate {
		h.noteEmpty()
	}
	switch h.phase {
	case syncing:
		h.phase, h.wake = launching, s.now+s.syncCost
		h.job.Stall += h.wake - h.since
	case ownWait:
		h.sinceSync = 0
		h.ownSyncs++
		h.phase, h.wake = launching, s.now+s.syncCost+h.spec.Gaps[h.next]
		if h.spec.Unmarked {
			h.result.Unmarked = append(h.result.Unmarked, s.now+s.syncCost-h.begun)
			h.active = false
			s.requestDecision()
		}
	case finishing:
		h.ownSyncs++
		h.sinceSync = 0
		h.phase, h.wake = waking, s.waitEnd(h)
	case atGate:
		h.sinceSync = 0
		s.requestDecision()
	}
}

// waitEnd returns the time at which a host that waits for its queue at the end of a job
// continues: its last launch call may take longer than the queue, and then it does not
// wait.
func (s *simulation) waitEnd(h *host) time.Duration {
	if h.wake >= s.now {
		return h.wake
	}
	return s.now + s.syncCost
}

func (s *simulation) endJob(i int, h *host) {
	h.job.End = s.now
	if h.spec.Unmarked {
		h.result.Unmarked = append(h.result.Unmarked, s.now-h.begun)
	}
	h.active = false
	h.doneJobs++
	h.result.Jobs = append(h.result.Jobs, h.job)
	if len(h.result.Jobs) > maxJobs {
		s.err = fmt.Errorf("simulator: client %d (%s): %w: more than %d", i, h.spec.Name, ErrTooMany, maxJobs)
	}
	s.trace(Ended, i)
	s.schedule(h)
	s.requestDecision()
}

// schedule sets the begin of the next job, or ends the client.
func (s *simulation) schedule(h *host) {
	if h.warmUp {
		h.phase = finished
		return
	}
	h.phase, h.wake = sleeping, s.now+h.withJitter(h.spec.Sleep)
	if h.spec.Period > 0 {
		h.wake = max(s.now, h.job.Begin+h.spec.Period)
	}
	enough := h.doneJobs >= s.config.MinJobs && h.wake >= s.config.Duration
	if h.spec.Jobs > 0 {
		enough = h.doneJobs >= h.spec.Jobs
	}
	if enough {
		h.phase = finished
	}
}

// decide runs the policy and carries out its directives. A client that has finished has
// left: the policy does not see it.
func (s *simulation) decide() {
	s.ask = never
	clients := s.clients[:0]
	for i, h := range s.hosts {
		if h.phase == finished {
			continue
		}
		clients = append(clients, h.policyClient(i, s.now))
	}
	directives := s.directives[:len(clients)]
	clear(directives)
	s.decisions++
	next := s.config.Policy.Decide(s.now, clients, directives)
	if next <= s.now {
		s.err = fmt.Errorf("simulator: at %v: %w: its next time is %v", s.now, ErrPolicy, next)
		return
	}
	s.ask = min(s.ask, next)
	for k, c := range clients {
		s.direct(c.ID, directives[k])
	}
}

// direct carries out one directive.
func (s *simulation) direct(i int, d policy.Directive) {
	h := s.hosts[i]
	if h.directive == d {
		return
	}
	h.directive = d
	s.trace(Directed, i)
	switch {
	case h.phase == atGate && !d.Closed:
		h.wake = s.now + s.syncCost // the host must wake
		h.job.Gate += h.wake - h.since
		h.phase = launching
	case h.phase == atBound && !h.exceedsBound():
		h.job.Stall += s.now - h.since
		h.phase, h.wake = launching, s.now
	}
}

// result collects what the clients have.
func (s *simulation) result() *Result {
	r := &Result{Decisions: s.decisions}
	for _, h := range s.hosts {
		c := h.result
		for _, j := range c.JobsAfterWarmUp() {
			c.Launches += j.Launches
			c.Syncs += j.Syncs
			c.Stall += j.Stall
			c.Gate += j.Gate
			r.End = max(r.End, j.End)
		}
		r.Clients = append(r.Clients, c)
	}
	return r
}
