package session

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Client is what a slot says at one moment. Times named Ns are nanoseconds of
// CLOCK_MONOTONIC; 0 is never.
type Client struct {
	Slot     int
	Identity Identity
	State    State
	Name     string
	Priority int32  // larger is more urgent
	Weight   uint32 // share of the device, at least 1
	Device   uint64 // tells devices apart; 0 unknown
	Gang     uint64 // of ranks that wait for one another; 0 none
	Epoch    uint32 // how many clients have held the slot

	Launches       uint64        // kernels and graphs given to the driver
	GraphLaunches  uint64        // part of Launches
	Kernels        uint64        // Launches, with every kernel of a graph
	Captured       uint64        // recorded by a stream capture, not run
	Copies         uint64        // memcpy and memset calls
	Queued         uint64        // kernels since the queue was last known empty
	Syncs          uint64        // synchronization points added by the hook
	SyncedLaunches uint64        // launches that those waited for
	OwnSyncs       uint64        // the program's own completion calls
	Stall          time.Duration // in added synchronizations and in-flight waits
	AtGate         time.Duration // at the closed gate, the drain included
	GPU            time.Duration // estimate: with work queued, gate time excluded
	Waiting        uint32        // threads asleep at the gate
	Stops          uint32        // times a launch found the gate closed
	FailedOpen     uint64        // waits given up for want of a live owner

	Job        uint64 // sequence number of the last job begun, from 1; 0 none yet
	JobMarked  bool   // the program marks its jobs itself
	JobBeginNs int64
	JobEndNs   int64 // of the last job ended
	JobsEnded  uint64
	JobKernels uint64 // value of Kernels when Job began
	DeadlineNs int64  // of Job; 0 none

	// Drained says that the client stands at the closed gate with an empty
	// queue, under the directive in force now.
	Drained   bool
	DrainedNs int64

	Paths         Paths
	Children      uint32 // registrations again after fork
	MemoryBytes   uint64 // device memory held, where seen
	MemoryPeak    uint64 // bytes
	MemoryRefused uint64 // allocations refused by the quota
	Directive     Directive

	foreign bool // of another pid namespace, and no lock that is gone tells that it has ended
}

// PID is the client's process id.
func (c Client) PID() int { return c.Identity.PID() }

// Living says that the client has not left and its process runs, as far as can
// be told from here.
func (c Client) Living() bool { return c.State != Left && (c.foreign || c.Identity.Alive()) }

// Clients returns the registered clients, in slot order, those that have left
// but were not reaped included.
func (s *Session) Clients() []Client {
	var clients []Client
	for i := range s.slots {
		if c, ok := s.Client(i); ok {
			clients = append(clients, c)
		}
	}
	return clients
}

// Client reads a slot; ok is false where nobody is registered in it. Every
// number is whole, but they are read one after the other, while the client
// may go on.
func (s *Session) Client(i int) (c Client, ok bool) {
	sl := &s.slots[i]
	for range 3 {
		claim := sl.claim.Load()
		state := State(sl.state.Load())
		if claim == 0 || state < Idle || state > Left {
			return Client{}, false
		}
		c = sl.read()
		c.Slot, c.Identity, c.State = i, Identity(claim&^hasLeft), state
		c.Directive = s.Directive(i)
		c.Drained = c.Directive.Closed && c.Waiting > 0 && sl.drained.Load() == sl.directiveEpoch.Load()
		c.foreign = sl.pidns.Load() != pidNamespace() && !s.unlocked(i)
		if sl.claim.Load() == claim && sl.epoch.Load() == c.Epoch {
			return c, true
		}
	}
	return Client{}, false
}

// read copies the words that the client writes.
func (sl *slot) read() Client {
	launches := sl.launches.Load()
	kernels, emptied := launches+sl.graphKernels.Load(), sl.emptied.Load()+sl.emptiedKernels.Load()
	return Client{
		Name:     read(&sl.name),
		Priority: sl.priority.Load(),
		Weight:   max(sl.weight.Load(), 1),
		Device:   sl.device.Load(),
		Gang:     sl.gang.Load(),
		Epoch:    sl.epoch.Load(),

		Launches:       launches,
		GraphLaunches:  sl.graphLaunches.Load(),
		Captured:       sl.captured.Load(),
		Copies:         sl.copies.Load(),
		Kernels:        kernels,
		Queued:         kernels - min(emptied, kernels),
		Syncs:          sl.syncs.Load(),
		SyncedLaunches: sl.syncedLaunches.Load(),
		OwnSyncs:       sl.ownSyncs.Load(),
		Stall:          time.Duration(sl.stallNs.Load()),
		AtGate:         time.Duration(sl.gateNs.Load()),
		GPU:            time.Duration(sl.gpuNs.Load()),
		Waiting:        sl.waiting.Load(),
		Stops:          sl.stops.Load(),
		FailedOpen:     sl.failedOpen.Load(),

		Job:        sl.job.Load(),
		JobMarked:  sl.jobMarked.Load() != 0,
		JobBeginNs: int64(sl.jobBeginNs.Load()),
		JobEndNs:   int64(sl.jobEndNs.Load()),
		JobsEnded:  sl.jobsEnded.Load(),
		JobKernels: sl.jobLaunches.Load() + sl.jobKernels.Load(),
		DeadlineNs: int64(sl.deadlineNs.Load()),

		DrainedNs: int64(sl.drainedNs.Load()),

		Paths:         Paths(sl.paths.Load()),
		Children:      sl.children.Load(),
		MemoryBytes:   sl.memoryBytes.Load(),
		MemoryPeak:    sl.memoryPeakBytes.Load(),
		MemoryRefused: sl.memoryRefused.Load(),
	}
}

// words is a zero-terminated text in shared memory.
type words = [nameSize / 8]atomic.Uint64

// write stores a text, cut to what fits.
func write(to *words, text string) {
	var b [nameSize]byte
	copy(b[:nameSize-1], text)
	for i := range to {
		to[i].Store(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// read is the text.
func read(from *words) string {
	var b [nameSize]byte
	for i := range from {
		binary.LittleEndian.PutUint64(b[8*i:], from[i].Load())
	}
	name, _, _ := bytes.Cut(b[:], []byte{0})
	return visible(string(name))
}

// Shown is a client's name as sessions show it: cut to what a slot holds, with
// what a terminal would obey, and what is no text, spelled out.
func Shown(name string) string { return visible(name[:min(len(name), nameSize-1)]) }

func visible(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return name
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}
