package simcudatest

import (
	"errors"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/deft/internal/session"
)

// ErrFull is returned when all slots are taken by living clients.
var ErrFull = errors.New("simcudatest: all slots are taken")

// leftBit marks the claim of a client that has left.
const leftBit = 1 << 63

// Member is a client of a session within a test's own process: it has a slot and follows
// the protocol of libdeft.so, but launches nothing itself.
type Member struct {
	session *session.Session
	words   *session.Words
	slot    int
}

// Join registers a client in a slot of its own; weight 0 is 1. It maps the session again,
// until the process ends.
func Join(s *session.Session, name string, priority int32, weight uint32) (*Member, error) {
	self, err := session.Self()
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.Path(), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	const each = unsafe.Sizeof(session.Words{})
	slots := data[len(data)-session.Slots*int(each):]
	for i := range session.Slots {
		w := (*session.Words)(unsafe.Pointer(&slots[i*int(each)]))
		claim := atomic.LoadUint64(&w.Claim)
		taken := claim != 0 && claim&leftBit == 0 && session.Identity(claim).Alive()
		if taken || !atomic.CompareAndSwapUint64(&w.Claim, claim, uint64(self)) {
			continue
		}
		m := &Member{s, w, i}
		m.state(session.Claimed)
		m.writeSlot(name, priority, weight)
		m.state(session.Idle)
		s.Ring()
		return m, nil
	}
	return nil, errors.Join(ErrFull, unix.Munmap(data))
}

// writeSlot resets what a client writes in its slot.
func (m *Member) writeSlot(name string, priority int32, weight uint32) {
	old, w := *m.words, session.Words{}
	w.Claim, w.State, w.Priority, w.Weight, w.Epoch, w.Marked = old.Claim, old.State, priority, max(weight, 1), old.Epoch+1, 1
	var namespace unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &namespace) == nil {
		w.Pidns = namespace.Ino
	}
	text := unsafe.Slice((*byte)(unsafe.Pointer(&w.Text)), unsafe.Sizeof(w.Text))
	copy(text[:len(text)-1], name)
	own := unsafe.Offsetof(w.Gate) // what follows is the owner's
	copy(unsafe.Slice((*byte)(unsafe.Pointer(m.words)), own), unsafe.Slice((*byte)(unsafe.Pointer(&w)), own))
}

func (m *Member) state(s session.State) {
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&m.words.State)), uint32(s))
}

// Slot returns the number of m's slot.
func (m *Member) Slot() int { return m.slot }

// Begin begins a job, and ends one that is still open.
func (m *Member) Begin() {
	m.End()
	w := m.words
	w.JobBeginNs, w.DeadlineNs, w.JobLaunches = session.Now(), 0, w.Launches
	atomic.AddUint64(&w.Job, 1)
	m.state(session.Active)
	m.session.Ring()
}

// End ends the job; without one it does nothing.
func (m *Member) End() {
	if m.words.State != session.Active {
		return
	}
	m.state(session.Idle)
	m.words.JobsEnded++
	m.session.Ring()
}

// Launch counts n launches.
func (m *Member) Launch(n uint64) { m.words.Launches += n }

// Wait launches one kernel and waits in the driver for its end, which never comes.
func (m *Member) Wait() {
	m.Launch(1)
	m.words.InWait = 1
	m.session.Ring()
}

// Synced says that everything launched so far is done.
func (m *Member) Synced() {
	m.words.Emptied = m.words.Launches
	m.words.OwnSyncs++
}

// Directive returns m's directive, or the zero value without a living owner.
func (m *Member) Directive() session.Directive {
	if !m.session.OwnerAlive() {
		return session.Directive{}
	}
	return m.session.Directive(m.slot)
}

// Epoch counts the directives.
func (m *Member) Epoch() uint32 { return atomic.LoadUint32(&m.words.DirectiveEpoch) }

// Leave gives the slot up; m must not be used afterwards.
func (m *Member) Leave() {
	m.state(session.Left)
	atomic.StoreUint64(&m.words.Claim, m.words.Claim|leftBit)
	m.session.Ring()
}

// Kill lets the slot be claimed by a process that does not run.
func (m *Member) Kill() { atomic.StoreUint64(&m.words.Claim, (1<<22-1)<<32|7) }
