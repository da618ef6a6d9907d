package task

import (
	"math"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// The runtime halves a taskloop by tasks of its own: the tasks of the loop have one depth.
func TestTreeOfLoop(t *testing.T) {
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
	tracker.Drain(p.rings)
	tree := tracker.Tree()
	if tree == nil || len(tree.Levels) != 1 || tree.Levels[0].Tasks != 2 || w.excluded != 1 || tree.Creation != 0 {
		t.Errorf("%+v, %d excluded", tree, w.excluded)
	}
}

// A task of 30 ns creates a task of the runtime's own, which does not count as its child: no
// task has children, so nothing is known of the cost of creating them.
func TestTreeOfNestedLoop(t *testing.T) {
	p := newProgram(1)
	p.open(0, 1000, 1)
	p.wait(0, 0, barrier, 1000, 1300, func() {
		p.begin(0, 1000, 1)
		p.open(0, 1010, 2)
		p.wait(0, 1, taskgroup, 1030, 1200, func() {
			p.begin(0, 1040, 2)
			p.push(0, event.Runtimes, event.Local, 0, 1050, 2, 0)
			p.open(0, 1060, 3)
			p.end(0, 1, 1040, 1070, 2)
			p.begin(0, 1080, 3)
			p.end(0, 1, 1080, 1090, 3)
		})
		p.end(0, 0, 1000, 1200, 1)
	})
	tracker, w := newTracked()
	tracker.Drain(p.rings)
	tree := tracker.Tree()
	if tree == nil || len(tree.Levels) != 2 || tree.Levels[0].Tasks != 1 || tree.Levels[1].Tasks != 1 || w.excluded != 1 || tree.Creation != 0 {
		t.Errorf("%+v, %d excluded", tree, w.excluded)
	}
}

// A task that creates two others by 10 ticks each and takes 30 more, of which the last waits.
func TestTree(t *testing.T) {
	p := newProgram(1)
	p.open(0, 1000, 1)
	p.wait(0, 0, barrier, 1000, 1300, func() {
		p.begin(0, 1000, 1)
		p.open(0, 1010, 2)
		p.open(0, 1020, 3)
		p.wait(0, 1, taskwait, 1020, 1100, func() {
			p.begin(0, 1020, 2)
			p.end(0, 1, 1020, 1050, 2)
			p.begin(0, 1060, 3)
			p.end(0, 1, 1060, 1090, 3)
		})
		p.end(0, 0, 1000, 1130, 1)
	})
	p.push(0, event.ThreadEnd, 0, 0, 1300, 0, 0)
	clock := &Clock{}
	clock.Show(1000, 1000)
	clock.Show(2000, 2000)
	tracker := NewTracker[int](&witness{ends: map[uint64]uint64{}, starts: map[uint64]uint64{}, ended: map[uint64]bool{}, started: map[uint64]int{}}, clock)
	tracker.Drain(p.rings)
	tree := tracker.Tree()
	if tree == nil || len(tree.Levels) != 2 {
		t.Fatalf("%+v", tree)
	}
	for i, want := range []Level{{1, 50e-9, 110e-9}, {2, 60e-9, 30e-9}} {
		if got := tree.Levels[i]; got.Tasks != want.Tasks || math.Abs(got.Work-want.Work) > 1e-12 || math.Abs(got.Longest-want.Longest) > 1e-12 {
			t.Errorf("depth %d: %+v, want %+v", i+1, got, want)
		}
	}
	// 30 ticks without children, 50 with two
	if math.Abs(tree.Creation-10e-9) > 1e-12 {
		t.Errorf("%+v", tree)
	}
}
