package task

import (
	"fmt"
	"math"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
)

func newTracked() (*Tracker[int], *witness) {
	clock := &Clock{}
	clock.Show(1000, 1000)
	clock.Show(2000, 2000)
	w := &witness{ends: map[uint64]uint64{}, starts: map[uint64]uint64{}, ended: map[uint64]bool{}, started: map[uint64]int{}}
	return NewTracker[int](w, clock), w
}

// part writes a part of a task at no depth.
func (p *program) part(lane int, start, end, token uint64) {
	p.push(lane, event.Part, event.Local, event.Place(0, 0), start, token, end)
}

// An untied task goes on at another thread and creates a child there. Either that thread tells
// its end, or the first one.
func TestUntied(t *testing.T) {
	for name, elsewhere := range map[string]bool{"the last thread tells the end": false, "another thread tells it": true} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(2)
			p.open(0, 1000, 1)
			p.wait(0, 0, barrier, 1000, 1600, func() {
				p.begin(0, 1000, 1)
				p.part(0, 1000, 1100, 1)
			})
			p.push(1, event.Continue, event.Local, 0, 1200, 1, 0)
			p.open(1, 1210, 2)
			p.wait(1, 1, taskwait, 1220, 1300, func() {
				p.begin(1, 1220, 2)
				p.end(1, 1, 1220, 1290, 2)
			})
			if elsewhere {
				p.push(0, event.Run, event.Local, event.Place(-1, event.Elsewhere), 1200, 1, 1350, 80)
			} else {
				p.end(1, 0, 1200, 1350, 1)
			}
			tracker, w := newTracked()
			tracker.Drain(p.rings, math.MaxUint64)
			g, known := tracker.Graph()
			if got := fmt.Sprintf("%.0f %.0f", g.Work*1e9, g.Span*1e9); got != "240 230" || !known {
				t.Errorf("work and span %s, want 240 230 (%v)", got, known)
			}
			if c := tracker.Counts(); c.Created != 2 || c.Ended != 2 || c.Incomplete != 0 || !w.ended[1] || !w.ended[2] {
				t.Errorf("%+v", c)
			}
			for _, strand := range tracker.spans.lanes {
				if len(strand.stack) != 1 {
					t.Errorf("%d tasks stay on a thread", len(strand.stack)-1)
				}
			}
		})
	}
}

// The ring of the thread where a task goes on may be read later than that of the thread that it
// left: the tracker waits for the other one.
func TestCut(t *testing.T) {
	p := newProgram(2)
	p.open(0, 1000, 1)
	p.push(1, event.Continue, event.Local, 0, 1200, 1, 0)
	p.end(1, 0, 1200, 1300, 1)
	tracker, w := newTracked()
	tracker.Drain(p.rings, 1050)
	if len(w.ended) > 0 {
		t.Fatal("a run after the cut was taken")
	}
	p.begin(0, 1010, 1)
	p.part(0, 1010, 1100, 1)
	tracker.Drain(p.rings, 1299)
	if len(w.ended) > 0 {
		t.Fatal("a run that ends after the cut was taken")
	}
	tracker.Drain(p.rings, 1300)
	if c := tracker.Counts(); c.Ended != 1 || c.Incomplete != 0 || !w.ended[1] || p.rings[1].Tail() != p.rings[1].Head() {
		t.Errorf("%+v", c)
	}
}

// A cancelled task is none that is still open, and others do not wait for it.
func TestCancelled(t *testing.T) {
	p := newProgram(2)
	p.open(0, 1000, 1, depends(event.Out))
	p.open(0, 1000, 2, depends(event.Out))
	p.open(0, 1000, 3, depends(event.Out))
	p.wait(0, 0, taskgroup, 1000, 1500, func() {})
	p.begin(1, 1000, 1)
	p.end(1, 0, 1000, 1100, 1)
	p.push(1, event.Cancel, event.Local, 0, 1100, 2, 0)
	p.begin(1, 1110, 3)
	p.end(1, 0, 1110, 1150, 3)
	tracker, _ := newTracked()
	tracker.Drain(p.rings, math.MaxUint64)
	g, known := tracker.Graph()
	if got := fmt.Sprintf("%.0f %.0f", g.Work*1e9, g.Span*1e9); got != "140 140" || !known {
		t.Errorf("work and span %s, want 140 140 (%v)", got, known)
	}
	if c := tracker.Counts(); c.Created != 3 || c.Cancelled != 1 || c.Ended != 2 || tracker.Open() != 0 {
		t.Errorf("%+v, %d open", c, tracker.Open())
	}
}
