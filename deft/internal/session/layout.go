package session

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// What every session of this version begins with, and its sizes in bytes.
const (
	Magic   = 0x0053455354464544 // "DEFTSES\0"
	Version = 4
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
	idleNs     atomic.Uint64
	_          [3]uint64

	owner            atomic.Uint64
	ownerState       atomic.Uint32
	_                uint32
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

// Words mirrors struct deft_slot: what a client writes of itself, then its directive, which
// the owner writes. In the shared memory every access is atomic: see read. Times named Ns are
// instants of CLOCK_MONOTONIC, 0 never. The tag is the C name if it is not the field's own.
type Words struct {
	Claim    uint64
	State    State
	Priority int32  // larger is more urgent
	Weight   uint32 // share of the device, at least 1
	Epoch    uint32 // how many clients have held the slot
	Pidns    uint64
	Text     [nameSize / 8]uint64 `c:"name"`

	Launches uint64        // kernels and graphs given to the driver
	Syncs    uint64        // synchronization points added by the hook
	Stall    time.Duration `c:"stall_ns"` // in added synchronizations and in-flight waits
	AtGate   time.Duration `c:"gate_ns"`  // at the closed gate, the drain included
	GPU      time.Duration `c:"gpu_ns"`   // estimate: with work queued, gate time excluded
	Captured uint64        // recorded by a stream capture, not run
	Emptied  uint64
	Waiting  uint32 // threads asleep at the gate
	Stops    uint32 // times a launch found the gate closed

	Job         uint64 // sequence number of the last job begun, from 1; 0 none yet
	JobBeginNs  int64
	DeadlineNs  int64 // of Job; 0 none
	JobLaunches uint64
	Marked      uint32 `c:"job_marked"`
	Drain       uint32 `c:"drained"`
	DrainedNs   int64
	JobsEnded   uint64
	_           uint64

	Paths          Paths
	InWait         uint32 // threads that wait for the device
	MostKernels    uint64 // of one launch
	OwnSyncs       uint64 // the program's own completion calls
	GraphLaunches  uint64 // part of Launches
	MemoryBytes    uint64 // device memory held, where seen
	MemoryPeak     uint64 `c:"memory_peak_bytes"`
	MemoryRefused  uint64 // allocations refused by the quota
	FailedOpen     uint64 // waits given up for want of a live owner
	Copies         uint64 // memcpy and memset calls
	GraphKernels   uint64
	EmptiedKernels uint64
	GraphBegin     uint64 `c:"job_kernels"`
	Device         uint64 // differs between devices; 0 unknown
	Gang           uint64 // of ranks that wait for one another; 0 none
	Locked         uint64
	_              uint64

	Gate           uint32
	DirectiveEpoch uint32
	SyncEvery      uint32
	Timed          uint32
	InFlightNs     uint64
	UntilJob       uint64
	PausedEpoch    uint64 // Epoch if the user paused the client
	_              [3]uint64
}

// read copies a slot of the shared memory. Every number is whole, but they are read one after
// the other, while the client may go on.
func (w *Words) read() (c Words) {
	from, to := (*slotWords)(unsafe.Pointer(w)), (*slotWords)(unsafe.Pointer(&c))
	for i := range from {
		to[i] = atomic.LoadUint64(&from[i])
	}
	return c
}

// slotWords is a slot as plain words.
type slotWords [slotSize / 8]uint64

// region mirrors struct deft_session.
type region struct {
	header header
	slots  [Slots]Words
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
