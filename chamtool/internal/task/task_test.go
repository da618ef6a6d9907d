package task

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

// eventRecorder records what a tracker tells.
type eventRecorder struct {
	created    int
	ended      map[uint64]Run
	iterations []int
	waited     float64
	ticked     []float64
	entries    map[uint64]uint64
}

func (h *eventRecorder) TaskCreated(t *Task[int], sizes []int64) { h.created++; t.State = len(sizes) }
func (h *eventRecorder) TaskStarted(*Task[int], bool)            {}
func (h *eventRecorder) TaskAnnounced(int, uint64, []int64)      {}
func (h *eventRecorder) TaskEnded(t *Task[int], r Run) {
	h.ended[t.Token] = r
	h.entries[t.Token] = t.Entry
}
func (h *eventRecorder) TimeWaited(iteration int, seconds float64) { h.waited += seconds }
func (h *eventRecorder) IterationEnded(iteration int, at float64)  { h.ticked = append(h.ticked, at) }
func (h *eventRecorder) IterationReported(i int)                   { h.iterations = append(h.iterations, i) }
func (h *eventRecorder) TaskExcluded(*Task[int])                   {}
func (h *eventRecorder) TaskSent(int)                              {}
func (h *eventRecorder) TaskCancelled(int)                         {}
func (h *eventRecorder) LoadReported(int, float64)                 {}

// script writes events of several threads at chosen ticks; a tick is 1 ns.
type script struct {
	rings []*ringtest.Ring
	now   uint64
}

func (s *script) push(lane int, k event.Kind, f event.Flag, token, word3 uint64, sizes ...int64) {
	s.now += 10
	var slot event.Slot
	ringtest.SetHeader(&slot, k, f, len(sizes), 0)
	slot[event.WordTicks], slot[event.WordToken], slot[event.WordEntry] = s.now, token, word3
	s.rings[lane].Push(&slot, sizes)
}

// run writes that a task ran from a tick until 10 ns from now.
func (s *script) run(lane, depth int, token, from uint64, unreported ...int64) {
	s.now += 10
	var slot event.Slot
	ringtest.SetHeader(&slot, event.Run, event.Local, len(unreported), ringtest.Place(lane, depth))
	slot[event.WordTicks], slot[event.WordToken], slot[event.WordEnd] = from, token, s.now
	s.rings[lane].Start()
	s.rings[lane].Push(&slot, unreported)
}

func newScript(lanes int) (*script, *eventRecorder, *Tracker[int]) {
	s := &script{now: 1000}
	for range lanes {
		s.rings = append(s.rings, ringtest.New(1<<12))
	}
	clock := &Clock{}
	clock.Show(1000, 1000)
	clock.Show(1_001_000, 1_001_000)
	h := &eventRecorder{ended: map[uint64]Run{}, entries: map[uint64]uint64{}}
	return s, h, NewTracker[int](h, clock)
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestOneTask(t *testing.T) {
	s, h, tracker := newScript(2)
	s.push(0, event.Create, event.Local, 1, 0xabc, 8, 16)
	s.run(1, 0, 1, 1013)
	s.run(1, 0, 2, 1030) // its creation was dropped
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	r, ok := h.ended[1]
	if !ok || r.Core != 1 || !near(r.Seconds, 7e-9) || !near(r.QueueSeconds, 3e-9) || !near(r.StartSeconds, 13e-9) || h.entries[1] != 0xabc {
		t.Errorf("%+v", r)
	}
	if c := tracker.Counts(); c.Created != 1 || c.Started != 2 || c.Ended != 2 || c.Incomplete != 1 || tracker.tasks.n != 0 {
		t.Errorf("%+v", c)
	}
}

func TestNestedTasksDoNotCountTwice(t *testing.T) {
	s, h, tracker := newScript(1)
	for token := range uint64(6) {
		s.push(0, event.Create, event.Local, token, 1)
	}
	// 1 holds 2 and 3, 2 holds 4; 0 and 5 stand alone.
	s.run(0, 0, 0, s.now)
	began := s.now
	s.run(0, 2, 4, s.now)
	s.run(0, 1, 2, began)
	s.run(0, 1, 3, s.now)
	s.run(0, 0, 1, began)
	s.run(0, 0, 5, s.now)
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	for token, r := range h.ended {
		if !near(r.Seconds, 10e-9) {
			t.Errorf("task %d took %v by itself", token, r.Seconds)
		}
	}
	if len(h.ended) != 6 {
		t.Errorf("%d tasks ended", len(h.ended))
	}
}

func TestHalves(t *testing.T) {
	s, h, tracker := newScript(1)
	for token := uint64(1); token <= 3; token++ {
		s.push(0, event.Create, event.Local, token, 1)
	}
	lost := func(token uint64, ends int32) {
		var slot event.Slot
		ringtest.SetHeader(&slot, event.Lost, event.Local, 0, ends)
		slot[event.WordToken] = token
		s.rings[0].Push(&slot, nil)
	}
	lost(1, 0) // it began and did not end
	lost(2, 1) // it ended and did not begin
	s.run(0, 0, 3, s.now)
	s.run(0, 0, 9, s.now) // its creation was dropped
	s.push(0, event.Arrive, event.Remote, 5, 7, 8)
	s.run(0, 0, 5, s.now)
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	if c := tracker.Counts(); c.Incomplete != 3 || c.Remote != 1 || c.Ended != 4 || len(h.ended) != 2 || tracker.tasks.n != 0 {
		t.Errorf("%+v, ended %v", c, h.ended)
	}
	if r := h.ended[5]; r.QueueSeconds >= 0 || h.entries[5] != 7 {
		t.Errorf("a task that arrived: %+v", r)
	}
}

// The patched library knows tasks by addresses that are used again.
func TestAnnouncedTasks(t *testing.T) {
	s, h, tracker := newScript(2)
	const address = 0x1000
	s.push(0, event.Announce, event.Local, address, 0xa)
	s.push(1, event.Claim, event.Local, 1, address, 8)
	s.run(1, 0, 1, s.now)
	s.push(0, event.Announce, event.Local, address, 0xb)
	s.push(0, event.Claim, event.Local, 2, address, 8)
	s.run(0, 0, 2, s.now)
	s.push(0, event.Claim, event.Local, 3, 0x2000, 8) // announced nowhere
	s.run(0, 0, 3, s.now)
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	if h.entries[1] != 0xa || h.entries[2] != 0xb || h.entries[3] != 0 {
		t.Errorf("functions %v", h.entries)
	}
	if !near(h.ended[2].QueueSeconds, 10e-9) || h.ended[3].QueueSeconds >= 0 {
		t.Errorf("queue times %v and %v", h.ended[2].QueueSeconds, h.ended[3].QueueSeconds)
	}
}

func TestIterations(t *testing.T) {
	s, h, tracker := newScript(2)
	for range 3 {
		for lane := range 2 {
			s.push(lane, event.WaitStart, 0, 0, 0)
			s.push(lane, event.WaitEnd, 0, 0, 0)
		}
	}
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	if len(h.iterations) != 0 {
		t.Error("an iteration ended before a later reading of the rings")
	}
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	tracker.Finish()
	if len(h.iterations) != 3 || h.iterations[2] != 2 {
		t.Errorf("iterations %v", h.iterations)
	}
}

func TestBadSlotEndsTheBatch(t *testing.T) {
	s, _, tracker := newScript(1)
	s.rings[0].Push(&event.Slot{255}, nil)
	s.push(0, event.Create, event.Local, 1, 1)
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	if c := tracker.Counts(); c.Bad != 1 || s.rings[0].Tail() != s.rings[0].Head() {
		t.Errorf("%+v", c)
	}
}

// Tasks created and run on random threads, read at random moments, are all
// told once, with the right times.
func TestRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes := rapid.IntRange(1, 4).Draw(t, "lanes")
		s, h, tracker := newScript(lanes)
		type span struct{ created, started, ended uint64 }
		want := map[uint64]*span{}
		var waiting []uint64
		running := make([][]uint64, lanes)
		next := uint64(0)
		for range rapid.IntRange(0, 200).Draw(t, "events") {
			lane := rapid.IntRange(0, lanes-1).Draw(t, "lane")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				next++
				s.push(lane, event.Create, event.Local, next, 1, 8, 8, 8, 8, 8, 8)
				want[next] = &span{created: s.now}
				waiting = append(waiting, next)
			case 1:
				if len(waiting) > 0 && len(running[lane]) == 0 {
					token := waiting[0]
					waiting = waiting[1:]
					s.now += 10
					want[token].started = s.now
					running[lane] = append(running[lane], token)
				}
			case 2:
				if len(running[lane]) > 0 {
					token := running[lane][0]
					running[lane] = nil
					s.run(lane, 0, token, want[token].started)
					want[token].ended = s.now
				}
			case 3:
				tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
			}
		}
		tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
		open := 0
		for token, w := range want {
			r, ended := h.ended[token]
			if ended != (w.ended > 0) {
				t.Fatalf("task %d: ended %v", token, ended)
			}
			if !ended {
				open++
				continue
			}
			if !near(r.Seconds, float64(w.ended-w.started)*1e-9) || !near(r.QueueSeconds, float64(w.started-w.created)*1e-9) {
				t.Fatalf("task %d: %+v, want %+v", token, r, *w)
			}
		}
		if c := tracker.Counts(); c.Incomplete != 0 || c.Dropped != 0 || tracker.tasks.n != open || h.created != len(want) {
			t.Fatalf("%+v, %d open, want %d", c, tracker.tasks.n, open)
		}
	})
}

func TestClock(t *testing.T) {
	var c Clock
	c.Show(100, 1000)
	if c.Ready() {
		t.Error("ready after one reading")
	}
	c.Show(100, 1000) // no time passed
	if c.Ready() {
		t.Error("ready without a span")
	}
	c.Show(400, 2000) // 3.33 ns a tick
	if !near(c.Seconds(700), 2e-6) || !near(c.Between(100, 400), 1e-6) || c.Between(400, 100) != 0 {
		t.Errorf("%v %v", c.Seconds(700), c.Between(100, 400))
	}
}

// Rings are read one after the other: what was announced later may be read
// first.
func TestAnnouncementsOutOfOrder(t *testing.T) {
	s, h, tracker := newScript(3)
	const address = 0x1000
	s.push(1, event.Announce, event.Local, address, 0xa)
	s.push(2, event.Claim, event.Local, 1, address, 8)
	s.run(2, 0, 1, s.now)
	s.push(0, event.Announce, event.Local, address, 0xb)
	s.push(0, event.Claim, event.Local, 2, address, 8)
	s.run(0, 0, 2, s.now)
	tracker.Drain(ringtest.List(s.rings...), math.MaxUint64)
	if h.entries[1] != 0xa || h.entries[2] != 0xb {
		t.Errorf("functions %v", h.entries)
	}
}

// Tasks of an OpenMP program: described when they begin, told in parts, and those of
// the runtime left out.
func TestOpenedTasks(t *testing.T) {
	o := &lateRecorder{}
	clock := &Clock{}
	clock.Show(1, 1)
	clock.Show(1_000_000_001, 1_000_000_001)
	tracker := NewTracker[int](o, clock)
	rings := []*ringtest.Ring{ringtest.New(64), ringtest.New(64)}
	put := func(r *ringtest.Ring, k event.Kind, number int32, ticks, token, last uint64, sizes ...int64) {
		var s event.Slot
		ringtest.SetHeader(&s, k, event.Local, len(sizes), number)
		s[event.WordTicks], s[event.WordToken], s[event.WordEnd] = ticks, token, last
		r.Push(&s, sizes)
	}
	for token := range uint64(4) {
		put(rings[0], event.Open, 0, 10+token, 100+token, 0xf00)
	}
	put(rings[0], event.Begin, 4, 1000, 100, 0, 7, 8, 9)
	put(rings[0], event.Part, ringtest.Place(0, 0), 1000, 100, 3000) // goes on in the other thread
	put(rings[1], event.Run, ringtest.Place(1, 0), 5000, 100, 9000)
	put(rings[0], event.Begin, 4, 6000, 101, 0)
	put(rings[0], event.Runtimes, 0, 6500, 101, 0)
	put(rings[0], event.Run, ringtest.Place(0, 0), 6000, 101, 7000)
	put(rings[0], event.Begin, 5, 7100, 102, 0, 1)
	put(rings[0], event.Run, ringtest.Place(0, 0), 7100, 102, 7200)
	put(rings[0], event.Run, ringtest.Place(0, 0), 7300, 103, 7400) // its Begin was dropped
	tracker.Drain(ringtest.List(rings...), math.MaxUint64)
	if c := tracker.Counts(); c.Created != 3 || c.Started != 2 || c.Ended != 3 || c.Incomplete != 1 || tracker.tasks.n != 0 {
		t.Errorf("%+v, %d open", c, tracker.tasks.n)
	}
	if want := "102@5 1 100ns, 100@4 3 6000ns"; strings.Join(o.runs, ", ") != want {
		t.Errorf("%q, want %q", o.runs, want)
	}
}

// Tasks that a ring only counted belong to every count, and what no event told of a run and
// of a wait is no time of the task around it.
func TestUnreadTasks(t *testing.T) {
	o := &lateRecorder{}
	clock := &Clock{}
	clock.Show(1, 1)
	clock.Show(1_000_000_001, 1_000_000_001)
	tracker := NewTracker[int](o, clock)
	ring := ringtest.New(64)
	put := func(k event.Kind, number int32, ticks, token, last uint64, sizes ...int64) {
		var s event.Slot
		ringtest.SetHeader(&s, k, event.Local, len(sizes), number)
		s[event.WordTicks], s[event.WordToken], s[event.WordEnd] = ticks, token, last
		ring.Push(&s, sizes)
	}
	put(event.Open, 0, 10, 100, 0xf00)
	put(event.Open, 0, 11, 101, 0xf00)
	put(event.Begin, 0, 1000, 100, 0)
	put(event.WaitStart, 1, 2000, 0, 0)
	put(event.WaitEnd, 1, 5000, 1800, 0)                           // in which a task of 1800 ns ran that is only counted
	put(event.Run, ringtest.Place(0, 0), 1000, 100, 9000, 1800+50) // and one of 50 ns after it
	ring.Count(3, event.Unread{Place: 0xf00, Created: 2, Begun: 3, Ended: 3, Ticks: 1850, Longest: 1800, HalfReported: 1, Waits: 5})
	tracker.Drain(ringtest.List(ring), math.MaxUint64)
	want := Counts{Created: 4, Started: 4, Ended: 4, Unread: 3, Waits: 6, WaitsLeft: 6}
	if c := tracker.Counts(); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	if want := "100@0 0 4950ns"; strings.Join(o.runs, ", ") != want { // 8000 less 3000 in the wait and 50
		t.Errorf("%q, want %q", o.runs, want)
	}
}

// lateRecorder keeps what a tracker tells, a line a run: token@iteration, sizes, seconds.
type lateRecorder struct{ runs []string }

func (*lateRecorder) TaskCreated(t *Task[int], sizes []int64) { t.State = len(sizes) }
func (*lateRecorder) TaskAnnounced(int, uint64, []int64)      {}
func (*lateRecorder) TaskStarted(*Task[int], bool)            {}
func (*lateRecorder) TimeWaited(int, float64)                 {}
func (*lateRecorder) IterationEnded(int, float64)             {}
func (*lateRecorder) IterationReported(int)                   {}
func (*lateRecorder) TaskExcluded(*Task[int])                 {}
func (*lateRecorder) TaskSent(int)                            {}
func (*lateRecorder) TaskCancelled(int)                       {}
func (*lateRecorder) LoadReported(int, float64)               {}
func (o *lateRecorder) TaskEnded(t *Task[int], r Run) {
	o.runs = append(o.runs, fmt.Sprintf("%d@%d %d %.0fns", t.Token, r.Iteration, t.State, 1e9*r.Seconds))
}

// A task that waits for others does not compute meanwhile, and what it ran there is
// theirs; a thread that waits has waited in each iteration that ends meanwhile.
func TestWaits(t *testing.T) {
	for _, counted := range []event.Flag{0, event.Counted} {
		h := &eventRecorder{ended: map[uint64]Run{}, entries: map[uint64]uint64{}}
		clock := &Clock{}
		clock.Show(1, 1)
		clock.Show(1_000_000_001, 1_000_000_001)
		tracker := NewTracker[int](h, clock)
		rings := []*ringtest.Ring{ringtest.New(64), ringtest.New(64)}
		put := func(r *ringtest.Ring, k event.Kind, f event.Flag, number int32, ticks, token, last uint64) {
			var s event.Slot
			ringtest.SetHeader(&s, k, f, 0, number)
			s[event.WordTicks], s[event.WordToken], s[event.WordEnd] = ticks, token, last
			r.Push(&s, nil)
		}
		put(rings[1], event.WaitStart, counted, 0, 1000, 0, 0) // until the end of both iterations
		put(rings[0], event.Create, event.Local, 0, 1000, 1, 7)
		put(rings[0], event.Create, event.Local, 0, 1000, 2, 7)
		put(rings[0], event.WaitStart, counted, 0, 2000, 0, 0)
		put(rings[0], event.WaitStart, counted, 1, 4000, 0, 0) // within task 1
		put(rings[0], event.Run, event.Local, ringtest.Place(0, 1), 5000, 2, 6000)
		put(rings[0], event.WaitEnd, counted, 1, 9000, 0, 0)
		put(rings[0], event.Run, event.Local, ringtest.Place(0, 0), 3000, 1, 10_000)
		put(rings[0], event.WaitEnd, counted, 0, 11_000, 0, 1)
		tracker.Drain(ringtest.List(rings...), math.MaxUint64)
		if r := h.ended[1]; !(math.Abs(r.Seconds-2e-6) <= 1e-12) {
			t.Errorf("flag %d: task 1 took %v s, want 2 µs", counted, r.Seconds)
		}
		// 4 µs within task 1, 2 µs around it, and 10 µs of the other thread.
		if counted == event.Counted && (!(math.Abs(h.waited-16e-6) <= 1e-12) || len(h.ticked) != 1 || math.Abs(h.ticked[0]-10.999e-6) > 1e-12) {
			t.Errorf("%v s waited, iterations ended at %v", h.waited, h.ticked)
		}
	}
}

// waitRecorder adds up the time waited by iteration.
type waitRecorder struct {
	*eventRecorder
	waited map[int]float64
}

func (w *waitRecorder) TimeWaited(iteration int, seconds float64) { w.waited[iteration] += seconds }

// Where an iteration ends while a thread runs a task in its wait, the thread is not idle, and the
// threads after it have waited in that iteration all the same.
func TestWaitsBesideATask(t *testing.T) {
	w := &waitRecorder{&eventRecorder{ended: map[uint64]Run{}, entries: map[uint64]uint64{}}, map[int]float64{}}
	clock := &Clock{}
	clock.Show(1, 1)
	clock.Show(1_000_000_001, 1_000_000_001)
	tracker := NewTracker[int](w, clock)
	rings := []*ringtest.Ring{ringtest.New(64), ringtest.New(64), ringtest.New(64)}
	put := func(r *ringtest.Ring, k event.Kind, f event.Flag, number int32, ticks, token, last uint64) {
		var s event.Slot
		ringtest.SetHeader(&s, k, f, 0, number)
		s[event.WordTicks], s[event.WordToken], s[event.WordEnd] = ticks, token, last
		r.Push(&s, nil)
	}
	put(rings[0], event.WaitStart, event.Counted, 0, 1000, 0, 0)
	put(rings[2], event.Create, event.Local, 0, 1000, 1, 7)
	put(rings[0], event.Run, event.Local, ringtest.Place(0, 0), 3000, 1, 9000)
	put(rings[1], event.WaitStart, event.Counted, 0, 2000, 0, 0)
	put(rings[2], event.WaitStart, event.Counted, 0, 4000, 0, 0)
	put(rings[2], event.WaitEnd, event.Counted, 0, 6000, 0, 1) // ends the iteration
	put(rings[1], event.WaitEnd, event.Counted, 0, 10_000, 0, 1)
	put(rings[0], event.WaitEnd, event.Counted, 0, 10_000, 0, 1)
	tracker.Drain(ringtest.List(rings...), math.MaxUint64)
	// 4 us and 2 us until the end; then 4 us of the second thread, and the 3 us of the first
	// that its task left.
	if !(math.Abs(w.waited[0]-6e-6) <= 1e-12) || !(math.Abs(w.waited[1]-7e-6) <= 1e-12) {
		t.Errorf("waited %v", w.waited)
	}
}
