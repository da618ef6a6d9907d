package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/uncertainty"
)

// evenMarks returns the marks of units of a second.
func evenMarks(units int) (marks []progress.Mark) {
	for i := range units + 1 {
		marks = append(marks, progress.Mark{Number: float64(i), Seconds: float64(i)})
	}
	return marks
}

// stretched returns a past run, of a block of its own, whose units took such a factor longer
// after the share than just before it.
func stretched(block int, factor, trend float64) history.Shape {
	return history.Shape{Block: strconv.Itoa(block), Pace: history.Pace{Recent: 7, Trend: trend}, Rest: 7 * factor}
}

// A past of two runs changes nothing unless one had the same script; a long one sets the
// quantiles, and runs of another course hardly count.
func TestForecastWithPast(t *testing.T) {
	forecast := func(past ...history.Shape) uncertainty.Prediction {
		t.Helper()
		r, err := Forecast(evenMarks(20), nil, Job{Epochs: 100}, 0.95, past)
		if err != nil || r.Refused != nil {
			t.Fatal(err, r.Refused)
		}
		return r.Total
	}
	alone := forecast()
	near(t, "alone", alone.Value, 100, 1e-9)
	if got := forecast(stretched(1, math.E, 0), stretched(2, math.E, 0)); got != alone {
		t.Errorf("after two jobs %+v, was %+v", got, alone)
	}
	same := stretched(1, math.E, 0)
	same.SameScript = true
	if got := forecast(same); !got.Contains(20+80*math.E) || got.Low > alone.Value {
		t.Errorf("after one run of the same script %+v", got)
	}
	if got := forecast(stretched(1, 2, 0), stretched(2, 2, 0), stretched(3, 2, 0), stretched(4, 9, 1), stretched(5, 9, -1)); got.High > 200 || math.Abs(got.Value-180) > 9 {
		t.Errorf("after three that doubled and two of another course %+v", got)
	}
	var doubled []history.Shape
	for i := range 60 {
		doubled = append(doubled, stretched(i, math.Exp(math.Log(2)*float64(i)/59), 0))
	}
	p := forecast(doubled...)
	if p.Low < 95 || p.Low > 104 || p.High < 170 || p.High > 183 {
		t.Errorf("after sixty %+v", p)
	}
	near(t, "value", p.Value, 20+80*math.Sqrt2, 0.05)
}

// Levels far apart in what was seen are refused, noise is not.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		step    func(i int) float64
		refused bool
	}{
		{"even", func(int) float64 { return 1 }, false},
		{"noisy", func(i int) float64 { return 1 + 0.2*math.Sin(float64(i*i)) }, false},
		{"a step", func(i int) float64 { return 1 + 0.5*float64(i/30) }, true},
		{"a warm-up", func(i int) float64 { return 1 + 5*math.Exp(-float64(i)) }, false},
	} {
		marks, at := []progress.Mark{{}}, 0.0
		for i := range 60 {
			at += tt.step(i)
			marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: at})
		}
		r, err := Continue(marks, nil, Job{Epochs: 1000}, 0.95)
		if err != nil || (r.Refused != nil) != tt.refused {
			t.Errorf("%s: %v, %v", tt.name, r.Refused, err)
		}
	}
}

// TestSteppedRun checks a run whose level changes for good: refused early, then the last
// level goes on, and a past of such runs answers early too.
func TestSteppedRun(t *testing.T) {
	run := func(units, change int) ([]progress.Mark, float64) {
		marks, at := []progress.Mark{{}}, 0.0
		for i := range 40 {
			step := 0.25
			if i >= change {
				step = 0.75
			}
			if at += step; i < units {
				marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: at})
			}
		}
		return marks, at
	}
	marks, _ := run(20, 12)
	early, err := Continue(marks, nil, Job{Epochs: 40}, 0.95)
	if err != nil || early.Refused == nil {
		t.Fatal(err, early.Refused)
	}
	near(t, "value after half", early.Total.Value, 12*0.25+28*0.75, 0.02)
	marks, actual := run(26, 16)
	r, err := Continue(marks, nil, Job{Epochs: 40}, 0.95)
	if err != nil || r.Refused != nil || !r.Total.Contains(actual) {
		t.Errorf("after 65 %%: %+v, refused %v, took %v: %v", r.Total, r.Refused, actual, err)
	}
	near(t, "value after 65 %", r.Total.Value, actual, 0.02)
	var past history.Past
	for i := range 6 {
		marks, end := run(41, 10+i%3)
		past.Runs = append(past.Runs, history.Run{Block: strconv.Itoa(i), Marks: marks, Units: 40, Seconds: end})
	}
	marks, _ = run(20, 12)
	r, err = Forecast(marks, nil, Job{Epochs: 40}, 0.95, past.Shapes(0.5))
	if p := r.Total; err != nil || r.Refused != nil || !p.Contains(12*0.25+28*0.75) || p.Width() > 0.6*p.Value {
		t.Errorf("with six such runs %+v, refused %v: %v", p, r.Refused, err)
	}
}

// TestEvenMarks checks that marks which a coarse clock reads are never refused: the times
// of even units then alternate.
func TestEvenMarks(t *testing.T) {
	for _, unit := range []float64{0.25, 0.3, 0.33, 0.47, 0.9} {
		for n := 6; n <= 60; n++ {
			marks := []progress.Mark{{}}
			for i := 1; i <= n; i++ {
				marks = append(marks, progress.Mark{Number: float64(i), Seconds: 0.2 * math.Ceil(float64(i)*unit/0.2)})
			}
			r, err := Continue(marks, nil, Job{Epochs: 200}, 0.95)
			if err != nil || r.Refused != nil || !r.Total.Contains(200*unit) {
				t.Errorf("%d units of %v s: %+v, refused %v: %v", n, unit, r.Total, r.Refused, err)
			}
		}
	}
}

// TestLevel: of the totals that are drawn the interval holds the share that it promises.
func TestLevel(t *testing.T) {
	marks, at := []progress.Mark{{}}, 0.0
	for i := range 40 {
		at += 1 + 0.2*math.Sin(float64(i*i))
		marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: at})
	}
	for _, level := range []float64{0.8, 0.9, 0.95} {
		r, err := Continue(marks, nil, Job{Epochs: 100}, level)
		if err != nil || r.Refused != nil {
			t.Fatal(err, r.Refused)
		}
		in := 0.0
		for _, total := range r.totals {
			if r.Total.Contains(total) {
				in++
			}
		}
		near(t, "share held", in/float64(len(r.totals)), level, 0.01)
	}
}

// Earlier whole runs of the job correct an estimate from samples, from three on if the script
// was another. A block counts once.
func TestPastTotals(t *testing.T) {
	sample := func(epochs int) journal.Run {
		marks := []progress.Mark{{Seconds: 1}}
		for i := range epochs {
			marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: 2 + float64(i)})
		}
		return journal.Run{Kind: journal.Sample, Device: "cpu", Epochs: epochs, Marks: marks, Wall: float64(epochs) + 1, CPU: float64(epochs) + 1}
	}
	after := func(past ...history.Shape) *Estimate {
		t.Helper()
		e, err := New([]journal.Run{sample(2), sample(5)}, Job{Epochs: 99, Device: "cpu"}, Settings{Past: map[string][]history.Shape{"cpu": past}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	none := after()
	near(t, "samples", none.Wall.Value, 100, 1e-9)
	if none.Past != 0 || none.Wall.High > 199 {
		t.Errorf("no past: %d, %+v", none.Past, none.Wall)
	}
	if e := after(history.Whole("a", 200, false), history.Whole("b", 200, false), history.Whole("b", 200, false)); e.Past != 0 || e.Wall != none.Wall {
		t.Errorf("two blocks: %d, %+v", e.Past, e.Wall)
	}
	e := after(history.Whole("a", 200, true), history.Whole("b", 200, true), history.Whole("c", 200, false))
	near(t, "upper end after three that took twice as long", e.Wall.High, 200, 0.05)
	if e.Past != 3 || e.Wall.Low > 100 {
		t.Errorf("three blocks: %d, %+v", e.Past, e.Wall)
	}
	tasks := slices.Repeat([]history.Shape{history.Whole("array", 200, true)}, 60)
	if e := after(append(tasks, history.Whole("a", 50, true), history.Whole("b", 50, true))...); e.Wall.Value > 110 {
		t.Errorf("an array of 60 tasks and two jobs: %+v", e.Wall)
	}
	var many []history.Shape
	for i := range 57 {
		many = append(many, history.Whole(strconv.Itoa(i), 200, true))
	}
	near(t, "after 57", after(many...).Wall.Value, 200, 0.01)
	// A method without draws, whose line is exact, has an interval too.
	line, err := New([]journal.Run{sample(2), sample(5), sample(9)}, Job{Epochs: 99, Device: "cpu"}, Settings{Method: Line, Past: map[string][]history.Shape{"cpu": many}})
	if err != nil || line.Past != 57 {
		t.Fatal(err, line)
	}
	near(t, "line after 57", line.Wall.Value, 200, 0.01)
}

// Predictions that are always too short, or too long, suffice for the promised share of
// later jobs once forty have ended.
func TestPastTotalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, bias := range []float64{0.5, 1, 3} {
		held, trials := 0, 500
		for range trials {
			e := &Estimate{Wall: uncertainty.Prediction{Value: 1, Low: 0.9, High: 1.1, Level: 0.8}}
			var past []history.Shape
			for i := range 40 {
				past = append(past, history.Whole(strconv.Itoa(i), bias*math.Exp(0.3*random.NormFloat64()), false))
			}
			if e.correctByPast(past); bias*math.Exp(0.3*random.NormFloat64()) <= e.Wall.High {
				held++
			}
		}
		if share := float64(held) / float64(trials); share < 0.85 || share > 0.97 { // the model keeps 3 of 43 parts
			t.Errorf("bias %v: %v held", bias, share)
		}
	}
}
