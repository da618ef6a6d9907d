package replay

import (
	"math"
	"slices"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/uncertainty"
)

// TestMeanWithoutFarRuns takes every run into the mean until there are ten, and then those within
// half of it.
func TestMeanWithoutFarRuns(t *testing.T) {
	for _, tt := range []struct {
		before  int
		seconds float64
		taken   bool
	}{{9, 100, true}, {10, 100, false}, {10, 6, true}, {10, 6.001, false}, {10, 2, true}, {10, 1.999, false}} {
		var p pastRuns
		for range tt.before {
			p.learn(4)
		}
		p.learn(tt.seconds)
		if taken := int(p.n) == tt.before+1; taken != tt.taken || p.last != tt.seconds || taken && p.sum != 4*float64(tt.before)+tt.seconds {
			t.Errorf("%+v: %v runs of %v s", tt, p.n, p.sum)
		}
	}
}

// TestBaselinesByHand compares the rules with figures by hand: after runs of 1 and 3 s they answer 2, 3
// and 2; sizes that did not run are answered by their function.
func TestBaselinesByHand(t *testing.T) {
	r := rules{sizes: make([]pastRuns, 2), functions: make([]pastRuns, 2)}
	r.judge(&run{seconds: 4})
	if r.scores[history].Count() != 0 {
		t.Error("an answer of nothing")
	}
	r.learn(&run{seconds: 1})
	r.learn(&run{seconds: 3})
	r.judge(&run{seconds: 4, size: 1})
	r.learn(&run{seconds: 9, size: 1})
	r.judge(&run{seconds: 4})
	for i, want := range []float64{2, 1, 2} {
		if got := r.scores[i].MAE(); got != want || r.scores[i].Count() != 2 {
			t.Errorf("%s: %v s", baselineLabels[i], got)
		}
	}
	r.judge(&run{seconds: 4, size: 1, entry: 1})
	if r.scores[lastValue].MAE() != (1+1+5)/3.0 {
		t.Errorf("%v s after a run of known sizes", r.scores[lastValue].MAE())
	}
}

// rows adds runs to a table.
func rows(runs ...task.Row) *Table {
	t := NewTable("log")
	for i := range runs {
		t.Add(&runs[i])
	}
	return t
}

// TestOrderOfEvents plays iterations one after the other, in each by time, and of one time ends first.
func TestOrderOfEvents(t *testing.T) {
	one, two := 1.0, 2.0
	f := newFeed(rows(
		task.Row{Entry: "f", Iteration: 7, Start: 3, Seconds: 2, Queue: &two}, // created at 1
		task.Row{Entry: "f", Iteration: 7, Start: 5, Seconds: 1, Queue: &one}, // created at 4, starts as the first ends
		task.Row{Entry: "g", Iteration: 3, Start: 9, Seconds: 1},              // of an earlier iteration, created as it begins
	))
	want := []happening{{2, creates}, {2, starts}, {2, ends}, {0, creates}, {0, starts}, {1, creates}, {0, ends}, {1, starts}, {1, ends}}
	if !slices.Equal(f.events, want) {
		t.Errorf("%v, want %v", f.events, want)
	}
	if f.first != 0 || f.runs[0].iteration != 1 || f.runs[2].iteration != 0 || f.runs[2].created != 9 || f.runs[0].created != 1 {
		t.Errorf("%+v", f.runs)
	}
	for seconds, tick := range map[float64]uint64{0: 1_000_000, 1e-9: 1_000_001, 1.4e-9: 1_000_001, 1.6e-9: 1_000_002, 2: 2_001_000_000} {
		if got := f.tickAt(seconds); got != tick {
			t.Errorf("%v s: tick %d, want %d", seconds, got, tick)
		}
	}
}

// TestTicksOfARun ends a run at least a tick after it starts.
func TestTicksOfARun(t *testing.T) {
	f := &feed{Table: rows(task.Row{Start: 2e-6, Seconds: 0}, task.Row{Start: 2e-6, Seconds: 2e-9}), first: -1e-6}
	f.runs[0].created = 1e-6
	for _, tt := range []struct {
		row  uint32
		kind kind
		want uint64
	}{{0, creates, 1_002_000}, {0, starts, 1_003_000}, {0, ends, 1_003_001}, {1, ends, 1_003_002}} {
		if got := f.tick(tt.row, tt.kind); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

// TestLogsWithoutStarts puts runs one behind the other if no start is known.
func TestLogsWithoutStarts(t *testing.T) {
	table := rows(task.Row{Seconds: 2}, task.Row{Seconds: 3}, task.Row{Seconds: 1})
	table.sequence()
	if table.runs[0].start != 0 || table.runs[1].start != 2 || table.runs[2].start != 5 {
		t.Errorf("%+v", table.runs)
	}
	known := rows(task.Row{Seconds: 2}, task.Row{Seconds: 3, Start: -1})
	if known.sequence(); known.runs[0].start != 0 || known.runs[1].start != -1 {
		t.Errorf("%+v", known.runs)
	}
	// Unknown creations are at the first start of their iteration.
	begun := rows(task.Row{Start: 5, Iteration: 1}, task.Row{Start: 4, Iteration: 1}, task.Row{Start: 7, Iteration: 2})
	if first := begun.fillCreated(); first != 4 || begun.runs[0].created != 4 || begun.runs[1].created != 4 || begun.runs[2].created != 7 {
		t.Errorf("first %v: %+v", first, begun.runs)
	}
}

// TestTasksOfRows says where a task came from and ran.
func TestTasksOfRows(t *testing.T) {
	mhz := 1500.0
	queue := 0.5
	f := &feed{Table: rows(
		task.Row{Entry: "f", Flag: event.Remote.String(), Lane: 3, Core: -1, Start: 1},
		task.Row{Entry: "g", Flag: event.Local.String(), Lane: 2, Core: 0, Start: 1, Queue: &queue, MHz: &mhz},
		task.Row{Entry: "g", Flag: event.Local.String(), Lane: -1, Core: -1, Sizes: []int64{4}},
	)}
	a, b, c := f.newTask(0), f.newTask(1), f.newTask(2)
	if a.Flag != event.Remote || a.Created != 0 || a.Core != 3 || a.Token != 1 || a.Entry != 1 || a.Lane != 3 {
		t.Errorf("%+v", a)
	}
	if b.Flag != event.Local || b.Created != f.tickAt(0.5) || b.Core != 0 || b.Token != 2 || b.Entry != 2 || c.Core != 0 {
		t.Errorf("%+v and %+v", b, c)
	}
	if name, _ := f.symbol(2); name != "g" || len(f.sizes) != 3 || f.runs[1].size == f.runs[2].size || f.runs[0].size == f.runs[1].size {
		t.Errorf("%s, %v", name, f.sizes)
	}
	for _, tt := range []struct {
		core    int32
		mhz     float32
		changed bool
		cores   int
	}{{2, 0, false, 0}, {2, 1500, true, 3}, {2, 1500, false, 3}, {0, 1500, true, 3}, {2, 1600, true, 3}, {1<<14 - 1, 1, true, 1 << 14}, {1 << 14, 1, false, 1 << 14}} {
		f.runs[1].core, f.runs[1].mhz = tt.core, tt.mhz
		if got := f.setClock(1); got != tt.changed || len(f.mhz) != tt.cores {
			t.Errorf("%+v: changed %v, %d cores", tt, got, len(f.mhz))
		}
	}
}

// TestScores leaves out the first part of the starts, and tells sizes apart that had not run.
func TestScores(t *testing.T) {
	f := newFeed(rows(task.Row{Start: 1, Seconds: 0.5, Sizes: []int64{1}}, task.Row{Start: 2, Seconds: 0.5, Sizes: []int64{1}}, task.Row{Start: 3, Seconds: 0.5, Sizes: []int64{2}}, task.Row{Start: 4, Seconds: 0.5, Sizes: []int64{2}}))
	predicted := make([]uncertainty.Prediction, 4)
	for i := range predicted {
		predicted[i] = uncertainty.Prediction{Value: 1, Low: 0.6, High: 2}
	}
	for skip, want := range map[float64][3]int{0: {4, 2, 3}, 0.24: {4, 2, 3}, 0.25: {3, 1, 3}, 0.5: {2, 1, 2}, 0.75: {1, 0, 1}, 0.99: {1, 0, 1}} {
		var s scores
		calls := 0
		s.score(f, predicted, Options{Skip: skip, OnPrediction: func(uncertainty.Prediction, float64) { calls++ }})
		if got := [3]int{s.all.Count(), s.unseen.Count(), s.rules[history].Count()}; got != want || calls != want[0] || s.all.Coverage() != 0 {
			t.Errorf("skip %v: %v, want %v", skip, got, want)
		}
	}
	predicted[3].Value = 0
	var s scores
	if s.score(f, predicted, Options{}); s.all.Count() != 3 {
		t.Errorf("%d scored", s.all.Count())
	}
	if r := newResult(&s.all, 5); r.Train != 2 || r.Test != 3 || math.Abs(float64(*r.MAPE)-100) > 1e-9 {
		t.Errorf("%+v", r)
	}
	if r := newResult(&s.all, 2); r.Train != 0 {
		t.Errorf("%+v", r)
	}
}
