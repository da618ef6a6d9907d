package interval

import (
	"math"
	"testing"
)

// near reports whether two numbers agree to 12 digits.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b))
}

// afterNineteen returns ends whose largest errors were a factor of two on each side.
func afterNineteen() *Ends {
	e := &Ends{}
	for i := range 19 {
		if i%2 == 0 {
			e.Observe(1, 2)
		} else {
			e.Observe(2, 1)
		}
	}
	return e
}

// TestReadiness counts the errors until ends exist and until they are settled: a tail of
// 0.05 needs 19 errors, and settled ends have three times as many.
func TestReadiness(t *testing.T) {
	var e Ends
	for n := range 60 {
		if e.IsReady() != (n >= 19) || e.IsSettled() != (n >= 57) {
			t.Errorf("after %d errors: ready %v, settled %v", n, e.IsReady(), e.IsSettled())
		}
		if p := e.Around(3); n < 19 && (p.Low != 0 || !math.IsInf(p.High, 1) || p.Level != 0.9) {
			t.Errorf("after %d errors: %+v", n, p)
		}
		e.Observe(3, 4)
	}
}

// TestStepAfterAnOutcome wants the stated steps: a miss multiplies a distance by
// exp(0.3 × 0.95), any other outcome, also one exactly at the end, by exp(-0.3 × 0.05).
func TestStepAfterAnOutcome(t *testing.T) {
	out, in := math.Exp(0.285), math.Exp(-0.015)
	for _, tt := range []struct {
		name           string
		value, outcome float64
		low, high      float64 // distances
	}{
		{"inside", 1, 1, in, in},
		{"at the upper end", 1, 2, in, in},
		{"beyond the upper end", 1, 2.000001, in, out},
		{"at the lower end", 2, 1, in, in},
		{"beyond the lower end", 2.000001, 1, out, in},
	} {
		e := afterNineteen()
		if p := e.Around(6); p.Low != 3 || p.High != 12 || p.Level != 0.9 {
			t.Fatalf("%+v before", p)
		}
		e.Observe(tt.value, tt.outcome)
		if p := e.Around(6); !near(p.Low, 6/(1+tt.low)) || !near(p.High, 6*(1+tt.high)) {
			t.Errorf("%s: %+v, want distances %v and %v", tt.name, p, tt.low, tt.high)
		}
	}
}

// TestLeastDistance wants a millionth of the value on each side after exact predictions.
func TestLeastDistance(t *testing.T) {
	var e Ends
	for range 25 {
		e.Observe(7, 7)
	}
	if p := e.Around(1); !near(p.Low, 1/1.000001) || !near(p.High, 1.000001) {
		t.Errorf("%+v", p)
	}
	e.Observe(1, 1.5)
	if !near(e.high, 1e-6*math.Exp(0.285)) || e.low != 1e-6 {
		t.Errorf("distances %v and %v", e.low, e.high)
	}
}
