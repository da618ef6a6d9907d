package session

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Directive is the owner's order to one client. The zero value lets it run freely.
type Directive struct {
	Closed    bool   // stop before the next launch, drain, and wait
	Watch     bool   // ring at the next launch, once: others use the device meanwhile; not with Closed
	Until     uint64 // a closed gate lets jobs up to this one go on; 0 none
	SyncEvery int    // wait for the queue to empty after so many kernels; 0 never
	// Timed has some of the client's kernels timed: its device time (GPU) then leaves out
	// its host's gaps.
	Timed bool
	// InFlightTime is the device time that may be in flight, by what a kernel of
	// the client was seen to take; 0 any. One launch may always be.
	InFlightTime time.Duration
}

// Values of slot.Gate.
const (
	gateOpen uint32 = iota
	gateClosed
	gateWatched
)

// Own makes this process the session's owner, in place of one that has died. It returns
// [ErrOwned] if the owner is alive.
func (s *Session) Own() error {
	self, err := Self()
	if err != nil {
		return err
	}
	h := &s.header
	before := h.owner.Load()
	if Identity(before) != self && s.OwnerAlive() {
		return fmt.Errorf("session: %w: process %d", ErrOwned, Identity(before).PID())
	}
	if !h.owner.CompareAndSwap(before, uint64(self)) {
		return fmt.Errorf("session: %w: process %d", ErrOwned, Identity(h.owner.Load()).PID())
	}
	s.self = self
	h.ownerPidns.Store(pidNamespace())
	h.ownerHeartbeatNs.Store(uint64(Now()))
	h.ownerState.Store(ownerActive)
	return nil
}

// Disown ends this process's ownership and opens every gate. Clients go on
// as without a session. It does nothing in a process that is not the owner.
func (s *Session) Disown() {
	if s.self == 0 || s.header.owner.Load() != uint64(s.self) {
		return
	}
	s.header.ownerState.Store(ownerGone)
	s.header.arrivals.Store(0)
	for i := range s.slots {
		s.Direct(i, Directive{})
		atomic.StoreUint64(&s.slots[i].PausedEpoch, 0)
	}
	s.header.owner.CompareAndSwap(uint64(s.self), 0)
	s.self = 0
}

// OwnerAlive says whether clients obey the owner now: it is active, it has
// beaten within the session's time, and its process runs.
func (s *Session) OwnerAlive() bool {
	h := &s.header
	if h.ownerState.Load() != ownerActive {
		return false
	}
	silent := Now() - int64(h.ownerHeartbeatNs.Load())
	if silent > int64(h.ownerTimeoutNs.Load()) {
		return false
	}
	return h.ownerPidns.Load() != pidNamespace() || Identity(h.owner.Load()).Alive()
}

// OwnerPID returns the process id of the owner, 0 without one.
func (s *Session) OwnerPID() int { return Identity(s.header.owner.Load()).PID() }

// OwnerDied says that the owner's process has ended without a word: another may
// take the session up.
func (s *Session) OwnerDied() bool {
	h := &s.header
	return h.ownerState.Load() == ownerActive && h.ownerPidns.Load() == pidNamespace() && !Identity(h.owner.Load()).Alive()
}

// Beat renews the owner's heartbeat. It must be called several times within
// Options.OwnerTimeout; every 20 ms is a good habit.
func (s *Session) Beat() { s.header.ownerHeartbeatNs.Store(uint64(Now())) }

// Direct sets the directive of the client in a slot and wakes the client if the gate opens.
// It writes nothing and returns false if d is already in force. Only the owner may call it,
// from one goroutine at a time.
func (s *Session) Direct(slot int, d Directive) (changed bool) {
	if s.Directive(slot) == d {
		return false
	}
	sl := &s.slots[slot]
	timed := uint32(0)
	if d.Timed {
		timed = 1
	}
	atomic.StoreUint32(&sl.SyncEvery, uint32(d.SyncEvery))
	atomic.StoreUint32(&sl.Timed, timed)
	atomic.StoreUint64(&sl.InFlightNs, uint64(d.InFlightTime))
	atomic.StoreUint64(&sl.UntilJob, d.Until)
	atomic.AddUint32(&sl.DirectiveEpoch, 1)
	gate := gateOpen
	switch {
	case d.Closed:
		gate = gateClosed
	case d.Watch:
		gate = gateWatched
	}
	atomic.StoreUint32(&sl.Gate, gate)
	if !d.Closed || d.Until > 0 {
		futexWakeAll(unsafe.Pointer(&sl.Gate))
	}
	return true
}

// Hold makes clients that come from now on wait at their gate until the owner's
// first word, until it resigns.
func (s *Session) Hold() { s.header.arrivals.Store(1) }

// SetTerms changes the priority and the weight, at least 1, of the client in a
// slot. Only the owner may call it.
func (s *Session) SetTerms(slot int, priority int32, weight uint32) {
	atomic.StoreInt32(&s.slots[slot].Priority, priority)
	atomic.StoreUint32(&s.slots[slot].Weight, max(weight, 1))
}

// Pause notes that the user paused a client or let it continue, for the next owner: it
// directs nothing. Only the owner may call it.
func (s *Session) Pause(c Client, on bool) {
	epoch := uint64(0)
	if on {
		epoch = uint64(c.Epoch)
	}
	atomic.StoreUint64(&s.slots[c.Slot].PausedEpoch, epoch)
}

// Announce writes the name of the owner's policy and its slack, 0 for the default, for
// watchers and for the next owner.
func (s *Session) Announce(policy string, slack float64) {
	storeText(&s.header.policy, policy)
	s.header.slack.Store(math.Float64bits(slack))
}

// Slack returns the slack that the owner announced, or 0.
func (s *Session) Slack() float64 { return math.Float64frombits(s.header.slack.Load()) }

// Policy returns the name that the owner announced, or "".
func (s *Session) Policy() string {
	var name [nameSize / 8]uint64
	for i := range name {
		name[i] = s.header.policy[i].Load()
	}
	return EscapeName(loadText(name))
}

// Directive returns the directive of the client in a slot.
func (s *Session) Directive(slot int) Directive {
	sl := &s.slots[slot]
	gate := atomic.LoadUint32(&sl.Gate)
	return Directive{
		Closed:       gate == gateClosed,
		Watch:        gate == gateWatched,
		Until:        atomic.LoadUint64(&sl.UntilJob),
		SyncEvery:    int(atomic.LoadUint32(&sl.SyncEvery)),
		Timed:        atomic.LoadUint32(&sl.Timed) != 0,
		InFlightTime: time.Duration(atomic.LoadUint64(&sl.InFlightNs)),
	}
}

// Ring wakes the owner.
func (s *Session) Ring() {
	s.header.doorbell.Add(1)
	if s.header.listening.Load() != 0 {
		futexWakeAll(unsafe.Pointer(&s.header.doorbell))
	}
}

// Bell returns the state of the doorbell, which clients ring when they register, begin or
// end a job, are drained at the gate, or leave. Read it before the clients and pass it to
// [Session.Wait], or a ring between the two is lost.
func (s *Session) Bell() uint32 { return s.header.doorbell.Load() }

// Wait sleeps until the doorbell differs from seen, at most for timeout, and
// returns its state and whether it rang.
func (s *Session) Wait(seen uint32, timeout time.Duration) (bell uint32, rang bool) {
	h := &s.header
	h.listening.Store(1)
	if h.doorbell.Load() == seen {
		futexSleep(unsafe.Pointer(&h.doorbell), seen, timeout)
	}
	h.listening.Store(0)
	bell = h.doorbell.Load()
	return bell, bell != seen
}

// Rest sleeps, whoever rings.
func (s *Session) Rest(d time.Duration) {
	var nobody uint32
	futexSleep(unsafe.Pointer(&nobody), 0, d)
}

// EndIdle ends the unmarked job numbered job of the client in a slot, because it has
// launched nothing for [Session.IdleAfter]. It returns false if that job no longer runs.
func (s *Session) EndIdle(slot int, job uint64) bool {
	sl := &s.slots[slot]
	if atomic.LoadUint64(&sl.Job) != job || atomic.LoadUint32(&sl.Marked) != 0 {
		return false
	}
	if !atomic.CompareAndSwapUint32((*uint32)(&sl.State), uint32(Active), uint32(Idle)) {
		return false
	}
	atomic.AddUint64(&sl.JobsEnded, 1)
	return true
}

// Reap frees the slots of clients that have left or died and returns their last state. A
// client in another pid namespace counts as alive until it leaves or, if it opened the
// session by its path, releases its lock. In a process that is not the owner it does
// nothing. It is called from one goroutine at a time. A killed process whose parent has not
// noticed is found by one of several calls if there are more than [processChecks] clients.
func (s *Session) Reap() []Client {
	if s.self == 0 {
		return nil
	}
	var gone []Client
	checks, next := 0, 0
	for n := range s.slots {
		i := (s.reapFrom + n) % Slots
		sl := &s.slots[i]
		claim := atomic.LoadUint64(&sl.Claim)
		if claim == 0 {
			continue
		}
		if checks++; checks == processChecks {
			next = i + 1
		}
		if !s.isAbandoned(i, claim, checks <= processChecks) {
			continue
		}
		c, registered := s.Client(i)
		// The owner claims the slot while it empties it, so no client takes it.
		if !atomic.CompareAndSwapUint64(&sl.Claim, claim, uint64(s.self)) {
			continue
		}
		s.Direct(i, Directive{})
		atomic.StoreUint64(&sl.Locked, 0)
		atomic.StoreUint32((*uint32)(&sl.State), uint32(Free))
		atomic.StoreUint64(&sl.Claim, 0)
		if registered {
			gone = append(gone, c)
		}
	}
	s.reapFrom = next
	return gone
}

// processChecks is the number of processes that one look reads from /proc: for 256 clients
// the owner would need a third of a processor.
const processChecks = 16

// isAbandoned says whether the client that claims a slot will not use it again.
// Between the claim and the other words of a new client lie microseconds; a
// client of another pid namespace that is looked at just then may be taken
// for dead, and goes on uncounted. Read says to read its state, else a zombie counts as alive.
func (s *Session) isAbandoned(i int, claim uint64, read bool) bool {
	sl := &s.slots[i]
	complete := State(atomic.LoadUint32((*uint32)(&sl.State))) >= Idle // else a new client is filling it in
	if claim&leftBit != 0 || complete && s.isUnlocked(i) {
		return true
	}
	if atomic.LoadUint64(&sl.Pidns) != pidNamespace() {
		return false
	}
	if !read {
		return errors.Is(unix.Kill(Identity(claim).PID(), 0), unix.ESRCH)
	}
	return !Identity(claim).Alive()
}

// isUnlocked says that no process holds the lock on a slot of another pid namespace, which
// its client holds while it lives.
func (s *Session) isUnlocked(i int) bool {
	if atomic.LoadUint64(&s.slots[i].Pidns) == pidNamespace() {
		return false
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(i), Len: 1}
	err := unix.FcntlFlock(s.file.Fd(), unix.F_OFD_GETLK, &lock)
	return err == nil && lock.Type == unix.F_UNLCK
}
