package event

import (
	"sync/atomic"
	"unsafe"
)

// Header is the start of a ring's memory; struct ring of tool.h is the same.
// Tail and Head count slots from the ring's first use and never wrap.
type Header struct {
	tail atomic.Uint64 // the reader's next slot
	_    [7]uint64

	head    atomic.Uint64 // the writer's next slot
	seen    uint64        // the tail as the writer last saw it
	dropped atomic.Uint64 // events lost because the ring was full
	mask    uint64        // slots - 1
	lane    uint64        // the ring's number in its process
	slots   *Slot         // the first slot
	next    unsafe.Pointer
	taken   uint64 // a thread writes this ring
	named   uint64 // tasks named by this ring's threads
	quarter uint64 // of the slots: how often C's writer looks for the reader
	started atomic.Uint64
	unread  *[Constructs][Iterations]unread
	times   unsafe.Pointer
	depths  *[Depths]struct{ tasks, ticks atomic.Uint64 }
	changed atomic.Uint64 // how often one of them changed
	used    atomic.Uint64 // constructs, from 0, that may have counts
	calls   atomic.Uint64 // ticks in callbacks

	place uint64        // C's own
	depth atomic.Uint64 // tasks under way, the outermost first
	token atomic.Uint64 // of the outermost
	began atomic.Uint64 // when it began, in ticks
}

// Places is the number of places and kinds of time that a ring counts, with one for each kind
// that sums up the rest.
const Places = 128

// TimeKind says what a thread did.
type TimeKind uint64

// The kinds of time.
const (
	Computing  TimeKind = iota + 1 // in a parallel region
	Waiting                        // in a barrier, or for tasks, with nothing to run
	InMPI                          // in a call of MPI within a region
	InMPIAlone                     // in one outside of regions
	Serial                         // alone, between two regions
	Locked                         // waiting for critical, ordered or a lock
	Ended                          // after the thread's end
	Unknown                        // computing or without a processor
)

// String returns the kind's name.
func (k TimeKind) String() string {
	return [...]string{"none", "computing", "waiting", "MPI", "MPI alone", "serial", "lock", "ended", "unknown"}[k]
}

// PlaceTime is the time that a thread spent at a place in one way, struct place_time of tool.h.
type PlaceTime struct {
	Kind         TimeKind // 0 for none
	Place        uint64   // of the region, the wait, the call, or the region that follows; 0 for the places beyond those counted
	Count, Ticks uint64
	Measured     uint64 // ticks of computing of which CPU is known
	CPU          uint64 // ns
	Work         uint64 // bits of the work-sharing constructs in a region, by their number in OMPT
}

// Bits of PlaceTime.Work: the values of ompt_work_t up to OpenMP 5.2.
const (
	WorkLoops   = 1<<1 | 1<<10 | WorkDynamic // of which the schedule is not known, static, and the others
	WorkDynamic = 1<<11 | 1<<12 | 1<<13
	WorkSingle  = 1<<3 | 1<<4 // the thread that executes it, and the others
)

// Depths is the number of depths of tasks that a ring counts; deeper tasks count to the last.
const Depths = 32

// Depth returns the number of ended tasks at a depth, 1 for those that no task created, and their
// ticks without what ran within them. Parts of tasks that have not ended count too.
func (r *Ring) Depth(depth int) (tasks, ticks uint64) {
	if r.h.depths == nil {
		return 0, 0
	}
	d := &r.h.depths[depth]
	return d.tasks.Load(), d.ticks.Load()
}

// Memory returns the ring's memory.
func (r *Ring) Memory() unsafe.Pointer { return unsafe.Pointer(r.h) }

// CallbackTicks returns the ticks that the thread spent in callbacks of the tool, estimated from a
// sample of them.
func (r *Ring) CallbackTicks() uint64 { return r.h.calls.Load() }

// Constructs is the number of constructs that a ring counts separately.
const Constructs = 256

// Iterations is the number of successive iterations that a ring counts separately.
const Iterations = 8

// unread is struct unread of tool.h.
type unread struct {
	place, iteration, created, begun, ended, ticks, longest, halfReported, waits, waited, begunReported, cancelled atomic.Uint64
}

// Unread counts the tasks of a construct of which a ring had no room for an event.
type Unread struct {
	Place                 uint64 // of the construct; 0 for all beyond the first 255
	Iteration             uint64 // the last one that was counted
	Created, Begun, Ended uint64 // without those that have an event
	Ticks, Longest        uint64 // of the ended ones, without runs and waits within
	HalfReported          uint64 // whose creation or beginning has an event, but not the end
	Waits, Waited         uint64 // without an event, and their ticks without runs within
	BegunReported         uint64 // of the begun ones, those whose creation has an event
	Cancelled             uint64 // of the created ones, those that never began
}

// Ring is one thread's events.
type Ring struct {
	h     *Header
	slots []Slot
}

// AttachRing returns the ring whose header C keeps at p. The memory must outlive
// the ring.
func AttachRing(p unsafe.Pointer) *Ring {
	h := (*Header)(p)
	return &Ring{h: h, slots: unsafe.Slice(h.slots, h.mask+1)}
}

// Next returns where the header of the next ring in C's list is, or nil.
func (r *Ring) Next() unsafe.Pointer { return r.h.next }

// Lane returns the ring's number in its process, from 0.
func (r *Ring) Lane() int { return int(r.h.lane) }

// Head returns the first slot that is not written yet.
func (r *Ring) Head() uint64 { return r.h.head.Load() }

// Tail returns the first slot that is not released yet.
func (r *Ring) Tail() uint64 { return r.h.tail.Load() }

// Release gives the slots before to back to the writer.
func (r *Ring) Release(to uint64) { r.h.tail.Store(to) }

// DroppedEvents returns the number of events lost so far.
func (r *Ring) DroppedEvents() uint64 { return r.h.dropped.Load() }

// StartedTasks returns the number of tasks begun without an event of their own: those created here,
// whose Run comes when they end.
func (r *Ring) StartedTasks() uint64 { return r.h.started.Load() }

// RunningTask returns the outermost task that the thread is running, and when it began.
// The thread goes on meanwhile: the token may be of one task and the tick of the
// next.
func (r *Ring) RunningTask() (token, began uint64, ok bool) {
	return r.h.token.Load(), r.h.began.Load(), r.h.depth.Load() > 0
}

// Unread returns the counts of the constructs that have any, by iteration. changed is the
// number of changes to them so far: while it stays the same, so do they.
func (r *Ring) Unread() (counts []Unread, changed uint64) {
	if changed = r.h.changed.Load(); changed == 0 || r.h.unread == nil {
		return nil, 0
	}
	for n := range min(r.h.used.Load(), Constructs) {
		for i := range r.h.unread[n] {
			u := &r.h.unread[n][i]
			c := Unread{u.place.Load(), u.iteration.Load(), u.created.Load(), u.begun.Load(), u.ended.Load(), u.ticks.Load(), u.longest.Load(), u.halfReported.Load(), u.waits.Load(), u.waited.Load(), u.begunReported.Load(), u.cancelled.Load()}
			if c.Created|c.Begun|c.Ended|c.HalfReported|c.Waits|c.Cancelled != 0 {
				counts = append(counts, c)
			}
		}
	}
	return counts, changed
}

// Slot returns the slot that was written as number at; it stays valid until it is
// released.
func (r *Ring) Slot(at uint64) *Slot { return &r.slots[at&r.h.mask] }

// AppendSizes appends the sizes of the event whose first slot is at.
func (r *Ring) AppendSizes(sizes []int64, at uint64) []int64 {
	n := r.Slot(at).Sizes()
	for i := range n {
		sizes = append(sizes, int64(r.Slot(at + 1 + uint64(i)/Words)[i%Words]))
	}
	return sizes
}
