package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/uncertainty"
)

// A short past changes nothing, a long one its quantiles: where past runs ended up to
// twice as late as predicted, and none sooner, so may this one.
func TestGiven(t *testing.T) {
	var marks []progress.Mark
	for i := range 21 {
		marks = append(marks, progress.Mark{Number: float64(i), Seconds: float64(i)})
	}
	r, err := Continue(marks, nil, Job{Epochs: 100}, 0.95)
	if err != nil || r.Refused != nil {
		t.Fatal(err, r.Refused)
	}
	near(t, "alone", r.Total.Value, 100, 1e-9)
	// past returns outcomes with such errors, each of a job of its own.
	past := func(course Course, errors ...float64) (all []Outcome) {
		for i, e := range errors {
			all = append(all, Outcome{Block: string(rune('a' + i)), Error: e, Course: course})
		}
		return all
	}
	given := func(all []Outcome) uncertainty.Prediction {
		t.Helper()
		p, err := r.Given(all)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if got := given(past(Steady, 1, 1)); got != r.Total {
		t.Errorf("after two jobs %+v, was %+v", got, r.Total)
	}
	if got := given(append(past(Steady, 1, 1), past(Steady, 1)...)); got != r.Total {
		t.Errorf("after two jobs, one of them twice, %+v, was %+v", got, r.Total)
	}
	// The third job counts: it gives half of the weight to e times the rest.
	if got := given(past(Steady, 1, 1, 1)); got.High < 20+80*math.E-1e-9 || got.Low > r.Total.Value {
		t.Errorf("after three jobs %+v", got)
	}
	// Runs of another course count only if this one has too few.
	if got := given(append(past(Steady, 0, 0, 0), past(Stepped, 1, 1, 1, 1, 1, 1)...)); got.High > 200 {
		t.Errorf("after three steady jobs and six that changed %+v", got)
	}
	var doubled []float64
	for i := range 60 {
		doubled = append(doubled, math.Log(2)*float64(i)/59)
	}
	p := given(past(Steady, doubled...))
	if p.Low < 95 || p.Low > 104 || p.High < 170 || p.High > 181 {
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
	if err != nil || early.Refused == nil || early.Course != Stepped {
		t.Fatal(err, early.Refused, early.Course)
	}
	near(t, "value after half", early.Total.Value, 12*0.25+28*0.75, 0.02)
	marks, actual := run(26, 16)
	r, err := Continue(marks, nil, Job{Epochs: 40}, 0.95)
	if err != nil || r.Refused != nil || !r.Total.Contains(actual) {
		t.Errorf("after 65 %%: %+v, refused %v, took %v: %v", r.Total, r.Refused, actual, err)
	}
	near(t, "value after 65 %", r.Total.Value, actual, 0.02)
	var past []Outcome
	for i := range 6 {
		marks, actual := run(20, 10+i%3)
		r, err := Continue(marks, nil, Job{Epochs: 40}, 0.95)
		o, left := r.OutcomeOf(string(rune('a'+i)), actual)
		if err != nil || !left {
			t.Fatal(err, left)
		}
		past = append(past, o)
	}
	if p, err := early.Given(past); err != nil || !p.Contains(12*0.25+28*0.75) || p.Width() > 0.6*p.Value {
		t.Errorf("with six such runs %+v: %v", p, err)
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

// TestGrown: units grow from the middle of the laps seen to the middle of those to come.
func TestGrown(t *testing.T) {
	m := &model{job: Job{Epochs: 100}, middle: 10, seen: 20}
	near(t, "growing by 1 % a unit", m.grown(0.01), 1.5, 1e-12)
	near(t, "falling by 1 % a unit", m.grown(-0.01), 0.5, 1e-12)
}

// Earlier whole runs correct an estimate from samples: of the job itself, and of one with
// another length by what was predicted for it. A block counts once, two change nothing.
func TestPastTotals(t *testing.T) {
	sample := func(epochs int) journal.Run {
		marks := []progress.Mark{{Seconds: 1}}
		for i := range epochs {
			marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: 2 + float64(i)})
		}
		return journal.Run{Kind: journal.Sample, Device: "cpu", Epochs: epochs, Marks: marks, Wall: float64(epochs) + 1, CPU: float64(epochs) + 1}
	}
	after := func(past ...PastTotal) *Estimate {
		t.Helper()
		e, err := New([]journal.Run{sample(2), sample(5)}, Job{Epochs: 99, Device: "cpu"}, Settings{Past: map[string][]PastTotal{"cpu": past}})
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
	if e := after(PastTotal{"a", 200, 0}, PastTotal{"b", 200, 0}, PastTotal{"b", 200, 0}); e.Past != 0 || e.Wall != none.Wall {
		t.Errorf("two blocks: %d, %+v", e.Past, e.Wall)
	}
	e := after(PastTotal{"a", 200, 0}, PastTotal{"b", 200, 0}, PastTotal{"c", 20, 10})
	near(t, "upper end after three that took twice as long", e.Wall.High, 200, 1e-9)
	near(t, "what the samples alone predict", e.Sampled, 100, 1e-9)
	if e.Past != 3 || e.Wall.Low > 100 {
		t.Errorf("three blocks: %d, %+v", e.Past, e.Wall)
	}
	tasks := slices.Repeat([]PastTotal{{"array", 200, 0}}, 60)
	if e := after(append(tasks, PastTotal{"a", 50, 0}, PastTotal{"b", 50, 0})...); e.Wall.Value > 110 {
		t.Errorf("an array of 60 tasks and two jobs: %+v", e.Wall)
	}
	var many []PastTotal
	for i := range 57 {
		many = append(many, PastTotal{strconv.Itoa(i), 200, 0})
	}
	near(t, "after 57", after(many...).Wall.Value, 200, 1e-9)
	// A method without draws, whose line is exact, has an interval too.
	line, err := New([]journal.Run{sample(2), sample(5), sample(9)}, Job{Epochs: 99, Device: "cpu"}, Settings{Method: Line, Past: map[string][]PastTotal{"cpu": many}})
	if err != nil || line.Past != 57 {
		t.Fatal(err, line)
	}
	near(t, "line after 57", line.Wall.Value, 200, 1e-9)
}

// Predictions that are always too short, or too long, suffice for the promised share of
// later jobs once forty have ended.
func TestPastTotalsCover(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, bias := range []float64{0.5, 1, 3} {
		held, trials := 0, 500
		for range trials {
			e := &Estimate{Wall: uncertainty.Prediction{Value: 1, Low: 0.9, High: 1.1, Level: 0.8}}
			var past []PastTotal
			for i := range 40 {
				past = append(past, PastTotal{strconv.Itoa(i), bias * math.Exp(0.3*random.NormFloat64()), 1})
			}
			if e.given(past); bias*math.Exp(0.3*random.NormFloat64()) <= e.Wall.High {
				held++
			}
		}
		if share := float64(held) / float64(trials); share < 0.85 || share > 0.97 { // the model keeps 3 of 43 parts
			t.Errorf("bias %v: %v held", bias, share)
		}
	}
}
