package event_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

func newEvent(token uint64, sizes int) *event.Slot {
	var s event.Slot
	ringtest.SetHeader(&s, event.Create, event.Local, sizes, 0)
	s[event.WordToken] = token
	return &s
}

// A ring holds what a slice of the same room would, whatever is pushed and
// taken, and never more.
func TestAgainstQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ringtest.New(16)
		type pushed struct {
			token uint64
			sizes []int64
		}
		var queue []pushed
		used, dropped, next := uint64(0), uint64(0), uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				next++
				sizes := rapid.SliceOfN(rapid.Int64(), 0, event.MaxSizes).Draw(t, "sizes")
				e := newEvent(next, len(sizes))
				room := used+e.Slots() <= 16
				if r.Push(e, sizes) != room {
					t.Fatalf("push of %d slots with %d used: room %v", e.Slots(), used, room)
				}
				if room {
					used += e.Slots()
					queue = append(queue, pushed{next, sizes})
				} else {
					dropped++
				}
			},
			"take": func(t *rapid.T) {
				if len(queue) == 0 {
					if r.Tail() != r.Head() {
						t.Fatal("an empty ring has slots")
					}
					return
				}
				at, want := r.Tail(), queue[0]
				s := r.Slot(at)
				if !s.Valid() || s[event.WordToken] != want.token || !slices.Equal(r.AppendSizes([]int64{}, at), append([]int64{}, want.sizes...)) {
					t.Fatalf("took %d %v, want %+v", s[event.WordToken], r.AppendSizes(nil, at), want)
				}
				used -= s.Slots()
				r.Release(at + s.Slots())
				queue = queue[1:]
			},
			"": func(t *rapid.T) {
				if r.Head()-r.Tail() != used || r.DroppedEvents() != dropped {
					t.Fatalf("%d slots and %d dropped, want %d and %d", r.Head()-r.Tail(), r.DroppedEvents(), used, dropped)
				}
			},
		})
	})
}

// One writer and one reader at once: every event arrives whole and in order,
// or is counted.
func TestConcurrent(t *testing.T) {
	const events = 100_000
	r := ringtest.New(256)
	done := make(chan struct{})
	go func() {
		defer close(done)
		sizes := make([]int64, 10)
		for i := uint64(1); i <= events; i++ {
			for k := range sizes {
				sizes[k] = int64(i)
			}
			r.Push(newEvent(i, 10), sizes)
		}
	}()
	taken, last := uint64(0), uint64(0)
	for open := true; open || r.Tail() != r.Head(); {
		select {
		case <-done:
			open = false
		default:
		}
		for at := r.Tail(); at != r.Head(); r.Release(at) {
			token := r.Slot(at)[event.WordToken]
			for _, size := range r.AppendSizes(nil, at) {
				if uint64(size) != token {
					t.Fatalf("event %d carries %d", token, size)
				}
			}
			if token <= last {
				t.Fatalf("event %d after %d", token, last)
			}
			last = token
			taken++
			at += r.Slot(at).Slots()
		}
	}
	if taken+r.DroppedEvents() != events {
		t.Errorf("%d taken and %d dropped of %d", taken, r.DroppedEvents(), events)
	}
}
