package session

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Client holds the state of a slot at one moment.
type Client struct {
	Words
	Slot     int
	Identity Identity
	Name     string

	Kernels    uint64 // Launches, with every kernel of a graph
	Queued     uint64 // kernels since the queue was last known empty
	JobKernels uint64 // value of Kernels when Job began
	JobMarked  bool   // the program marks its jobs itself
	// Drained says that the client waits at the closed gate with an empty queue, under
	// the directive now in force.
	Drained   bool
	Directive Directive
	Paused    bool // by its user, see [Session.Pause]

	foreign bool // of another pid namespace, whose end no lock shows
}

// PID returns the client's process id.
func (c Client) PID() int { return c.Identity.PID() }

// Living says that the client has not left and its process still runs, as far as this
// process can see.
func (c Client) Living() bool { return c.State != Left && (c.foreign || c.Identity.Alive()) }

// Clients returns the registered clients in slot order, including those that have left but
// were not reaped.
func (s *Session) Clients() []Client {
	claimed := 0
	for i := range s.slots {
		if atomic.LoadUint64(&s.slots[i].Claim) != 0 {
			claimed++
		}
	}
	clients := make([]Client, 0, claimed)
	for i := range s.slots {
		if atomic.LoadUint64(&s.slots[i].Claim) == 0 {
			continue
		}
		if c, ok := s.Client(i); ok {
			clients = append(clients, c)
		}
	}
	return clients
}

// Client reads a slot. ok is false if no client is registered in it; c is then the last
// client, if its counters are still there.
func (s *Session) Client(i int) (c Client, ok bool) {
	sl := &s.slots[i]
	for range 3 {
		w := sl.read()
		if w.Epoch == 0 || w.State == Claimed || w.State > Left {
			break
		}
		c = Client{
			Words: w, Slot: i, Identity: Identity(w.Claim &^ leftBit), Name: EscapeName(loadText(w.Text)),
			Kernels: w.Launches + w.GraphKernels, JobKernels: w.JobLaunches + w.GraphBegin, JobMarked: w.Marked != 0,
			Paused:    w.PausedEpoch == uint64(w.Epoch),
			Directive: s.Directive(i), foreign: w.Pidns != pidNamespace() && !s.isUnlocked(i),
		}
		c.Weight, c.MostKernels = max(c.Weight, 1), max(c.MostKernels, 1)
		c.Queued = c.Kernels - min(w.Emptied+w.EmptiedKernels, c.Kernels)
		c.Drained = c.Directive.Closed && w.Waiting > 0 && w.Drain == atomic.LoadUint32(&sl.DirectiveEpoch)
		if atomic.LoadUint64(&sl.Claim) == w.Claim && atomic.LoadUint32(&sl.Epoch) == w.Epoch {
			return c, w.Claim != 0 && w.State != Free
		}
	}
	return Client{}, false
}

// storeText stores a text, zero-terminated and cut to the room.
func storeText(to *[nameSize / 8]atomic.Uint64, text string) {
	var b [nameSize]byte
	copy(b[:nameSize-1], text)
	for i := range to {
		to[i].Store(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// loadText returns the text that storeText has stored.
func loadText(from [nameSize / 8]uint64) string {
	var b [nameSize]byte
	for i, word := range from {
		binary.LittleEndian.PutUint64(b[8*i:], word)
	}
	name, _, _ := bytes.Cut(b[:], []byte{0})
	return string(name)
}

// MaxName is the number of bytes in a client's name for which a slot has room.
const MaxName = nameSize - 1

// EscapeName returns a client's name as sessions show it, with control characters and invalid
// bytes escaped.
func EscapeName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return name
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}
