package job

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/chamtool/internal/task"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Exact bounds of three iterations: a chain, independent tasks, and both.
func TestScaling(t *testing.T) {
	rounds := []task.Graph{{Work: 1, Span: 1}, {Work: 4, Span: 0.1, Overhead: 1}, {Work: 3, Span: 2}}
	for _, want := range []Scaling{
		{Threads: 1, Low: 9, High: 9},
		{Threads: 2, Low: 1 + 2.5 + 2, High: 1 + 2.55 + 2.5},
		{Threads: 4, Low: 1 + 1.25 + 2, High: 1 + 1.325 + 2.25},
	} {
		if got := scaling(rounds, want.Threads); !near(got.Low, want.Low) || !near(got.High, want.High) || !near(got.Seconds, (want.Low+want.High)/2) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// Savings of single iterations on two processors, in seconds.
func TestGraphSaving(t *testing.T) {
	for name, tt := range map[string]struct {
		graph          task.Graph
		wall           float64
		low, mid, high float64
	}{
		"a chain, and handing over":  {task.Graph{Work: 1, Span: 1, Quiet: 0.3}, 1.3, 0, 0, 0},
		"one long task started last": {task.Graph{Work: 2, Span: 1}, 1.5, 0, 0.25, 0.5},
		"idle threads, and a pause":  {task.Graph{Work: 2, Span: 0.1, Quiet: 0.3}, 2, 0.65, 0.675, 0.7},
		"balanced":                   {task.Graph{Work: 2, Span: 0.01}, 1.005, 0, 0, 0.005},
		"no processor for a thread":  {task.Graph{Work: 2, Span: 0, Stalls: 1}, 1.5, 0, 0, 0.5},
		"less than the graph":        {task.Graph{Work: 4, Span: 0}, 1, 0, 0, 0},
	} {
		s := graphSaving([]task.Graph{tt.graph}, []float64{tt.wall}, 2)
		if !near(s.Low, tt.low) || !near(s.Seconds, tt.mid) || !near(s.High, tt.high) {
			t.Errorf("%s: %+v, want %v [%v, %v]", name, s, tt.mid, tt.low, tt.high)
		}
	}
}

// No saving is negative or exceeds the wall time, and the bounds are in order.
func TestSavingNeverExceedsTheWall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Float64Range(0, 10)
		var rounds []task.Graph
		var walls []float64
		total := 0.0
		for range rapid.IntRange(1, 5).Draw(t, "iterations") {
			rounds = append(rounds, task.Graph{Work: seconds.Draw(t, "work"), Span: seconds.Draw(t, "span"), Overhead: seconds.Draw(t, "overhead"), Stalls: seconds.Draw(t, "stalls"), Quiet: seconds.Draw(t, "quiet")})
			walls = append(walls, seconds.Draw(t, "wall"))
			total += walls[len(walls)-1]
		}
		s := graphSaving(rounds, walls, rapid.IntRange(1, 8).Draw(t, "processors"))
		if s.Low < 0 || s.Low > s.Seconds+1e-9 || s.Seconds > s.High+1e-9 || s.High > total+1e-9 {
			t.Fatalf("%+v of %v", s, total)
		}
	})
}
