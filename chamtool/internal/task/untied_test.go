package task

import (
	"math"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

// program writes a program's events into the rings of its threads, in the order of time.
type program struct {
	rings []*ringtest.Ring
}

func newProgram(threads int) *program {
	p := &program{}
	for i := range threads {
		p.rings = append(p.rings, ringtest.New(1<<12))
		p.push(i, event.ThreadStart, 0, 0, 1000, 0, 0)
		if i > 0 { // the others wait for tasks
			p.push(i, event.WaitStart, event.Counted, 0, 1000, 0, 0)
		}
	}
	return p
}

func (p *program) push(lane int, k event.Kind, f event.Flag, number int32, at, token, word3 uint64, sizes ...int64) {
	var s event.Slot
	ringtest.SetHeader(&s, k, f, len(sizes), number)
	s[event.WordTicks], s[event.WordToken], s[3] = at, token, word3
	if !p.rings[lane].Push(&s, sizes) {
		panic("no room")
	}
}

func (p *program) open(lane int, at, token uint64) {
	p.push(lane, event.Open, event.Local, 0, at, token, 7)
}

func (p *program) begin(lane int, at, token uint64) {
	p.push(lane, event.Begin, event.Local, 0, at, token, 0)
}

func (p *program) end(lane, depth int, start, at, token uint64) {
	p.push(lane, event.Run, event.Local, ringtest.Place(0, depth), start, token, at)
}

func (p *program) wait(lane, depth int, from, to uint64, within func()) {
	p.push(lane, event.WaitStart, event.Counted, int32(depth), from, 0, 0)
	within()
	p.push(lane, event.WaitEnd, event.Counted, int32(depth), to, 0, 0)
}

func newTracked() (*Tracker[int], *witness) {
	clock := &Clock{}
	clock.Show(1000, 1000)
	clock.Show(2000, 2000)
	w := &witness{ends: map[uint64]uint64{}, starts: map[uint64]uint64{}, ended: map[uint64]bool{}, started: map[uint64]int{}}
	return NewTracker[int](w, clock), w
}

// part writes a part of a task at no depth.
func (p *program) part(lane int, start, end, token uint64) {
	p.push(lane, event.Part, event.Local, ringtest.Place(0, 0), start, token, end)
}

// An untied task goes on at another thread and creates a child there. Either that thread tells
// its end, or the first one.
func TestUntied(t *testing.T) {
	for name, elsewhere := range map[string]bool{"the last thread tells the end": false, "another thread tells it": true} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(2)
			p.open(0, 1000, 1)
			p.wait(0, 0, 1000, 1600, func() {
				p.begin(0, 1000, 1)
				p.part(0, 1000, 1100, 1)
			})
			p.open(1, 1210, 2)
			p.wait(1, 1, 1220, 1300, func() {
				p.begin(1, 1220, 2)
				p.end(1, 1, 1220, 1290, 2)
			})
			if elsewhere {
				p.push(0, event.Run, event.Local, ringtest.Place(-1, event.Elsewhere), 1200, 1, 1350, 80)
			} else {
				p.end(1, 0, 1200, 1350, 1)
			}
			tracker, w := newTracked()
			tracker.Drain(ringtest.List(p.rings...), math.MaxUint64)
			if c := tracker.Counts(); c.Created != 2 || c.Ended != 2 || c.Incomplete != 0 || !w.ended[1] || !w.ended[2] {
				t.Errorf("%+v", c)
			}
		})
	}
}

// The ring of the thread where a task goes on may be read later than that of the thread that it
// left: the tracker waits for the other one.
func TestCut(t *testing.T) {
	p := newProgram(2)
	p.open(0, 1000, 1)
	p.end(1, 0, 1200, 1300, 1)
	tracker, w := newTracked()
	tracker.Drain(ringtest.List(p.rings...), 1050)
	if len(w.ended) > 0 {
		t.Fatal("a run after the cut was taken")
	}
	p.begin(0, 1010, 1)
	p.part(0, 1010, 1100, 1)
	tracker.Drain(ringtest.List(p.rings...), 1299)
	if len(w.ended) > 0 {
		t.Fatal("a run that ends after the cut was taken")
	}
	tracker.Drain(ringtest.List(p.rings...), 1300)
	if c := tracker.Counts(); c.Ended != 1 || c.Incomplete != 0 || !w.ended[1] || p.rings[1].Tail() != p.rings[1].Head() {
		t.Errorf("%+v", c)
	}
}

// A cancelled task is none that is still open.
func TestCancelled(t *testing.T) {
	p := newProgram(2)
	p.open(0, 1000, 1)
	p.open(0, 1000, 2)
	p.open(0, 1000, 3)
	p.wait(0, 0, 1000, 1500, func() {})
	p.begin(1, 1000, 1)
	p.end(1, 0, 1000, 1100, 1)
	p.push(1, event.Cancel, event.Local, 0, 1100, 2, 0)
	p.begin(1, 1110, 3)
	p.end(1, 0, 1110, 1150, 3)
	tracker, _ := newTracked()
	tracker.Drain(ringtest.List(p.rings...), math.MaxUint64)
	if c := tracker.Counts(); c.Created != 3 || c.Cancelled != 1 || c.Ended != 2 || tracker.tasks.n != 0 {
		t.Errorf("%+v, %d open", c, tracker.tasks.n)
	}
}

// The runtime halves a taskloop by tasks of its own, which no observer hears of.
func TestExcludedTasks(t *testing.T) {
	p := newProgram(1)
	p.open(0, 1000, 1)
	p.wait(0, 0, 1000, 1300, func() {
		p.begin(0, 1000, 1)
		p.push(0, event.Runtimes, event.Local, 0, 1005, 1, 0)
		p.open(0, 1010, 2)
		p.open(0, 1020, 3)
		p.end(0, 0, 1000, 1030, 1)
		for i := range uint64(2) {
			p.begin(0, 1040+50*i, 2+i)
			p.end(0, 0, 1040+50*i, 1060+50*i, 2+i)
		}
	})
	tracker, w := newTracked()
	tracker.Drain(ringtest.List(p.rings...), math.MaxUint64)
	if c := tracker.Counts(); c.Created != 2 || c.Ended != 2 || w.excluded != 1 {
		t.Errorf("%+v, %d excluded", c, w.excluded)
	}
}
