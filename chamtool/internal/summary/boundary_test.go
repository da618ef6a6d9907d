package summary

import (
	"math"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// TestMedianIsTheMiddleOfItsBin derives the bins from the exponent and eight bits of the
// fraction: from 1 to 1 + 1/256 the middle is 1 + 1/512. Errors up to 2^-20 count as none, and
// those from 2^15 on as the bin below.
func TestMedianIsTheMiddleOfItsBin(t *testing.T) {
	for _, tt := range []struct {
		name           string
		relative, want float64
	}{
		{"exact", 0, 0},
		{"in the lowest bin", math.Ldexp(1, -20), 0},
		{"at the end of the lowest bin", math.Ldexp(1+1.0/256-1.0/(1<<20), -20), 0},
		{"in the second bin", math.Ldexp(1+1.0/256, -20), math.Ldexp(1+3.0/512, -20)},
		{"one", 1, 1 + 1.0/512},
		{"below one", 1 - 1.0/1024, 1 - 1.0/1024},
		{"five", 5, 5 + 4.0/512},
		{"in the highest bin", 32767, math.Ldexp(2-1.0/512, 14)},
		{"beyond the highest bin", 1 << 15, math.Ldexp(2-1.0/512, 14)},
		{"far beyond", 1 << 40, math.Ldexp(2-1.0/512, 14)},
	} {
		var e Errors
		if !e.Add(1+tt.relative, 1) {
			t.Fatal(tt.name)
		}
		if got := e.MedianAPE(); got != 100*tt.want {
			t.Errorf("%s: %v %%, want %v", tt.name, got, 100*tt.want)
		}
	}
}

// TestMedianOfTwoBins wants the lower median: the bin in which half of the errors are reached.
func TestMedianOfTwoBins(t *testing.T) {
	for _, tt := range []struct {
		exact, double int
		want          float64
	}{{2, 1, 0}, {1, 1, 0}, {1, 2, 100 + 100.0/512}, {2, 2, 0}, {2, 3, 100 + 100.0/512}} {
		var e Errors
		for range tt.exact {
			e.Add(1, 1)
		}
		for range tt.double {
			e.Add(2, 1)
		}
		if got := e.MedianAPE(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestErrorFigures compares with figures by hand: predictions of 3, 4 and 9 s for tasks of
// 2, 4 and 6 s miss by 1, 0 and 3 s of 12 s. The spread around the mean of 4 s is 4 + 0 + 4.
func TestErrorFigures(t *testing.T) {
	var e Errors
	for _, p := range [][2]float64{{3, 2}, {4, 4}, {9, 6}} {
		e.Add(p[0], p[1])
	}
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"count", float64(e.Count()), 3}, {"MAE", e.MAE(), 4.0 / 3}, {"WAPE", e.WAPE(), 100.0 / 3}, {"MAPE", e.MAPE(), 100.0 / 3},
		{"R2", e.R2(), 1 - 10.0/8},
	} {
		if !(math.Abs(tt.got-tt.want) <= 1e-12*math.Abs(tt.want)) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	var equal Errors
	equal.Add(1, 2)
	equal.Add(3, 2)
	if !math.IsNaN(equal.R2()) {
		t.Errorf("R2 %v of equal times", equal.R2())
	}
}

// TestCoverage counts outcomes at an end as inside, and leaves out intervals without an upper
// end.
func TestCoverage(t *testing.T) {
	var e Errors
	if !math.IsNaN(e.Coverage()) {
		t.Error(e.Coverage())
	}
	for _, c := range [][3]float64{
		{1, 2, 1}, {1, 2, 2}, {1, 2, 0.999}, {1, 2, 2.001}, {0, 9, 4},
		{math.NaN(), 2, 1}, {1, math.NaN(), 1}, {0, math.Inf(1), 1},
	} {
		e.AddInterval(c[0], c[1], c[2])
	}
	if e.bounded != 5 || e.Coverage() != 0.6 {
		t.Errorf("%d intervals, coverage %v", e.bounded, e.Coverage())
	}
}

// TestAddEarly adds the serial work before the first region to the graph and to the times.
func TestAddEarly(t *testing.T) {
	s := Summary{
		Graph:    &Graph{Work: 10, Span: 4},
		Critical: []PathPart{{"f", 3}, {Outside, 1}},
		Times:    []PlaceTime{{Kind: "x"}},
	}
	s.AddEarly(Early{Seconds: 2.5, CPU: 2, Calls: 1})
	if s.Graph.Work != 12.5 || s.Graph.Span != 6.5 || s.Early.Seconds != 2.5 {
		t.Errorf("%+v", s.Graph)
	}
	if len(s.Critical) != 2 || s.Critical[0] != (PathPart{Outside, 3.5}) || s.Critical[1] != (PathPart{"f", 3}) {
		t.Errorf("%+v", s.Critical)
	}
	want := []PlaceTime{
		{Kind: "x"},
		{Kind: event.Serial.String(), Place: FirstRegion, Count: 1, Seconds: 2.5, Stopped: 0.5},
		{Kind: event.InMPIAlone.String(), Count: 1},
	}
	if len(s.Times) != 3 || s.Times[1] != want[1] || s.Times[2] != want[2] {
		t.Errorf("%+v, want %+v", s.Times, want)
	}

	alone := Summary{Graph: &Graph{}, Times: []PlaceTime{{}}}
	alone.AddEarly(Early{Seconds: 1, CPU: 1.5})
	if len(alone.Critical) != 1 || alone.Critical[0] != (PathPart{Outside, 1}) || len(alone.Times) != 2 || alone.Times[1].Stopped != 0 {
		t.Errorf("%+v", alone)
	}
	var none Summary
	if none.AddEarly(Early{Seconds: 1}); none.Times != nil || none.Critical != nil {
		t.Errorf("%+v", none)
	}
}

// TestAddWait takes the tool's own time out of the run.
func TestAddWait(t *testing.T) {
	for within, want := range map[time.Duration]float64{time.Second: 2, 3 * time.Second: 0, 4 * time.Second: 0} {
		s := Summary{RunSeconds: 3}
		if s.AddWait(5*time.Second, within); s.RunSeconds != want || s.StartAndEnd != 5 {
			t.Errorf("%v within: run %v, start and end %v", within, s.RunSeconds, s.StartAndEnd)
		}
	}
}

// TestUnloggedAdds sums counts up and keeps the longest task, by function and in all.
func TestUnloggedAdds(t *testing.T) {
	var u Unlogged
	u.AddTo("f", Tasks{Count: 2, Remote: 1, Seconds: 3, Longest: 2})
	u.AddTo("g", Tasks{Count: 1, Seconds: 5, Longest: 5})
	u.AddTo("f", Tasks{Count: 1, Remote: 1, Seconds: 1, Longest: 1})
	if u.Tasks != (Tasks{4, 2, 9, 5}) || *u.Functions["f"] != (Tasks{3, 2, 4, 2}) || *u.Functions["g"] != (Tasks{1, 0, 5, 5}) {
		t.Errorf("%+v, %+v, %+v", u.Tasks, u.Functions["f"], u.Functions["g"])
	}
}

// TestShort wants each doubt in the line if its count is 1, and not if it is 0.
func TestShort(t *testing.T) {
	median := NewFigure(12.34)
	openMP, chameleon := event.OpenMP.String(), event.Upstream.String()
	for _, tt := range []struct {
		summary Summary
		want    string
	}{
		{Summary{}, "no tasks: the program created none that the tool can see"},
		{Summary{Counts: task.Counts{Ended: 1}}, "1 task, none predicted"},
		{Summary{Counts: task.Counts{Ended: 2}, Predicted: 1, MedianAPE: median}, "2 tasks, 1 predicted with a median error of 12.3 %"},
		{Summary{Dialect: openMP, Counts: task.Counts{Dropped: 1}}, "0 tasks, none predicted; 1 event of waits and dependences dropped (CHAMTOOL_RING_SLOTS makes the rings larger)"},
		{Summary{Dialect: chameleon, Counts: task.Counts{Dropped: 1, Ended: 1, Incomplete: 1}}, "1 task, none predicted; 1 event dropped, so tasks are missing in every count (CHAMTOOL_RING_SLOTS makes the rings larger)"},
		{Summary{Counts: task.Counts{Ended: 1, Unread: 1}}, "1 task, none predicted; 1 task only counted by function, since they came faster than they were read (CHAMTOOL_RING_SLOTS makes the rings larger)"},
		{Summary{Counts: task.Counts{Ended: 1}, RowsLost: 1}, "1 task, none predicted; 1 row could not be written, so the log is incomplete"},
		{Summary{Counts: task.Counts{Ended: 1, Incomplete: 1}}, "1 task, none predicted; the creation, beginning or end of 1 task is missing"},
		{Summary{Counts: task.Counts{Ended: 1, Cancelled: 1}}, "1 task, none predicted; 1 task cancelled before they began"},
		{Summary{Dialect: openMP, Counts: task.Counts{Created: 4, Ended: 2, Cancelled: 1}}, "2 tasks, none predicted; 1 task cancelled before they began; 1 task did not end"},
		{Summary{Dialect: openMP, Counts: task.Counts{Created: 2, Ended: 2, Cancelled: 0}}, "2 tasks, none predicted"},
		{Summary{Dialect: openMP, Counts: task.Counts{Created: 2, Ended: 3}}, "3 tasks, none predicted"},
		{Summary{Dialect: chameleon, Counts: task.Counts{Created: 4, Ended: 1}}, "1 task, none predicted"},
		{Summary{Counts: task.Counts{Ended: 1}, Unlogged: &Unlogged{Tasks: Tasks{Count: 1}}}, "1 task, none predicted; 1 task only counted by function, since the log is at its limit (CHAMTOOL_LOG_MEGABYTES)"},
		{Summary{Counts: task.Counts{Ended: 1, Unread: 1}, Unlogged: &Unlogged{Tasks: Tasks{Count: 1}}}, "1 task, none predicted; 1 task only counted by function, since they came faster than they were read (CHAMTOOL_RING_SLOTS makes the rings larger)"},
	} {
		if got := tt.summary.Short(); got != tt.want {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
}

// TestFigure has no number for NaN and infinities.
func TestFigure(t *testing.T) {
	for _, v := range []float64{0, -1.2345, 1e6} {
		if got := NewFigure(v); got == nil || *got != v {
			t.Errorf("%v: %v", v, got)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if NewFigure(v) != nil {
			t.Errorf("a figure of %v", v)
		}
	}
}
