package estimate

import (
	"math"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/mark"
)

// A short past changes nothing, a long one its quantiles: where past runs ended up to
// twice as late as predicted, and none sooner, so may this one.
func TestGiven(t *testing.T) {
	var marks []mark.Mark
	for i := range 21 {
		marks = append(marks, mark.Mark{Number: float64(i), Seconds: float64(i)})
	}
	r, err := Continue(marks, nil, Job{Epochs: 100}, 0.95)
	if err != nil || r.Refused != nil {
		t.Fatal(err, r.Refused)
	}
	near(t, "alone", r.Total.Value, 100, 1e-9)
	if got := r.Given([][]float64{{1}, {1}}); got != r.Total {
		t.Errorf("after two jobs %+v, was %+v", got, r.Total)
	}
	if got := r.Given([][]float64{{1}, {}, {1}}); got != r.Total {
		t.Errorf("after two jobs and one that told nothing %+v, was %+v", got, r.Total)
	}
	// The third job counts: it gives half of the weight to e times the value.
	if got := r.Given([][]float64{{1}, {1}, {1}}); got.High < 100*math.E-1e-9 || got.Low > r.Total.Value {
		t.Errorf("after three jobs %+v", got)
	}
	var past [][]float64
	for i := range 60 {
		past = append(past, []float64{math.Log(2) * float64(i) / 59})
	}
	p := r.Given(past)
	if p.Low < 95 || p.Low > 104 || p.High < 190 || p.High > 201 {
		t.Errorf("after sixty %+v", p)
	}
	near(t, "median", p.Value, 100*math.Sqrt2, 0.05)
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
		marks, at := []mark.Mark{{}}, 0.0
		for i := range 60 {
			at += tt.step(i)
			marks = append(marks, mark.Mark{Number: float64(i + 1), Seconds: at})
		}
		r, err := Continue(marks, nil, Job{Epochs: 1000}, 0.95)
		if err != nil || (r.Refused != nil) != tt.refused {
			t.Errorf("%s: %v, %v", tt.name, r.Refused, err)
		}
	}
}

// TestLevel: of the totals that are drawn the interval holds the share that it promises.
func TestLevel(t *testing.T) {
	marks, at := []mark.Mark{{}}, 0.0
	for i := range 40 {
		at += 1 + 0.2*math.Sin(float64(i*i))
		marks = append(marks, mark.Mark{Number: float64(i + 1), Seconds: at})
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
