package session

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

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
		claim := sl.Claim.Load()
		if claim != 0 && !s.abandoned(i, claim) || !sl.Claim.CompareAndSwap(claim, uint64(self)) {
			continue
		}
		sl.State.Store(uint32(Claimed))
		fill(sl, m, s.header.arrivals.Load())
		sl.State.Store(uint32(Idle))
		m.session, m.slot = s, i
		s.Ring()
		return &m, nil
	}
	return nil, ErrFull
}

// fill resets what a client writes in its slot.
func fill(sl *slot, m Member, arrivals uint32) {
	sl.Priority.Store(m.Priority)
	sl.Weight.Store(max(m.Weight, 1))
	sl.Epoch.Add(1)
	sl.Pidns.Store(pidNamespace())
	write(&sl.Text, m.Name)
	for i := unsafe.Offsetof(sl.Launches) / 8; i < unsafe.Offsetof(sl.Gate)/8; i++ {
		atomic.StoreUint64(&raw(sl)[i], 0)
	}
	sl.Marked.Store(1)
	if arrivals != 0 {
		sl.Gate.Store(arrivals)
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
	sl.JobBeginNs.Store(uint64(nowNs))
	sl.DeadlineNs.Store(uint64(deadlineNs))
	sl.JobLaunches.Store(sl.Launches.Load())
	sl.Job.Add(1)
	sl.State.Store(uint32(Active))
	m.session.Ring()
}

// End ends the job at a time of [Now]; without one it does nothing.
func (m *Member) End(nowNs int64) {
	sl := m.words()
	if !sl.State.CompareAndSwap(uint32(Active), uint32(Idle)) {
		return
	}
	sl.JobEndNs.Store(uint64(nowNs))
	sl.JobsEnded.Add(1)
	m.session.Ring()
}

// Launch counts n launches.
func (m *Member) Launch(n uint64) { m.words().Launches.Add(n) }

// Synced says that everything launched so far is done.
func (m *Member) Synced() {
	sl := m.words()
	sl.Emptied.Store(sl.Launches.Load())
	sl.OwnSyncs.Add(1)
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
	sl.State.Store(uint32(Left))
	sl.Claim.Store(sl.Claim.Load() | hasLeft)
	m.session.Ring()
}

func (m *Member) words() *slot { return &m.session.slots[m.slot] }
