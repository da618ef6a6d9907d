package session

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Directive is what the owner asks of one client. The zero value asks nothing.
type Directive struct {
	Closed    bool   // stop before the next launch, drain, and wait
	Watch     bool   // ring at the next launch, once; not with Closed
	UntilJob  uint64 // a closed gate lets jobs up to this one go on; 0 none
	SyncEvery uint32 // synchronize after so many kernels; 0 never
	InFlight  uint32 // keep at most so many kernels queued; 0 any number
	// Timed has some of the client's kernels timed: its device time (GPU) then leaves out
	// its host's gaps. Only without InFlight.
	Timed bool
	// InFlightTime is the device time that may be in flight, by what a kernel of
	// the client was seen to take; 0 any. One launch may always be.
	InFlightTime time.Duration
	// MemoryQuotaBytes refuses device memory beyond it; 0 is none.
	MemoryQuotaBytes uint64
}

// timed is the value of slot.InFlightBound for any number of kernels, of which some are timed.
const timed = math.MaxUint32

// Values of slot.Gate.
const (
	gateOpen uint32 = iota
	gateClosed
	gateWatched
)

// Own makes this process the session's owner, in place of one that has died.
// It returns [ErrOwned] where the owner is alive.
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
	h.ownerEpoch.Add(1)
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

// OwnerDied says that the owner's process has ended without a word: another may
// take the session up.
func (s *Session) OwnerDied() bool {
	h := &s.header
	return h.ownerState.Load() == ownerActive && h.ownerPidns.Load() == pidNamespace() && !Identity(h.owner.Load()).Alive()
}

// Beat tells the clients that the owner is alive. It must be called several
// times within Options.OwnerTimeout; every 20 ms is a good habit.
func (s *Session) Beat() { s.header.ownerHeartbeatNs.Store(uint64(Now())) }

// Direct sets what is asked of the client in a slot and wakes it where the
// gate opens. It writes nothing, and returns false, where d is in force
// already. Only the owner may call it, from one goroutine at a time.
func (s *Session) Direct(slot int, d Directive) (changed bool) {
	d.Timed = d.Timed && d.InFlight == 0
	if s.Directive(slot) == d {
		return false
	}
	sl := &s.slots[slot]
	sl.SyncEvery.Store(d.SyncEvery)
	bound := d.InFlight
	if d.Timed {
		bound = timed
	}
	sl.InFlightBound.Store(bound)
	sl.MemoryQuotaBytes.Store(d.MemoryQuotaBytes)
	sl.InFlightNs.Store(uint64(d.InFlightTime))
	sl.UntilJob.Store(d.UntilJob)
	sl.DirectiveEpoch.Add(1)
	gate := gateOpen
	switch {
	case d.Closed:
		gate = gateClosed
	case d.Watch:
		gate = gateWatched
	}
	sl.Gate.Store(gate)
	if !d.Closed || d.UntilJob > 0 {
		futexWakeAll(&sl.Gate)
	}
	return true
}

// Hold makes clients that come from now on wait at their gate until the owner's
// first word, until it resigns.
func (s *Session) Hold() { s.header.arrivals.Store(1) }

// SetTerms changes the priority and the weight, at least 1, of the client in a
// slot. Only the owner may call it.
func (s *Session) SetTerms(slot int, priority int32, weight uint32) {
	s.slots[slot].Priority.Store(priority)
	s.slots[slot].Weight.Store(max(weight, 1))
}

// Announce writes the name of the owner's policy, for those who watch and for
// an owner that comes after this one.
func (s *Session) Announce(policy string) { storeText(&s.header.policy, policy) }

// Policy is what the owner announced; empty where it did not.
func (s *Session) Policy() string {
	var name [nameSize / 8]uint64
	for i := range name {
		name[i] = s.header.policy[i].Load()
	}
	return escapeName(loadText(name))
}

// Directive is what is asked of the client in a slot now.
func (s *Session) Directive(slot int) Directive {
	sl := &s.slots[slot]
	gate := sl.Gate.Load()
	d := Directive{
		Closed:           gate == gateClosed,
		Watch:            gate == gateWatched,
		UntilJob:         sl.UntilJob.Load(),
		SyncEvery:        sl.SyncEvery.Load(),
		InFlight:         sl.InFlightBound.Load(),
		MemoryQuotaBytes: sl.MemoryQuotaBytes.Load(),
		InFlightTime:     time.Duration(sl.InFlightNs.Load()),
	}
	if d.InFlight == timed {
		d.InFlight, d.Timed = 0, true
	}
	return d
}

// Ring wakes the owner.
func (s *Session) Ring() {
	s.header.doorbell.Add(1)
	if s.header.listening.Load() != 0 {
		futexWakeAll(&s.header.doorbell)
	}
}

// Bell is the state of the doorbell, which clients ring when they register,
// begin or end a job, stand drained at the gate, and leave. Read it before
// looking at the clients and give it to [Session.Wait], so that no ring is
// lost between.
func (s *Session) Bell() uint32 { return s.header.doorbell.Load() }

// Wait sleeps until the doorbell differs from seen, at most for timeout, and
// returns its state and whether it rang.
func (s *Session) Wait(seen uint32, timeout time.Duration) (bell uint32, rang bool) {
	h := &s.header
	h.listening.Store(1)
	if h.doorbell.Load() == seen {
		futexSleep(&h.doorbell, seen, timeout)
	}
	h.listening.Store(0)
	bell = h.doorbell.Load()
	return bell, bell != seen
}

// EndIdle ends the unmarked job numbered job of the client in a slot, because
// it has launched nothing for [Session.IdleAfter]. It returns false where that
// job is not running any more.
func (s *Session) EndIdle(slot int, job uint64) bool {
	sl := &s.slots[slot]
	if sl.Job.Load() != job || sl.Marked.Load() != 0 {
		return false
	}
	if !sl.State.CompareAndSwap(uint32(Active), uint32(Idle)) {
		return false
	}
	sl.JobEndNs.Store(uint64(Now()))
	sl.JobsEnded.Add(1)
	return true
}

// Reap frees the slots of clients that have left or died and returns what
// they were. A client in another pid namespace counts as alive until it leaves
// or, where it opened the session by its path, its lock is gone. In a process that is not the owner it does nothing; it is called
// from one goroutine at a time.
func (s *Session) Reap() []Client {
	if s.self == 0 {
		return nil
	}
	var gone []Client
	for i := range s.slots {
		sl := &s.slots[i]
		claim := sl.Claim.Load()
		if claim == 0 || !s.isAbandoned(i, claim) {
			continue
		}
		c, registered := s.Client(i)
		// While the slot is emptied it is claimed by the owner, so that no
		// client takes it.
		if !sl.Claim.CompareAndSwap(claim, uint64(s.self)) {
			continue
		}
		s.Direct(i, Directive{})
		sl.Locked.Store(0)
		sl.State.Store(uint32(Free))
		sl.Claim.Store(0)
		if registered {
			gone = append(gone, c)
		}
	}
	return gone
}

// isAbandoned says whether the client that claims a slot will not use it again.
// Between the claim and the other words of a new client lie microseconds; a
// client of another pid namespace that is looked at just then may be taken
// for dead, and goes on uncounted.
func (s *Session) isAbandoned(i int, claim uint64) bool {
	sl := &s.slots[i]
	complete := State(sl.State.Load()) >= Idle // else a new client is filling it in
	if claim&leftBit != 0 || complete && s.isUnlocked(i) {
		return true
	}
	return sl.Pidns.Load() == pidNamespace() && !Identity(claim).Alive()
}

// isUnlocked says that nobody holds the lock on a slot of another pid namespace,
// as its client does while it lives: it has ended, or never was one.
func (s *Session) isUnlocked(i int) bool {
	if s.slots[i].Pidns.Load() == pidNamespace() {
		return false
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(i), Len: 1}
	err := unix.FcntlFlock(s.file.Fd(), unix.F_OFD_GETLK, &lock)
	return err == nil && lock.Type == unix.F_UNLCK
}
