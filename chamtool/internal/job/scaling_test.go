package job

import (
	"math"
	"slices"
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

// A run of 100 independent tasks of 40 ms on four threads that wait for a tenth of the time.
// To hand a task over takes up to 2 µs, and 20 µs for each of the share of the span.
func TestScaling(t *testing.T) {
	const handing = 100 * (2e-6 + 20e-6*0.1/4)
	run := recordedRun{rounds: []task.Graph{{Work: 4, Span: 0.1, Overhead: 0.4}}, walls: []float64{1.2}, threads: 4, processors: 4, tasks: 100, slowed: 1}
	for _, tt := range []struct {
		threads, processors int
		low, mid, high      float64
		measured            bool
	}{
		{1, 4, 1.2 - handing, 4.4, 4.8, false},
		{2, 4, 1.2 - handing, 2.2 + 0.025, 2.4, false},
		{4, 4, 1 - handing/4, 1.2, 1.2, true},
		{8, 4, 0.5 - handing/8, 0.55 + 0.1*7/16, 1.2 + handing, false},
		{64, 4, 0.1 - handing/64, 0.1 + (4.4/64+0.1*63/64-0.1)/2, 1.2 + handing, false},
		{4, 2, 1 - handing/4, 1.1 + 0.0375, 1.2 + handing, false}, // two threads shared a processor
		{1, 2, 1.2 - handing, 4.4, 4.4, false},
	} {
		run.processors = tt.processors
		got := run.scaling(tt.threads)
		if !near(got.Low, tt.low/1.1) || !near(got.Seconds, tt.mid) || !near(got.High, 1.1*tt.high) || got.Measured != tt.measured {
			t.Errorf("%d threads, run on %d processors: %+v, want %v [%v, %v]", tt.threads, tt.processors, got, tt.mid, tt.low/1.1, 1.1*tt.high)
		}
	}
}

// Other programs slow a run if they leave fewer processors than it has threads. Its times without
// them are shorter, and next to them as far from certain.
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
	alone := recordedRun{rounds: []task.Graph{{Work: 4, Span: 0.1}}, walls: []float64{2.2}, threads: 2, processors: 2, slowed: 1}
	busy := alone
	busy.slowed = 1.5
	for _, n := range []int{1, 2, 4} {
		if a, b := alone.scaling(n), busy.scaling(n); a.Seconds != b.Seconds || !near(b.Low, a.Low/1.5) || !near(b.High, a.High*1.5) {
			t.Errorf("%d threads: %+v alone, %+v next to others", n, a, b)
		}
	}
}

func TestThreadCounts(t *testing.T) {
	for _, tt := range []struct {
		threads, processors int
		want                []int
	}{
		{1, 1, []int{1, 2}},
		{2, 2, []int{1, 2, 4}},
		{3, 0, []int{1, 2, 3, 4, 6}},
		{3, 24, []int{1, 2, 3, 4, 6, 8, 16, 24}},
	} {
		if got := threadCounts(tt.threads, tt.processors); !slices.Equal(got, tt.want) {
			t.Errorf("%d threads, %d processors: %v, want %v", tt.threads, tt.processors, got, tt.want)
		}
	}
}

// Wall times of docs/results/scaling.json: with 2, 4, 8 and 16 threads on 16 Intel processors,
// shared with other virtual machines, and the graphs of a run with four.
func TestScalingContainsMeasured(t *testing.T) {
	for name, tt := range map[string]struct {
		graph    task.Graph
		wall     float64
		tasks    int
		measured [5]float64
	}{
		"sort":     {task.Graph{Work: 1.1510, Span: 0.03339, Overhead: 0.00199}, 0.3156, 2046, [5]float64{1.1388, 0.5653, 0.3183, 0.1722, 0.1081}},
		"health":   {task.Graph{Work: 1.1080, Span: 0.002646, Overhead: 0.0298}, 0.2875, 54560, [5]float64{1.0342, 0.5396, 0.2852, 0.1426, 0.0839}},
		"wave":     {task.Graph{Work: 0.6115, Span: 0.03619, Overhead: 0.00359, Stalls: 0.00433}, 0.1557, 1600, [5]float64{0.5891, 0.3024, 0.1584, 0.0828, 0.0568}},
		"cholesky": {task.Graph{Work: 0.5379, Span: 0.03328, Overhead: 0.00358, Stalls: 0.00692}, 0.1376, 1416, [5]float64{0.5193, 0.2724, 0.1363, 0.0740, 0.0497}},
	} {
		run := recordedRun{rounds: []task.Graph{tt.graph}, walls: []float64{tt.wall}, threads: 4, processors: 4, tasks: tt.tasks, slowed: 1}
		for i, seconds := range tt.measured {
			if s := run.scaling(1 << i); seconds < s.Low || seconds > s.High || math.Abs(s.Seconds/seconds-1) > 0.2 {
				t.Errorf("%s: %v s with %d threads, predicted %+v", name, seconds, 1<<i, s)
			}
		}
	}
}

// What perfect balance, twice the threads and half the overhead save of single iterations on
// two processors, in seconds.
func TestSavings(t *testing.T) {
	for name, tt := range map[string]struct {
		graph         task.Graph
		wall          float64
		balance, most float64
		twice, half   float64
	}{
		"a chain, and handing over":  {task.Graph{Work: 1, Span: 1, Quiet: 0.3}, 1.3, 0, 0, 0.3, 0},
		"one long task started last": {task.Graph{Work: 2, Span: 1}, 1.5, 0.25, 0.5, 0.375, 0},
		"idle threads, and a pause":  {task.Graph{Work: 2, Span: 0.1, Quiet: 0.3}, 2, 0.675, 0.7, 2 - 0.5375, 0},
		"balanced":                   {task.Graph{Work: 2, Span: 0.01}, 1.005, 0, 0.005, 1.005 - 0.50375, 0},
		"no processor for a thread":  {task.Graph{Work: 2, Span: 0, Stalls: 1}, 1.5, 0, 0.5, 1, 0},
		"less than the graph":        {task.Graph{Work: 4, Span: 0}, 1, 0, 0, 0, 0},
		"overhead":                   {task.Graph{Work: 2, Span: 0, Overhead: 1}, 1.5, 0, 0, 0.75, 0.25},
	} {
		run := recordedRun{rounds: []task.Graph{tt.graph}, walls: []float64{tt.wall}, threads: 2, processors: 2, slowed: 1}
		g := run.graph(&summary.Summary{})
		for what, s := range map[string]struct {
			got           Saving
			seconds, most float64
		}{
			"perfect balance":   {*run.balanced(), tt.balance, tt.most},
			"twice the threads": {g.TwiceThreads, tt.twice, tt.wall - run.scaling(4).Low},
			"half the overhead": {g.HalfOverhead, tt.half, tt.graph.Overhead / 2},
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
		run := recordedRun{threads: rapid.IntRange(1, 8).Draw(t, "threads"), tasks: rapid.IntRange(0, 1e6).Draw(t, "tasks"), slowed: rapid.Float64Range(1, 10).Draw(t, "slowed")}
		run.processors = rapid.IntRange(1, run.threads).Draw(t, "processors")
		for range rapid.IntRange(1, 5).Draw(t, "iterations") {
			run.rounds = append(run.rounds, task.Graph{Work: seconds.Draw(t, "work"), Span: seconds.Draw(t, "span"), Overhead: seconds.Draw(t, "overhead"), Stalls: seconds.Draw(t, "stalls"), Quiet: seconds.Draw(t, "quiet")})
			run.walls = append(run.walls, seconds.Draw(t, "wall"))
		}
		g, total := run.graph(&summary.Summary{Processors: run.processors}), run.wall()
		for _, s := range []Saving{*run.balanced(), g.TwiceThreads, g.HalfOverhead} {
			if s.Low < 0 || s.Low > s.Seconds || s.Seconds > s.High || s.High > total {
				t.Fatalf("%+v of %v", s, total)
			}
		}
		for _, s := range g.Scaling {
			more := s.Threads > run.threads
			if s.Low < 0 || s.Low > s.Seconds || s.Seconds > s.High || more && s.High < total || !more && s.Low > total {
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
