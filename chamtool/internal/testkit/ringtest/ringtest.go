// Package ringtest writes the events of a program's thread, as the C side of the tool does.
package ringtest

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// Ring is a ring and its writer.
type Ring struct {
	*event.Ring
	h     *header
	slots []event.Slot
}

// header is the beginning of struct ring of tool.h.
type header struct {
	tail                    atomic.Uint64
	_                       [7]uint64
	head                    atomic.Uint64
	seen                    uint64
	dropped                 atomic.Uint64
	mask, lane              uint64
	slots                   *event.Slot
	next                    unsafe.Pointer
	taken, named, quarter   uint64
	started                 atomic.Uint64
	unread                  *[event.Constructs][event.Iterations]unread
	times, depths           unsafe.Pointer
	changed, used, calls    atomic.Uint64
	place                   uint64
	depth, token, beganTick atomic.Uint64
}

// unread is struct unread of tool.h.
type unread struct {
	place, iteration, created, begun, ended, ticks, longest, halfReported, waits, waited, begunReported, cancelled atomic.Uint64
}

// New returns a ring of a number of slots, rounded up to a power of two, at least 16.
func New(slots int) *Ring {
	n := max(16, 1<<bits.Len(uint(max(slots, 1)-1)))
	r := &Ring{h: &header{mask: uint64(n - 1)}, slots: make([]event.Slot, n)}
	r.h.slots = &r.slots[0]
	r.Ring = event.AttachRing(unsafe.Pointer(r.h))
	return r
}

// List returns the rings as their reader sees them.
func List(rings ...*Ring) (list []*event.Ring) {
	for _, r := range rings {
		list = append(list, r.Ring)
	}
	return list
}

// Start counts a task that begins without an event.
func (r *Ring) Start() { r.h.started.Add(1) }

// Begin sets the task that is under way; a token of 0 is none.
func (r *Ring) Begin(token, tick uint64) {
	r.h.token.Store(token)
	r.h.beganTick.Store(tick)
	r.h.depth.Store(min(token, 1))
}

// Count adds to the counts of the construct of a number.
func (r *Ring) Count(construct int, c event.Unread) {
	if r.h.unread == nil {
		r.h.unread = new([event.Constructs][event.Iterations]unread)
	}
	u := &r.h.unread[construct][c.Iteration%event.Iterations]
	u.place.Store(c.Place)
	u.iteration.Store(c.Iteration)
	u.created.Add(c.Created)
	u.begun.Add(c.Begun)
	u.ended.Add(c.Ended)
	u.ticks.Add(c.Ticks)
	u.longest.Store(max(u.longest.Load(), c.Longest))
	u.halfReported.Add(c.HalfReported)
	u.waits.Add(c.Waits)
	u.waited.Add(c.Waited)
	u.begunReported.Add(c.BegunReported)
	u.cancelled.Add(c.Cancelled)
	r.h.used.Store(max(r.h.used.Load(), uint64(construct)+1))
	r.h.changed.Add(1)
}

// Push writes an event and reports whether there was room. first is the first slot, sizes what
// the slots behind it hold.
func (r *Ring) Push(first *event.Slot, sizes []int64) bool {
	if len(sizes) != first.Sizes() {
		panic(fmt.Sprintf("ringtest: the header has %d sizes, %d given", first.Sizes(), len(sizes)))
	}
	h := r.h
	head := h.head.Load()
	if head+first.Slots()-h.seen > uint64(len(r.slots)) {
		if h.seen = h.tail.Load(); head+first.Slots()-h.seen > uint64(len(r.slots)) {
			h.dropped.Add(1)
			return false
		}
	}
	*r.Slot(head) = *first
	for i, size := range sizes {
		r.Slot(head + 1 + uint64(i)/event.Words)[i%event.Words] = uint64(size)
	}
	h.head.Store(head + first.Slots())
	return true
}

// SetHeader writes the header of an event with n sizes.
func SetHeader(s *event.Slot, k event.Kind, f event.Flag, n int, number int32) {
	further := uint64(n+event.Words-1) / event.Words
	s[0] = uint64(k) | uint64(f)<<8 | uint64(n)<<16 | further<<24 | uint64(uint32(number))<<32
}

// Place returns the number of a Run that ended on a core, -1 if unknown, within depth other tasks.
func Place(core, depth int) int32 { return int32(uint32(depth<<16 | (core+1)&0xffff)) }
