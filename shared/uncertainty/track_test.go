package uncertainty

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestTracker checks that for any intervals, half as wide as promised, far too
// wide, or worse from the middle on, the coverage converges to the level.
func TestTracker(t *testing.T) {
	for name, sd := range map[string]func(i int) float64{
		"half as wide": func(int) float64 { return 2 },
		"too wide":     func(int) float64 { return .2 },
		"a change": func(i int) float64 {
			if i < 2000 {
				return 1
			}
			return 3
		},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		tracker, err := NewTracker(0.9)
		if err != nil {
			t.Fatal(err)
		}
		held, plain := 0, 0
		const n = 4000
		for i := range n {
			p := Prediction{Value: 10, Low: 10 - 1.645, High: 10 + 2*1.645, Level: 0.9}
			truth := 10 + sd(i)*rng.NormFloat64()
			if truth > 10 {
				truth = 10 + 2*(truth-10)
			}
			if p.Contains(truth) {
				plain++
			}
			if p.Widen(tracker.Factor()).Contains(truth) {
				held++
			}
			tracker.Observe(p, truth)
		}
		if share := float64(held) / n; !(math.Abs(share-0.9) <= 0.02) {
			t.Errorf("%s: %.3f held, %.3f without", name, share, float64(plain)/n)
		}
	}
}

func TestTrackerLearnsNothing(t *testing.T) {
	tracker, err := NewTracker(0.9)
	if err != nil {
		t.Fatal(err)
	}
	tracker.Observe(Point(1), 5)
	tracker.Observe(Prediction{Value: 1, Low: 1, High: 1}, 5)
	tracker.Observe(Prediction{Value: 1, Low: 0, High: 2}, math.NaN())
	if tracker.Factor() != 1 {
		t.Errorf("factor %v", tracker.Factor())
	}
	for range 1000 {
		tracker.Observe(Prediction{Value: 1, Low: 0, High: 2}, 1)
	}
	if f := tracker.Factor(); !(f > 0) || f > 1 {
		t.Errorf("factor %v after truths that all were the value", f)
	}
	if _, err := NewTracker(1); !errors.Is(err, ErrLevel) {
		t.Errorf("level 1: %v", err)
	}
}

// TestCurve checks that the fraction of truths below each quantile of a stream is
// its probability, although the errors double half-way and truths arrive a hundred
// late.
func TestCurve(t *testing.T) {
	shares := []float64{0.9, 0.1, 0.5}
	curve, err := NewCurve(shares...)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	const n, late = 6000, 100
	below := make([]float64, len(shares))
	var values, truths []float64
	for i := range n {
		value, sd := 100*rng.Float64(), 1+float64(2*i/n)
		truth := value + sd*rng.ExpFloat64()
		values, truths = append(values, value), append(truths, truth)
		at := curve.About(value)
		for q := range at {
			if truth <= at[q] {
				below[q] += 1. / n
			}
			if q > 0 && at[q] < at[q-1] {
				t.Fatalf("after %d: %v", i, at)
			}
		}
		if i >= late {
			if err := curve.Observe(values[i-late], truths[i-late]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for q, want := range []float64{0.1, 0.5, 0.9} { // 0.013 is the chance error of 6,000 truths and 100 late ones
		if !(math.Abs(below[q]-want) <= 0.025) {
			t.Errorf("%.3f are below the quantile of %v", below[q], want)
		}
	}
	if curve.Seen() != n-late {
		t.Errorf("%d seen", curve.Seen())
	}
	if err := curve.Observe(1, math.Inf(1)); !errors.Is(err, ErrValue) || curve.Seen() != n-late {
		t.Errorf("an infinite truth: %v", err)
	}
	if _, err := NewCurve(0.5, 1); !errors.Is(err, ErrLevel) {
		t.Errorf("a share of 1: %v", err)
	}
}
