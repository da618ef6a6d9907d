package session

import "errors"

// ErrFull is returned when all slots are taken by living clients.
var ErrFull = errors.New("session: all slots are taken")

// Member is a client within this process, for simulated clients and tests: it
// has a slot and follows the protocol, and launches nothing itself. The fields
// are read by [Session.Join].
type Member struct {
	Name     string // at most 31 bytes
	Priority int32
	Weight   uint32 // 0 is 1

	session *Session
	slot    int
}

// Join registers m as a client, in a slot of its own.
func (s *Session) Join(m Member) (*Member, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	for i := range s.slots {
		sl := &s.slots[i]
		claim := sl.claim.Load()
		if claim != 0 && !s.abandoned(i, claim) || !sl.claim.CompareAndSwap(claim, uint64(self)) {
			continue
		}
		sl.state.Store(uint32(Claimed))
		sl.fill(m, s.header.arrivals.Load())
		sl.state.Store(uint32(Idle))
		m.session, m.slot = s, i
		s.Ring()
		return &m, nil
	}
	return nil, ErrFull
}

// fill resets what a client writes in its slot.
func (sl *slot) fill(m Member, arrivals uint32) {
	sl.priority.Store(m.Priority)
	sl.weight.Store(max(m.Weight, 1))
	sl.epoch.Add(1)
	sl.pidns.Store(pidNamespace())
	write(&sl.name, m.Name)
	for _, word := range sl.counters() {
		word.Store(0)
	}
	sl.waiting.Store(0)
	sl.stops.Store(0)
	sl.jobMarked.Store(1)
	sl.drained.Store(0)
	sl.paths.Store(0)
	sl.children.Store(0)
	if arrivals != 0 {
		sl.gate.Store(arrivals)
	}
}

// Ring wakes the owner.
func (s *Session) Ring() {
	s.header.doorbell.Add(1)
	if s.header.listening.Load() != 0 {
		futexWakeAll(&s.header.doorbell)
	}
}

// Slot is the number of m's slot.
func (m *Member) Slot() int { return m.slot }

// Begin begins a job at a time of [Now], with a deadline or 0, and ends one
// that is still open.
func (m *Member) Begin(nowNs, deadlineNs int64) {
	m.End(nowNs)
	sl := m.words()
	sl.jobBeginNs.Store(uint64(nowNs))
	sl.deadlineNs.Store(uint64(deadlineNs))
	sl.jobLaunches.Store(sl.launches.Load())
	sl.job.Add(1)
	sl.state.Store(uint32(Active))
	m.session.Ring()
}

// End ends the job at a time of [Now]; without one it does nothing.
func (m *Member) End(nowNs int64) {
	sl := m.words()
	if !sl.state.CompareAndSwap(uint32(Active), uint32(Idle)) {
		return
	}
	sl.jobEndNs.Store(uint64(nowNs))
	sl.jobsEnded.Add(1)
	m.session.Ring()
}

// Launch counts n launches.
func (m *Member) Launch(n uint64) { m.words().launches.Add(n) }

// Synced says that everything launched so far is done.
func (m *Member) Synced() {
	sl := m.words()
	sl.emptied.Store(sl.launches.Load())
	sl.ownSyncs.Add(1)
}

// Directive is what the owner asks of m, the zero value where no owner lives.
func (m *Member) Directive() Directive {
	if !m.session.OwnerAlive() {
		return Directive{}
	}
	return m.session.Directive(m.slot)
}

// Leave gives the slot up; m must not be used afterwards.
func (m *Member) Leave() {
	sl := m.words()
	sl.state.Store(uint32(Left))
	sl.claim.Store(sl.claim.Load() | hasLeft)
	m.session.Ring()
}

func (m *Member) words() *slot { return &m.session.slots[m.slot] }
