package policy

import (
	"math"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
)

// DefaultSlack is the time of an urgent job next to others, relative to alone, that
// giving its gaps away may cost on average.
const DefaultSlack = 1.05

const (
	// reactionTime is the time from a launch of an urgent client until others are stopped:
	// the owner wakes up and decides (0.03 to 0.16 ms measured on a loaded machine).
	reactionTime = 100 * time.Microsecond
	// savingsTime is the time over which an urgent client may accumulate its allowed loss.
	savingsTime = 200 * time.Millisecond
	// minCheckTime and longest are the limits of the time between two observations of an
	// urgent client that keeps others waiting.
	minCheckTime = 250 * time.Microsecond
	maxCheckTime = 2 * time.Millisecond
	// maxAhead is the device time that others may have in flight in a gap.
	maxAhead = 10 * DefaultInFlight
	// busyLimit is the share of its job's time above which a client's kernels fill the
	// device: nothing is given away between its launches.
	busyLimit = 0.8
	// gapLimit is the longest time without kernels for which the gate of others stays
	// closed because a client may launch at once: a program that is stopped, debugged or
	// busy on its host counts as absent after it. Two turns of a device without MPS, set
	// by hand.
	gapLimit = 5 * time.Millisecond
	// earlyPart is the part of the kernels between two waits of a client after which others are
	// not let in between its launches: it would pay as much, for less of their time.
	earlyPart = 0.25
)

// presence decides which clients use the device: those with a job, except while the job
// has had nothing on the device for longer than it costs to give the gap away. All
// policies that stop others for a client use it. It gives away
//   - a gap, after as long as giving it costs, at most gapLimit, if the client has saved up
//     the time that its return takes. It saves a part slack-1 of its jobs' time. This is the
//     break-even rule of ski rental, at most twice as dear as knowing each gap's length in
//     advance (Karlin, Manasse, McGeoch and Owicki 1994);
//   - the time between the launches of a client that does not fill the device, as long
//     as it has saved up the loss at its next synchronization.
type presence struct {
	slack     float64
	device    device.Settings
	histories map[int]*clientHistory
	longest   longest // of the clients last observed
}

// clientHistory is the memory of presence about a client.
type clientHistory struct {
	loan
	measured
	at    time.Duration // of the last observation
	last  Client        // then
	open  bool          // its gate was, since then
	keeps bool          // others wait for it while it has a job
}

// loan holds what of a client's time others use.
type loan struct {
	lent    lent
	idle    time.Duration // since when it has had nothing on the device
	ahead   time.Duration // while it is lent, what others may have in flight
	saved   float64       // ns that the client may lose
	mayLose float64       // ... of them until its next synchronization
}

// lent names the time of a client in which others use the device.
type lent int

const (
	lentNothing lent = iota
	lentGap          // it has nothing on the device
	lentPauses       // between its launches
)

// measured holds the work of a client.
type measured struct {
	alone  bool // others were stopped, with nothing on the device
	pace   work // its launches in jobs while it was alone and waited for nothing
	all    work // in jobs
	recent work // since its queue was last empty: only then its device time is known
	// interleaved says that others used the device between the client's launches.
	interleaved bool
}

func newPresence(s Settings) presence {
	p := presence{slack: s.Slack, device: s.Device.WithDefaults(), histories: map[int]*clientHistory{}}
	if p.slack <= 1 {
		p.slack = DefaultSlack
	}
	return p
}

// observe updates the history of the clients since the last call.
func (p *presence) observe(now time.Duration, clients []Client) {
	dropAbsent(p.histories, clients)
	p.longest = findLongest(clients)
	for _, c := range clients {
		s := p.histories[c.ID]
		if s == nil {
			s = &clientHistory{loan: loan{idle: now}, at: now, open: true, last: c}
			p.histories[c.ID] = s
		}
		p.measure(s, now, c)
		if c.Active {
			most := max((p.slack-1)*float64(savingsTime), float64(p.returnDelay(c, DefaultInFlight)))
			s.saved = max(-most, min(s.saved+(p.slack-1)*float64(now-max(s.at, c.Begin)), most))
		}
		p.updateIdle(s, now, c, p.returnDelay(c, s.ahead))
		s.at, s.last = now, c
	}
}

// updateIdle updates the time since which the client has had nothing on the device.
func (p *presence) updateIdle(s *clientHistory, now time.Duration, c Client, delay time.Duration) {
	launched, begun := c.Launches != s.last.Launches, c.Begin != s.last.Begin
	switch {
	case launched:
		if s.lent == lentGap {
			s.saved -= float64(delay)
			s.lent = lentNothing
		}
		s.idle = now
	case begun:
		s.idle = min(c.Begin, now)
	case c.Busy || !s.open || c.Drained:
		s.idle = now
	}
	if s.lent == lentGap && (c.Busy || c.Drained || !c.Active) {
		s.lent = lentNothing
	}
}

// measure adds up the client's work in the time of its jobs.
func (p *presence) measure(s *clientHistory, now time.Duration, c Client) {
	if !s.last.Active {
		return
	}
	elapsed := float64(now - s.at)
	waits := s.last.Waits || c.Waits || c.Syncs != s.last.Syncs
	if s.alone && s.last.Started && !waits && c.Begin == s.last.Begin {
		s.pace.add(work{ns: elapsed, kernels: float64(c.Launches - s.last.Launches)})
	}
	if s.lent == lentGap || c.Launches == s.last.Launches && !waits {
		elapsed = 0 // its host's own time
	}
	s.recent.add(work{elapsed, float64(c.GPU - s.last.GPU), float64(c.done() - s.last.done()), float64(c.Syncs - s.last.Syncs)})
	if c.InFlight > 0 && c.done() == s.last.done() {
		return
	}
	s.all.add(s.recent)
	if s.interleaved && s.pace.kernels > 0 { // it pays for the time that it took longer than alone
		s.saved -= s.recent.ns - s.recent.kernels*s.pace.ns/s.pace.kernels
	}
	s.recent = work{}
	s.interleaved = s.lent == lentPauses
}

// done returns the kernels that are known to be done.
func (c Client) done() uint64 { return c.Launches - min(uint64(c.InFlight), c.Launches) }

// kernelsLeft returns the kernels that may be in flight: those that are not known to be done, less
// those for which the device has had time since the queue was empty.
func (s *clientHistory) kernelsLeft(c Client) int {
	if s.all.gpu <= 0 {
		return c.InFlight
	}
	return max(min(c.InFlight, 1), c.InFlight-int(float64(c.Queueing)*s.all.kernels/s.all.gpu))
}

// work holds the launches and jobs of a client in a time.
type work struct{ ns, gpu, kernels, syncs float64 }

// add adds later work. About the last second counts.
func (w *work) add(d work) {
	w.ns += d.ns
	if w.ns > float64(time.Second) {
		*w = work{w.ns / 2, w.gpu / 2, w.kernels / 2, w.syncs / 2}
	}
	w.gpu += d.gpu
	w.kernels += d.kernels
	w.syncs += d.syncs
}

// returnDelay returns the time that a client loses when it takes the device back from the
// others.
func (p *presence) returnDelay(c Client, bound time.Duration) time.Duration {
	return p.workAhead(c, bound) + p.device.Switch + reactionTime
}

// workAhead returns the device time that others may have in flight before a kernel of c if
// their queues are bounded: a launch cannot be divided.
func (p *presence) workAhead(c Client, bound time.Duration) time.Duration {
	if p.device.Discipline == device.MPS {
		bound = 0
	}
	return max(bound, p.longest.ofOthers(c))
}

// longest holds the longest launch of any client, and that of any other one.
type longest struct {
	id            int
	first, second time.Duration
}

func findLongest(clients []Client) (l longest) {
	for _, c := range clients {
		if c.Longest > l.first {
			l = longest{c.ID, c.Longest, l.first}
		} else {
			l.second = max(l.second, c.Longest)
		}
	}
	return l
}

// ofOthers returns the longest launch of the clients other than c.
func (l longest) ofOthers(c Client) time.Duration {
	if c.ID == l.id {
		return l.second
	}
	return l.first
}

// usesDevice says whether the client uses the device, or would with an open gate.
func (p *presence) usesDevice(c Client) bool {
	return c.Active && p.histories[c.ID].lent == lentNothing
}

// decide marks the clients that others need not wait for, and returns the time of the
// next decision. It is called after observe; waited says whether a client keeps others from
// launching.
func (p *presence) decide(now time.Duration, clients []Client, waited func(Client) bool) time.Duration {
	next := Never
	for _, c := range clients {
		s := p.histories[c.ID]
		if !c.Active {
			continue
		}
		if s.keeps = waited(c); !s.keeps {
			continue
		}
		delay := p.returnDelay(c, DefaultInFlight)
		cost := delay + p.device.Switch
		check := now + min(max(cost/2, minCheckTime), maxCheckTime)
		paced := s.lent == lentPauses
		if paced {
			s.lent = lentNothing
		}
		loss := p.pauseLoss(s, c)
		switch {
		case s.lent == lentGap: // others may have more in flight the longer its gap lasts
			s.ahead = s.depth()
		case c.Busy || c.Drained || !s.open:
		default:
			ready := s.idle + min(cost, gapLimit)
			if lack := float64(delay) - s.saved; lack > 0 {
				ready = max(ready, now+time.Duration(math.Ceil(lack/(p.slack-1))))
			}
			if now >= ready {
				s.lent = lentGap
			} else {
				check = min(check, ready)
			}
			s.ahead = s.depth()
		}
		switch {
		case s.lent == lentGap:
			check = now + 10*maxCheckTime
		case p.sharesPauses(s, c, loss, paced):
			s.lent, s.interleaved = lentPauses, true
			s.ahead = min(DefaultInFlight, time.Duration(s.mayLose/2))
		}
		next = min(next, check)
	}
	return next
}

// depth returns the device time that others may have in flight in a gap: a deep queue
// keeps the device busy while their hosts are not, and costs the client when it comes back.
func (s *clientHistory) depth() time.Duration {
	return min(max(DefaultInFlight, time.Duration(s.saved/2)), maxAhead)
}

// sharesPauses says whether others may use the device between the launches of a client
// that does not fill it, as long as the client has saved up what it may lose by that. Once
// it may lose more they wait until its queue is empty. Paced says whether they use it
// already.
func (p *presence) sharesPauses(s *clientHistory, c Client, loss time.Duration, paced bool) bool {
	if c.Waits && c.Busy || !paced && (c.Drained || !s.open) { // it is not its host that it waits for
		return false
	}
	if s.all.syncs <= 0 || s.pace.kernels <= 0 || s.all.gpu*s.pace.kernels > busyLimit*s.pace.ns*s.all.kernels {
		return false
	}
	between := s.all.kernels / s.all.syncs * s.pace.ns / s.pace.kernels // two of its waits, alone
	opening := loss + 2*p.device.Switch
	if !paced { // worth it?
		s.mayLose = max((p.slack-1)*between, float64(opening))
		early := float64(c.InFlight) <= earlyPart*s.all.kernels/s.all.syncs
		return early && s.kernelsLeft(c) <= 1 && float64(opening) <= s.saved
	}
	return float64(loss) <= min(s.mayLose, s.saved)
}

// pauseLoss returns the time that a client loses at its next synchronization if others use
// the device until then: for their work ahead of its kernels, and for its own queue.
func (p *presence) pauseLoss(s *clientHistory, c Client) time.Duration {
	if s.all.kernels <= 0 {
		return 0
	}
	ahead := p.workAhead(c, s.ahead)
	left := s.kernelsLeft(c)
	loss := ahead + time.Duration(float64(left)*s.all.gpu/s.all.kernels)
	switch {
	case p.device.Discipline == device.MPS: // until the next check, one of the others' kernels comes before each of its own
		loss += min(time.Duration(left)*ahead, minCheckTime) / 2
	case p.device.Switch > 0: // until then, it does not get the device
		loss += p.device.Switch + minCheckTime/2
	}
	return loss
}

// setBounds notes the open gates, bounds the queues of clients that use the device between
// the launches of another, and has clients whose gap is lent ring when they launch again.
func (p *presence) setBounds(clients []Client, directives []Directive) {
	active := map[int]*clientHistory{}
	for _, c := range clients {
		if c.Active {
			active[c.ID] = p.histories[c.ID]
		}
	}
	for i, c := range clients {
		if directives[i].InFlightTime == 0 {
			continue
		}
		bound, gap := DefaultInFlight, Never
		for id, s := range active {
			switch {
			case id == c.ID:
			case s.lent == lentPauses:
				bound, gap = min(bound, s.ahead), 0
			case s.lent == lentGap:
				gap = min(gap, s.ahead)
			default:
				gap = 0
			}
		}
		if gap != Never {
			bound = max(bound, gap)
		}
		directives[i].InFlightTime = bound
	}
	users := 0 // of the device
	for i, c := range clients {
		if mayRun(c, directives[i]) {
			users++
		}
	}
	for i, c := range clients {
		s := p.histories[c.ID]
		s.open = !directives[i].Closed
		s.alone = users == 0 || users == 1 && mayRun(c, directives[i])
		directives[i].Watch = s.open && c.Active && s.lent == lentGap && len(clients) > 1
		directives[i].Timed = s.keeps && len(clients) > 1
	}
}

// mayRun says whether a client may have kernels on the device under a directive.
func mayRun(c Client, d Directive) bool { return c.Busy || c.Active && !d.Closed }

// noHolder is the holder if no client has work.
const noHolder = -1

// giveDevice opens the gate of one client, and of those with a job that do not use the device;
// the others stop, unless no client has work. If there is more than one client, the queue
// of each is bounded, so a turn ends soon after its gate closes.
func (p *presence) giveDevice(id int, clients []Client, directives []Directive) {
	for i, c := range clients {
		directives[i].Closed = id != noHolder && c.ID != id && (!c.Active || p.usesDevice(c))
		if len(clients) > 1 {
			c.boundQueue(&directives[i])
		}
	}
	p.setBounds(clients, directives)
}

// anotherHasJob says whether another client of the list has a job.
func anotherHasJob(clients []Client) func(Client) bool {
	jobs := 0
	for _, c := range clients {
		if c.Active {
			jobs++
		}
	}
	return func(c Client) bool { return jobs > 1 || jobs == 1 && !c.Active }
}
