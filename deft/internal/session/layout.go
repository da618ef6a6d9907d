package session

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// What every session of this version begins with, and its sizes in bytes.
const (
	Magic   = 0x0053455354464544 // "DEFTSES\0"
	Version = 3
	Slots   = 256

	leftBit = 1 << 63 // in a claim: the client has ended in good order

	nameSize   = 32
	headerSize = 256
	slotSize   = 384
	size       = headerSize + Slots*slotSize
	Size       = size // of a session, in bytes
)

// header mirrors struct deft_header.
type header struct {
	magic      atomic.Uint64
	version    atomic.Uint32
	headerSize atomic.Uint32
	slotSize   atomic.Uint32
	slotCount  atomic.Uint32
	size       atomic.Uint64
	id         atomic.Uint64
	createdNs  atomic.Uint64
	jobMode    atomic.Uint32
	_          uint32
	idleNs     atomic.Uint64

	owner            atomic.Uint64
	ownerState       atomic.Uint32
	ownerEpoch       atomic.Uint32
	ownerHeartbeatNs atomic.Uint64
	ownerTimeoutNs   atomic.Uint64
	ownerPidns       atomic.Uint64
	_                [3]uint64

	doorbell  atomic.Uint32
	listening atomic.Uint32
	arrivals  atomic.Uint32
	_         uint32
	_         [6]uint64

	policy [nameSize / 8]atomic.Uint64
	slack  atomic.Uint64 // bits of a float64
	_      [3]uint64
}

// Values of header.ownerState.
const (
	ownerNone uint32 = iota
	ownerActive
	ownerGone
)

// words mirrors struct deft_slot: what a client writes of itself, then its
// directive, which the owner writes. It is instantiated twice: as [slot] in the
// shared memory, and as [Words], a copy. N is a number, D a time in ns, T an instant
// of CLOCK_MONOTONIC in ns (0 is never), C a count of 32 bits. The tag is the C name
// where it is not the field's own.
type words[N, D, T, C, P, S, W any] struct {
	Claim    N
	State    S
	Priority P // larger is more urgent
	Weight   C // share of the device, at least 1
	Epoch    C // how many clients have held the slot
	Pidns    N
	Text     [nameSize / 8]N `c:"name"`

	Launches N // kernels and graphs given to the driver
	Syncs    N // synchronization points added by the hook
	Stall    D `c:"stall_ns"` // in added synchronizations and in-flight waits
	AtGate   D `c:"gate_ns"`  // at the closed gate, the drain included
	GPU      D `c:"gpu_ns"`   // estimate: with work queued, gate time excluded
	Captured N // recorded by a stream capture, not run
	Emptied  N
	Waiting  C // threads asleep at the gate
	Stops    C // times a launch found the gate closed

	Job         N // sequence number of the last job begun, from 1; 0 none yet
	JobBeginNs  T
	JobEndNs    T // of the last job ended
	DeadlineNs  T // of Job; 0 none
	JobLaunches N
	Marked      C `c:"job_marked"`
	Drain       C `c:"drained"`
	DrainedNs   T
	JobsEnded   N

	Paths          W
	Children       C // registrations again after fork
	OwnSyncs       N // the program's own completion calls
	GraphLaunches  N // part of Launches
	MemoryBytes    N // device memory held, where seen
	MemoryPeak     N `c:"memory_peak_bytes"`
	MemoryRefused  N // allocations refused by the quota
	SyncedLaunches N // launches that Syncs waited for
	FailedOpen     N // waits given up for want of a live owner
	Copies         N // memcpy and memset calls
	GraphKernels   N
	EmptiedKernels N
	GraphBegin     N `c:"job_kernels"`
	Device         N // differs between devices; 0 unknown
	Gang           N // of ranks that wait for one another; 0 none
	Locked         N
	InWait         C // threads that wait for the device
	MostKernels    C // of one launch

	Gate             C
	DirectiveEpoch   C
	SyncEvery        C
	InFlightBound    C
	MemoryQuotaBytes N
	InFlightNs       N
	UntilJob         N
	PausedEpoch      N // Epoch if the user paused the client
	_                [2]N
}

// slot is a client's part of the shared memory.
type slot = words[atomic.Uint64, atomic.Uint64, atomic.Uint64, atomic.Uint32, atomic.Int32, atomic.Uint32, atomic.Uint32]

// Words holds a slot at one moment.
type Words = words[uint64, time.Duration, int64, uint32, int32, State, Paths]

// read copies the slot. Every number is whole, but they are read one after the
// other, while the client may go on.
func (sl *slotWords) read() (w Words) {
	to := (*slotWords)(unsafe.Pointer(&w))
	for i := range sl {
		to[i] = atomic.LoadUint64(&sl[i])
	}
	return w
}

// slotWords is a slot as plain words.
type slotWords [slotSize / 8]uint64

func raw(sl *slot) *slotWords { return (*slotWords)(unsafe.Pointer(sl)) }

// region mirrors struct deft_session.
type region struct {
	header header
	slots  [Slots]slot
}

// State is the state of a client.
type State uint32

// The states of a slot, in the order of a client's life.
const (
	Free    State = iota
	Claimed       // being filled in
	Idle          // registered, without a job
	Active        // a job is running
	Left          // ended; its counters stay until [Session.Reap]
)

func (s State) String() string {
	names := [...]string{"free", "claimed", "idle", "active", "left"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// JobMode says what begins and ends a job that the program does not mark
// itself with deft_job_begin and deft_job_end.
type JobMode uint32

// The job modes.
const (
	JobSync   JobMode = iota // the first launch begins; the program's own synchronization, or idleness, ends
	JobIdle                  // the first launch begins; only idleness ends
	JobMarked                // only marks count
)

// Paths is the set of ways in which a program reached the driver, one bit each.
type Paths uint32

// The paths.
const (
	PathDlsym       Paths = 1 << iota // dlsym gave a wrapped entry point
	PathGetProc                       // cuGetProcAddress did
	PathGetProcV2                     // cuGetProcAddress_v2 did
	PathPerThread                     // a variant for the per-thread default stream was asked for
	PathLinked                        // a call bound at link time came through
	PathShim                          // libdeft replaces libcuda.so.1
	PathDlopen                        // libcuda was opened with dlopen
	PathDeepbind                      // RTLD_DEEPBIND was seen and left alone
	PathStripped                      // RTLD_DEEPBIND was seen and taken out
	PathExportTable                   // cuGetExportTable gave a private table
	PathLoaded                        // the driver was loaded when the program ended
	PathNamespace                     // dlmopen opened a namespace, which has no hook
)

// Names returns one word for each bit of p, in the order of the constants.
func (p Paths) Names() []string {
	var names []string
	for i, name := range [...]string{
		"dlsym", "cuGetProcAddress", "cuGetProcAddress_v2", "per-thread stream", "linked",
		"shim", "dlopen", "deepbind", "deepbind stripped", "export table", "loaded", "dlmopen",
	} {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
