package task

import (
	"fmt"
	"math"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// program writes a program's events into the rings of its threads, in the order of time.
type program struct {
	rings []*event.Ring
}

func newProgram(threads int) *program {
	p := &program{}
	for i := range threads {
		p.rings = append(p.rings, event.NewRing(1<<12))
		p.push(i, event.ThreadStart, 0, 0, 1000, 0, 0)
		if i > 0 { // the others wait for tasks
			p.push(i, event.WaitStart, event.Counted|barrier, 0, 1000, 0, 0)
		}
	}
	return p
}

func (p *program) push(lane int, k event.Kind, f event.Flag, number int32, at, token, word3 uint64, sizes ...int64) {
	var s event.Slot
	s.SetHeader(k, f, len(sizes), number)
	s[event.WordTicks], s[event.WordToken], s[3] = at, token, word3
	if !p.rings[lane].Push(&s, sizes) {
		panic("no room")
	}
}

func (p *program) open(lane int, at, token uint64, depends ...int64) {
	p.push(lane, event.Open, event.Local, 0, at, token, 7)
	if len(depends) > 0 {
		p.push(lane, event.Depends, event.Local, 0, at, token, 0, depends...)
	}
}

func (p *program) begin(lane int, at, token uint64) {
	p.push(lane, event.Begin, event.Local, 0, at, token, 0)
}

func (p *program) end(lane, depth int, start, at, token uint64) {
	p.push(lane, event.Run, event.Local, event.Place(0, depth), start, token, at)
}

func (p *program) wait(lane, depth int, class event.Flag, from, to uint64, within func()) {
	p.push(lane, event.WaitStart, event.Counted|class, int32(depth), from, 0, 0)
	within()
	p.push(lane, event.WaitEnd, event.Counted|class, int32(depth), to, 0, 0)
}

// dependenceWord returns the word of a dependence, as the C side writes it.
func dependenceWord(address uint64, kind event.DependenceKind) int64 {
	return int64(address | uint64(kind)<<60)
}

// depends is a dependence on the address 8.
func depends(kind event.DependenceKind) int64 { return dependenceWord(8, kind) }

// The work and the span of small graphs, in ticks. A tick is a nanosecond.
func TestSpans(t *testing.T) {
	nothing := func() {}
	for name, tt := range map[string]struct {
		run        func() *program
		work, span float64
	}{
		"two independent tasks": {func() *program {
			p := newProgram(2)
			p.open(0, 1000, 1)
			p.open(0, 1010, 2)
			p.begin(1, 1010, 1)
			p.wait(0, 0, barrier, 1010, 1120, func() {
				p.begin(0, 1010, 2)
				p.end(0, 0, 1010, 1110, 2)
			})
			p.end(1, 0, 1010, 1060, 1)
			return p
		}, 10 + 100 + 50, 10 + 100},
		"a hidden helper thread works in tasks only": {func() *program {
			p := newProgram(1)
			p.rings = append(p.rings, event.NewRing(1<<12))
			p.open(0, 1000, 1)
			p.open(0, 1000, 2)
			p.wait(0, 0, barrier, 1000, 1700, nothing)
			p.begin(1, 1010, 1)
			p.end(1, 0, 1010, 1110, 1)
			p.begin(1, 1500, 2)
			p.end(1, 0, 1500, 1600, 2)
			return p
		}, 200, 100},
		"a chain by dependences": {func() *program {
			p := newProgram(2)
			for i := range uint64(3) {
				p.open(0, 1000, i+1, depends(event.Out))
			}
			p.wait(0, 0, barrier, 1000, 1300, nothing)
			for i := range uint64(3) { // on threads in turn
				p.begin(1, 1000+100*i, i+1)
				p.end(1, 0, 1000+100*i, 1100+100*i, i+1)
			}
			return p
		}, 300, 300},
		"readers between two writers": {func() *program {
			p := newProgram(3)
			p.open(0, 1000, 1, depends(event.Out))
			p.open(0, 1000, 2, depends(event.In))
			p.open(0, 1000, 3, depends(event.In))
			p.open(0, 1000, 4, depends(event.Out))
			p.wait(0, 0, barrier, 1000, 1400, nothing)
			p.begin(1, 1000, 1)
			p.end(1, 0, 1000, 1100, 1)
			p.begin(1, 1100, 2)
			p.begin(2, 1100, 3)
			p.end(1, 0, 1100, 1150, 2)
			p.end(2, 0, 1100, 1300, 3)
			p.begin(2, 1300, 4)
			p.end(2, 0, 1300, 1310, 4)
			return p
		}, 100 + 50 + 200 + 10, 100 + 200 + 10},
		"a parent that waits for its children": {func() *program {
			p := newProgram(2)
			p.open(0, 1000, 1)
			p.wait(0, 0, barrier, 1000, 1500, func() {
				p.begin(0, 1000, 1)
				p.open(0, 1010, 2)
				p.open(0, 1020, 3)
				p.begin(1, 1020, 2)
				p.wait(0, 1, taskwait, 1020, 1105, func() {
					p.begin(0, 1020, 3)
					p.end(0, 1, 1020, 1050, 3)
				})
				p.end(1, 0, 1020, 1100, 2)
				p.end(0, 0, 1000, 1135, 1)
			})
			return p
		}, 20 + 80 + 30 + 30, 10 + 80 + 30},
		"a parent that does not wait": {func() *program {
			p := newProgram(2)
			p.open(0, 1000, 1)
			p.wait(0, 0, barrier, 1000, 1500, func() {
				p.begin(0, 1000, 1)
				p.open(0, 1010, 2)
				p.begin(1, 1010, 2)
				p.end(0, 0, 1000, 1130, 1)
				p.end(1, 0, 1010, 1090, 2)
			})
			return p
		}, 130 + 80, 130},
		"a task that its parent waits for": {func() *program {
			p := newProgram(1)
			p.push(0, event.Open, event.Local|undeferred, 0, 1000, 1, 7)
			p.begin(0, 1000, 1)
			p.end(0, 0, 1000, 1100, 1)
			p.open(0, 1140, 2)
			p.wait(0, 0, barrier, 1140, 1500, func() {
				p.begin(0, 1140, 2)
				p.end(0, 0, 1140, 1150, 2)
			})
			return p
		}, 100 + 40 + 10, 100 + 40 + 10},
		"a group waits for grandchildren": {func() *program {
			p := newProgram(2)
			p.push(0, event.Group, event.Local, 0, 1000, 0, 0)
			p.open(0, 1000, 1)
			p.wait(0, 0, taskgroup, 1000, 1300, nothing)
			p.begin(1, 1000, 1)
			p.open(1, 1010, 2)
			p.end(1, 0, 1000, 1020, 1)
			p.begin(1, 1020, 2)
			p.end(1, 0, 1020, 1220, 2)
			p.open(0, 1330, 3)
			p.wait(0, 0, barrier, 1330, 1500, nothing)
			p.begin(1, 1330, 3)
			p.end(1, 0, 1330, 1335, 3)
			return p
		}, 20 + 200 + 30 + 5, 10 + 200 + 30 + 5},
		"a group does not wait for tasks before it": {func() *program {
			p := newProgram(2)
			p.open(0, 1000, 1)
			p.begin(1, 1000, 1)
			p.end(1, 0, 1000, 1200, 1)
			p.push(0, event.Group, event.Local, 0, 1100, 0, 0)
			p.wait(0, 0, taskgroup, 1100, 1205, nothing)
			p.open(0, 1250, 2)
			p.wait(0, 0, barrier, 1250, 1400, nothing)
			p.begin(1, 1250, 2)
			p.end(1, 0, 1250, 1350, 2)
			return p
		}, 100 + 200 + 45 + 100, 100 + 45 + 100},
		"a detached task ends with its event": {func() *program {
			p := newProgram(2)
			p.open(0, 1000, 1, depends(event.Out))
			p.open(0, 1000, 2)
			p.open(0, 1000, 3, depends(event.In))
			p.wait(0, 0, barrier, 1000, 1500, nothing)
			p.begin(1, 1000, 1)
			p.push(1, event.Run, event.Local|event.Detached, event.Place(0, 0), 1000, 1, 1010)
			p.begin(1, 1010, 2)
			p.push(1, event.Fulfill, event.Local, 0, 1200, 1, 0)
			p.end(1, 0, 1010, 1210, 2)
			p.begin(1, 1210, 3)
			p.end(1, 0, 1210, 1310, 3)
			return p
		}, 10 + 200 + 100, 190 + 100},
		"two regions, serial code between": {func() *program {
			p := newProgram(2)
			p.open(0, 1000, 1)
			p.wait(0, 0, barrier, 1000, 1110, nothing)
			p.begin(1, 1000, 1)
			p.end(1, 0, 1000, 1100, 1)
			p.push(1, event.WaitEnd, event.Counted|barrier, 0, 1150, 0, 0) // the next fork
			p.push(1, event.WaitStart, event.Counted|barrier, 0, 1150, 0, 0)
			p.open(0, 1160, 2)
			p.wait(0, 0, barrier, 1160, 1270, nothing)
			p.begin(1, 1160, 2)
			p.end(1, 0, 1160, 1260, 2)
			return p
		}, 100 + 50 + 100, 100 + 50 + 100},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &Clock{}
			clock.Show(1000, 1000)
			clock.Show(2000, 2000)
			tracker := NewTracker[int](&witness{ends: map[uint64]uint64{}, starts: map[uint64]uint64{}, ended: map[uint64]bool{}, started: map[uint64]int{}}, clock)
			tracker.Drain(tt.run().rings, math.MaxUint64)
			g, ok := tracker.Graph()
			work, span := g.Work, g.Span
			if fmt.Sprintf("%.0f %.0f", work*1e9, span*1e9) != fmt.Sprintf("%.0f %.0f", tt.work, tt.span) || !ok {
				t.Errorf("work %.0f, span %.0f, want %.0f, %.0f (%v)", work*1e9, span*1e9, tt.work, tt.span, ok)
			}
			if c := tracker.Counts(); c.Incomplete != 0 || c.Bad != 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// The critical path goes through the constructs of its tasks and the code between them; those
// beyond the first seven are one part.
func TestCriticalPath(t *testing.T) {
	p := newProgram(2)
	at, token := uint64(1000), uint64(0)
	task := func(entry, ticks uint64) {
		token++
		p.push(0, event.Open, event.Local, 0, at, token, entry)
		p.wait(0, 0, taskwait, at, at+ticks+2, func() {
			p.begin(1, at+1, token)
			p.end(1, 0, at+1, at+1+ticks, token)
		})
		at += ticks + 2
	}
	task(70, 100)
	at += 7 // of serial code
	task(71, 50)
	task(70, 30)
	for entry := range uint64(7) {
		task(80+entry, 10+entry)
	}
	clock := &Clock{}
	clock.Show(1000, 1000)
	clock.Show(2000, 2000)
	tracker := NewTracker[int](&witness{ends: map[uint64]uint64{}, starts: map[uint64]uint64{}, ended: map[uint64]bool{}, started: map[uint64]int{}}, clock)
	tracker.Drain(p.rings, math.MaxUint64)
	got := ""
	for _, part := range tracker.CriticalPath() {
		got += fmt.Sprintf("%d %v %.0f, ", part.Entry, part.Outside, part.Seconds*1e9)
	}
	if want := "70 false 130, 71 false 50, 80 false 10, 81 false 11, 82 false 12, 83 false 13, 84 false 14, 0 false 31, 0 true 7, "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The runtime halves a taskloop by tasks of its own, which no observer hears of; their work counts.
func TestExcludedTasks(t *testing.T) {
	p := newProgram(1)
	p.open(0, 1000, 1)
	p.wait(0, 0, taskgroup, 1000, 1300, func() {
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
	tracker.Drain(p.rings, math.MaxUint64)
	g, known := tracker.Graph()
	if c := tracker.Counts(); c.Created != 2 || c.Ended != 2 || w.excluded != 1 {
		t.Errorf("%+v, %d excluded", c, w.excluded)
	}
	if got := fmt.Sprintf("%.0f %.0f", g.Work*1e9, g.Span*1e9); !known || got != "70 40" {
		t.Errorf("work and span %s, want 70 40", got)
	}
}
