package session

import "sync/atomic"

// What every session of this version begins with, and its sizes in bytes.
const (
	Magic   = 0x0053455354464544 // "DEFTSES\0"
	Version = 2
	Slots   = 256

	hasLeft = 1 << 63 // in a claim: the client has ended in good order

	nameSize   = 32
	headerSize = 256
	slotSize   = 384
	size       = headerSize + Slots*slotSize
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
	_      [4]uint64
}

// Values of header.ownerState.
const (
	ownerNone uint32 = iota
	ownerActive
	ownerGone
)

// slot mirrors struct deft_slot.
type slot struct {
	claim    atomic.Uint64
	state    atomic.Uint32
	priority atomic.Int32
	weight   atomic.Uint32
	epoch    atomic.Uint32
	pidns    atomic.Uint64
	name     [nameSize / 8]atomic.Uint64

	launches atomic.Uint64
	syncs    atomic.Uint64
	stallNs  atomic.Uint64
	gateNs   atomic.Uint64
	gpuNs    atomic.Uint64
	captured atomic.Uint64
	emptied  atomic.Uint64
	waiting  atomic.Uint32
	stops    atomic.Uint32

	job         atomic.Uint64
	jobBeginNs  atomic.Uint64
	jobEndNs    atomic.Uint64
	deadlineNs  atomic.Uint64
	jobLaunches atomic.Uint64
	jobMarked   atomic.Uint32
	drained     atomic.Uint32
	drainedNs   atomic.Uint64
	jobsEnded   atomic.Uint64

	paths           atomic.Uint32
	children        atomic.Uint32
	ownSyncs        atomic.Uint64
	graphLaunches   atomic.Uint64
	memoryBytes     atomic.Uint64
	memoryPeakBytes atomic.Uint64
	memoryRefused   atomic.Uint64
	syncedLaunches  atomic.Uint64
	failedOpen      atomic.Uint64
	copies          atomic.Uint64
	graphKernels    atomic.Uint64
	emptiedKernels  atomic.Uint64
	jobKernels      atomic.Uint64
	device          atomic.Uint64
	gang            atomic.Uint64
	locked          atomic.Uint64
	_               [1]uint64

	gate             atomic.Uint32
	directiveEpoch   atomic.Uint32
	syncEvery        atomic.Uint32
	inFlightBound    atomic.Uint32
	memoryQuotaBytes atomic.Uint64
	inFlightNs       atomic.Uint64
	untilJob         atomic.Uint64
	_                [3]uint64
}

// counters are the slot's 64-bit words that a new client sets to 0.
func (sl *slot) counters() []*atomic.Uint64 {
	return []*atomic.Uint64{
		&sl.launches, &sl.syncs, &sl.stallNs, &sl.gateNs, &sl.gpuNs, &sl.captured, &sl.emptied,
		&sl.job, &sl.jobBeginNs, &sl.jobEndNs, &sl.deadlineNs, &sl.jobLaunches, &sl.drainedNs, &sl.jobsEnded,
		&sl.ownSyncs, &sl.graphLaunches, &sl.memoryBytes, &sl.memoryPeakBytes, &sl.memoryRefused,
		&sl.syncedLaunches, &sl.failedOpen, &sl.copies, &sl.graphKernels, &sl.emptiedKernels, &sl.jobKernels,
		&sl.device, &sl.gang, &sl.locked,
	}
}

// region mirrors struct deft_session.
type region struct {
	header header
	slots  [Slots]slot
}

// State is what a client is doing.
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

// Paths are the ways in which a program reached the driver, one bit each.
type Paths uint32

// The paths.
const (
	PathDlsym       Paths = 1 << iota // dlsym gave a wrapped entry point
	PathGetProc                       // cuGetProcAddress did
	PathGetProcV2                     // cuGetProcAddress_v2 did
	PathPerThread                     // a variant for the per-thread default stream was asked for
	PathLinked                        // a call bound at link time came through
	PathShim                          // libdeft stands in for libcuda.so.1
	PathDlopen                        // libcuda was opened with dlopen
	PathDeepbind                      // RTLD_DEEPBIND was seen and left alone
	PathStripped                      // RTLD_DEEPBIND was seen and taken out
	PathExportTable                   // cuGetExportTable gave a private table
	PathLoaded                        // the driver was loaded when the program ended
)

// Names returns one word for each bit of p, in the order of the constants.
func (p Paths) Names() []string {
	var names []string
	for i, name := range [...]string{
		"dlsym", "cuGetProcAddress", "cuGetProcAddress_v2", "per-thread stream", "linked",
		"shim", "dlopen", "deepbind", "deepbind stripped", "export table", "loaded",
	} {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
