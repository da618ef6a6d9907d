package history

import (
	"math"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// marksOf returns the marks of units of such times.
func marksOf(units ...float64) []progress.Mark {
	marks := []progress.Mark{{}}
	at := 0.0
	for i, u := range units {
		at += u
		marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: at})
	}
	return marks
}

func TestPaceOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		units []float64
		want  Pace
		ok    bool
	}{
		{"no unit", nil, Pace{}, false},
		{"no time", []float64{0, 0, 0}, Pace{}, false},
		{"one unit", []float64{3}, Pace{Recent: 3}, true},
		{"even", []float64{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, Pace{Recent: 2}, true},
		{"doubled", []float64{1, 1, 1, 1, 1, 1, 1, 1, 2, 2}, Pace{Recent: 2, Trend: math.Ln2}, true},
		{"a slow start is no trend", []float64{90, 1, 1, 1, 1, 1, 1, 1, 1, 1}, Pace{Recent: 1}, true},
		{"finer than the clock", []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 5}, Pace{Recent: 2.5}, true},
	} {
		got, ok := PaceOf(marksOf(tt.units...))
		if ok != tt.ok || math.Abs(got.Recent-tt.want.Recent) > 1e-9 || math.Abs(got.Trend-tt.want.Trend) > 1e-9 {
			t.Errorf("%s: %+v %v, want %+v %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// A run that trebles its units at 60 % of the way is known at half of the next one.
func TestShapes(t *testing.T) {
	var units []float64
	for i := range 40 {
		u := 1.0
		if i >= 24 {
			u = 3
		}
		units = append(units, u)
	}
	p := Past{Runs: []Run{{Block: "a", Marks: marksOf(units...), Units: 40, Seconds: 75}, {Block: "short", Marks: marksOf(1, 1), Units: 2, Seconds: 2}}}
	shapes := p.Shapes(0.5)
	if len(shapes) != 1 || math.Abs(shapes[0].Stretch()-(4+48)/20.0) > 1e-9 || shapes[0].Pace.Trend != 0 {
		t.Fatalf("%+v", shapes)
	}
	if after := p.Shapes(0.75); len(after) != 1 || after[0].Stretch() != 1 || after[0].Pace.Trend != math.Log(3) {
		t.Errorf("%+v", after)
	}
	if end := p.Shapes(1); len(end) != 0 {
		t.Errorf("at the end %+v", end)
	}
	if teardown, known := p.Teardown(); !known || teardown.Value != 3 || teardown.Low >= 3 || teardown.High <= 3 {
		t.Errorf("teardown %+v %v", teardown, known)
	}
}

// A past of fewer than three blocks counts only with the same script; runs of a block weigh
// as one; a run of another course hardly counts.
func TestWeigh(t *testing.T) {
	shape := func(block string, trend float64, same bool) Shape {
		return Shape{Block: block, Pace: Pace{Recent: 2, Trend: trend}, Rest: 6, SameScript: same}
	}
	now := Pace{Recent: 5}
	for _, tt := range []struct {
		name   string
		past   []Shape
		rests  int
		alike  float64
		weight float64 // of the last
	}{
		{"none", nil, 0, 0, 0},
		{"two", []Shape{shape("a", 0, false), shape("b", 0, false)}, 0, 0, 0},
		{"one of the same script", []Shape{shape("a", 0, true)}, 1, math.Inf(1), 1 + unlike},
		{"three", []Shape{shape("a", 0, false), shape("b", 0, false), shape("c", 0, false)}, 3, 3, 1 + unlike},
		{"a block twice", []Shape{shape("a", 0, false), shape("b", 0, false), shape("c", 0, false), shape("c", 0, false)}, 4, 3, (1 + unlike) / 2},
		{"another course", []Shape{shape("a", 0, false), shape("b", 0, false), shape("c", 1, false)}, 3, 2, unlike},
	} {
		rests, alike := Weigh(tt.past, now, 10)
		if len(rests) != tt.rests || math.Abs(alike-tt.alike) > 1e-9 {
			t.Errorf("%s: %v, alike %v", tt.name, rests, alike)
			continue
		}
		if n := len(rests); n > 0 && (rests[n-1].Rest != 150 || math.Abs(rests[n-1].Weight-tt.weight) > 1e-9) {
			t.Errorf("%s: %+v, want 150 s with weight %v", tt.name, rests[n-1], tt.weight)
		}
	}
}
