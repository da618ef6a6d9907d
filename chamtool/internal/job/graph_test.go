package job

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Exact bounds of three iterations: a chain, independent tasks, and both.
func TestGreedy(t *testing.T) {
	rounds := []task.Graph{{Work: 1, Span: 1}, {Work: 4, Span: 0.1, Overhead: 1}, {Work: 3, Span: 2}}
	for threads, want := range map[int][2]float64{
		1: {9, 9},
		2: {1 + 2.5 + 2, 1 + 2.55 + 2.5},
		4: {1 + 1.25 + 2, 1 + 1.325 + 2.25},
	} {
		if low, high := greedy(rounds, threads); !near(low, want[0]) || !near(high, want[1]) {
			t.Errorf("%d threads: %v to %v, want %v", threads, low, high, want)
		}
	}
}

// Other programs slow a run if they leave fewer processors than it has threads.
func TestSlowing(t *testing.T) {
	figure := func(x float64) *summary.Figure { return summary.NewFigure(x) }
	for _, tt := range []struct {
		online  int
		others  *summary.Figure
		threads int
		want    float64
	}{
		{0, nil, 2, 1},
		{16, figure(3), 4, 1},
		{2, figure(0), 2, 1},
		{2, figure(1), 2, 2},
		{4, figure(1), 4, 4.0 / 3},
		{2, figure(2.5), 2, 10},
	} {
		if got := slowing(&summary.Summary{Online: tt.online, Others: tt.others}, tt.threads); !near(got, tt.want) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// What perfect balance saves of single iterations on
// two processors, in seconds.
func TestSavings(t *testing.T) {
	for name, tt := range map[string]struct {
		graph         task.Graph
		wall          float64
		balance, most float64
	}{
		"a chain, and handing over":  {task.Graph{Work: 1, Span: 1, Quiet: 0.3}, 1.3, 0, 0},
		"one long task started last": {task.Graph{Work: 2, Span: 1}, 1.5, 0.25, 0.5},
		"idle threads, and a pause":  {task.Graph{Work: 2, Span: 0.1, Quiet: 0.3}, 2, 0.675, 0.7},
		"balanced":                   {task.Graph{Work: 2, Span: 0.01}, 1.005, 0, 0.005},
		"no processor for a thread":  {task.Graph{Work: 2, Span: 0, Stalls: 1}, 1.5, 0, 0.5},
		"less than the graph":        {task.Graph{Work: 4, Span: 0}, 1, 0, 0},
		"overhead":                   {task.Graph{Work: 2, Span: 0, Overhead: 1}, 1.5, 0, 0},
	} {
		run := recordedRun{rounds: []task.Graph{tt.graph}, walls: []float64{tt.wall}, threads: 2, processors: 2}
		for what, s := range map[string]struct {
			got           Saving
			seconds, most float64
		}{
			"perfect balance": {*run.savedByBalance(), tt.balance, tt.most},
		} {
			if s.got.Low != 0 || !near(s.got.Seconds, s.seconds) || !near(s.got.High, max(0, s.most)) {
				t.Errorf("%s: %s: %+v, want %v [0, %v]", name, what, s.got, s.seconds, s.most)
			}
		}
	}
}

// No saving is negative or exceeds the wall time, and bounds are in order.
func TestSavingNeverExceedsTheWall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Float64Range(0, 10)
		run := recordedRun{threads: rapid.IntRange(1, 8).Draw(t, "threads")}
		run.processors = rapid.IntRange(1, run.threads).Draw(t, "processors")
		for range rapid.IntRange(1, 5).Draw(t, "iterations") {
			run.rounds = append(run.rounds, task.Graph{Work: seconds.Draw(t, "work"), Span: seconds.Draw(t, "span"), Overhead: seconds.Draw(t, "overhead"), Stalls: seconds.Draw(t, "stalls"), Quiet: seconds.Draw(t, "quiet")})
			run.walls = append(run.walls, seconds.Draw(t, "wall"))
		}
		total := run.wall()
		for _, s := range []Saving{*run.savedByBalance()} {
			if s.Low < 0 || s.Low > s.Seconds || s.Seconds > s.High || s.High > total {
				t.Fatalf("%+v of %v", s, total)
			}
		}
	})
}

// Of ten iterations some are drawn again; of fewer, Student's interval is wider; one shows nothing.
func TestSavingOfIterations(t *testing.T) {
	for _, tt := range []struct {
		saved     []float64
		low, high float64
	}{
		{[]float64{1}, 0, 20},
		{[]float64{1, 2}, 0, 3 + 6.314}, // t of one degree of freedom, times sqrt(2) * 1/sqrt(2)
		{[]float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, 12, 18},
	} {
		s := saving(tt.saved, 20)
		if math.Abs(s.Low-tt.low) > 0.5 || math.Abs(s.High-tt.high) > 0.5 || s.Low > s.Seconds || s.Seconds > s.High {
			t.Errorf("%v: %+v, want %v to %v", tt.saved, s, tt.low, tt.high)
		}
	}
}
