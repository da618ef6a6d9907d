package job

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/task"
)

// Granularity predicts the wall time if tasks were created only down to a depth, and the
// deeper ones were calls of functions.
type Granularity struct {
	Depth   int     `json:"depth"`           // 1: only tasks that no task creates
	Removed int     `json:"removed_tasks"`   // deeper ones
	Cost    float64 `json:"seconds_a_task"`  // thread time of creating and handing over a task
	Size    float64 `json:"seconds_of_work"` // mean time of a removed task without its descendants
	Seconds float64 `json:"seconds"`         // predicted wall time of the iterations, middle of the bounds
	Low     float64 `json:"low_seconds"`
	High    float64 `json:"high_seconds"`
	Saves   float64 `json:"saves_seconds"` // of the wall time that was measured
}

// minSavingShare is the least share of the wall time, and of all thread time in and between tasks,
// that another granularity has to save.
const minSavingShare = 0.1

// granularity returns the depth with the shortest predicted wall time on a number of
// processors, or nil if none saves enough.
func granularity(t *task.Tree, g task.Graph, wall float64, iterations, processors int) *Granularity {
	var best *Granularity
	for depth := 1; depth < len(t.Levels) && processors > 0; depth++ {
		c := cutOff(t, g, depth, iterations, float64(processors))
		c.Saves = wall - c.Seconds
		costly := c.Cost*float64(c.Removed) >= minSavingShare*(g.Work+g.Overhead)
		if costly && c.Saves > 0 && c.Saves >= minSavingShare*wall && (best == nil || c.Seconds < best.Seconds) {
			best = &c
		}
	}
	return best
}

// cutOff predicts the wall time without the tasks below a depth. A removed task saves the time in
// which its parent created it and that in which it was handed over. The rest is scheduled
// greedily: the longest subtree at the depth, once in each iteration, is the span, or else the
// present span less its share of what is saved. A call may
// take far less time than the body of a short task, since the compiler can inline it, and few
// tasks are handed over faster than many. So if the removed tasks are short, the lower bound
// leaves out their time and that of handing over.
func cutOff(t *task.Tree, g task.Graph, depth, iterations int, processors float64) Granularity {
	kept := 0
	longest := t.Levels[depth-1].Longest
	subtrees := t.Levels[depth-1].Work
	deeper := 0.0
	for _, l := range t.Levels[:depth] {
		kept += l.Tasks
	}
	c := Granularity{Depth: depth}
	for _, l := range t.Levels[depth:] {
		c.Removed += l.Tasks
		deeper += l.Work
	}
	if subtrees += deeper; subtrees <= 0 || c.Removed == 0 {
		return c
	}
	handing := g.Overhead / float64(kept+c.Removed)
	c.Cost = t.Creation + handing
	creating := min(t.Creation*float64(c.Removed), subtrees)
	calls := deeper * (1 - creating/subtrees)
	c.Size = calls / float64(c.Removed)
	bounds := func(saved, handing float64) (low, high float64) {
		work := max(0, g.Work-saved) + handing*float64(kept)
		span := min(work, max(longest*max(0, 1-saved/subtrees), g.Span*max(0, 1-saved/max(g.Work, 1e-12))))
		return max(work/processors, span), work/processors + min(work, span*float64(iterations))*(1-1/processors)
	}
	c.Low, c.High = bounds(creating, handing)
	if c.Size < shortTaskSeconds {
		c.Low, _ = bounds(creating+calls, 0)
	}
	c.Seconds = (c.Low + c.High) / 2
	return c
}

// String returns the advice.
func (g Granularity) String() string {
	return fmt.Sprintf("tasks of %.2g µs cost %.2g µs each: create them only down to depth %d, which leaves out %d; predicted %.3g s [%.3g, %.3g]",
		1e6*g.Size, 1e6*g.Cost, g.Depth, g.Removed, g.Seconds, g.Low, g.High)
}
