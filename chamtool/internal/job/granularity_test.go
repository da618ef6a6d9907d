package job

import (
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/task"
)

// A tree of 2, 4 and 8 tasks of 1 s of work each, of which half is spent to create two others;
// to hand a task over costs 0.5 s. Without tasks below the first level each processor has a
// subtree of seven calls, which take 0.5 s each, or less if starting a task takes long.
func TestGranularity(t *testing.T) {
	tree := &task.Tree{
		Levels:   []task.Level{{Tasks: 2, Work: 2, Longest: 5}, {Tasks: 4, Work: 4, Longest: 2}, {Tasks: 8, Work: 4, Longest: 0.5}},
		Creation: 0.25,
	}
	graph := task.Graph{Work: 10, Span: 2.5, Overhead: 7}
	got := granularity(tree, graph, 20, 1, 2)
	if got == nil || got.Depth != 1 || got.Removed != 12 || !near(got.Cost, 0.75) {
		t.Fatalf("%+v", got)
	}
	// work 10-12*0.25 = 7, and two tasks to hand over; the longest subtree keeps 0.7 of 5 s
	if !near(got.Low, 4) || !near(got.High, 4+3.5/2) || !near(got.Saves, 20-got.Seconds) {
		t.Errorf("%+v", got)
	}
	if text := got.String(); !strings.Contains(text, "only down to depth 1, which leaves out 12") {
		t.Error(text)
	}
	// the same in microseconds: the calls may take no time
	micro := &task.Tree{Creation: 0.25e-6}
	for _, l := range tree.Levels {
		micro.Levels = append(micro.Levels, task.Level{Tasks: l.Tasks, Work: l.Work * 1e-6, Longest: l.Longest * 1e-6})
	}
	short := granularity(micro, task.Graph{Work: 10e-6, Span: 2.5e-6, Overhead: 7e-6}, 20e-6, 1, 2)
	if short == nil || short.Depth != 1 || !near(short.High*1e6, got.High) || short.Low*1e6 >= got.Low || short.Low <= 0 {
		t.Errorf("short tasks: %+v", short)
	}
	// a thread that was stopped for 10 ms in a task of the second level does not move the depth
	stopped := &task.Tree{Creation: 0.125e-6, Levels: []task.Level{
		{Tasks: 2, Work: 1e-6, Longest: 14e-3}, {Tasks: 4000, Work: 12e-3, Longest: 10e-3}, {Tasks: 8000, Work: 2e-3, Longest: 1e-6}, {Tasks: 16000, Work: 4e-3, Longest: 0.3e-6}}}
	if g := granularity(stopped, task.Graph{Work: 18e-3, Span: 10e-3, Overhead: 2e-3}, 40e-3, 1, 2); g == nil || g.Depth != 1 {
		t.Errorf("a thread that was stopped: %+v", g)
	}
	// five recursions of 300 calls, each of which waits for the next one: two threads, of which
	// the second had no processor, do not become faster than the chain
	chain := &task.Tree{Creation: 1e-6}
	for depth := range 300 {
		chain.Levels = append(chain.Levels, task.Level{Tasks: 5, Work: 300e-6, Longest: float64(300-depth) * 60e-6})
	}
	if g := granularity(chain, task.Graph{Work: 90e-3, Span: 70e-3, Overhead: 1e-3}, 156e-3, 1, 2); g != nil {
		t.Errorf("a chain of long tasks: %+v", g)
	}
	if c := cutOff(chain, task.Graph{Work: 90e-3, Span: 70e-3}, 1, 1, 2); c.Low < 60e-3 {
		t.Errorf("shorter than its span: %+v", c)
	}
	for name, tt := range map[string]struct {
		tree *task.Tree
		wall float64
	}{
		"no tasks":         {&task.Tree{}, 20},
		"no nested tasks":  {&task.Tree{Levels: []task.Level{{Tasks: 5, Work: 1, Longest: 1}}}, 20},
		"nothing to save":  {tree, 4.2},
		"without any time": {&task.Tree{Levels: []task.Level{{Tasks: 1}, {Tasks: 1}}}, 0},
	} {
		if g := granularity(tt.tree, graph, tt.wall, 1, 2); g != nil {
			t.Errorf("%s: %+v", name, g)
		}
	}
}
