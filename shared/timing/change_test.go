package timing

import (
	"math"
	"testing"

	"github.com/foretime/foretime/shared/uncertainty"
)

// TestSpeedChange checks the bounds on both sides: 95 % of the changes are within the
// observed factor of 1.6, and a lower level bounds less.
func TestSpeedChange(t *testing.T) {
	for _, tt := range []struct{ level, factor float64 }{{0.95, 1.600}, {0.9, 1.484}, {0.5, 1.176}} {
		c := SpeedChange(tt.level)
		if !(math.Abs(c.High-tt.factor) <= 0.001) || !(math.Abs(c.Low*c.High-1) <= 1e-12) {
			t.Errorf("level %v: %+v, want a factor of %v", tt.level, c, tt.factor)
		}
	}
}

func TestWiden(t *testing.T) {
	c := Change{Low: 0.5, High: 2}
	p := uncertainty.Prediction{Value: 10, Low: 8, High: 13, Level: 0.9}
	got := c.Widen(p)
	// exp(hypot(ln 0.8, ln 0.5)) and exp(hypot(ln 1.3, ln 2)), by hand
	if !(math.Abs(got.Low-10*math.Exp(-0.728176)) <= 1e-3) || !(math.Abs(got.High-10*math.Exp(0.741141)) <= 1e-3) || got.Value != 10 || got.Level != 0.9 {
		t.Errorf("got %+v", got)
	}
	for _, same := range []uncertainty.Prediction{uncertainty.Point(3), {Value: 0, Low: 0, High: 1, Level: 0.9}, {Value: -1, Low: -2, High: 1, Level: 0.9}} {
		if got := c.Widen(same); got != same {
			t.Errorf("%+v became %+v", same, got)
		}
	}
	if got := (Change{1, 1}).Widen(p); !(math.Abs(got.Low-8) <= 1e-12) || !(math.Abs(got.High-13) <= 1e-12) {
		t.Errorf("no change: %+v", got)
	}
	if got := c.Widen(uncertainty.Prediction{Value: 1, Low: 0, High: 2, Level: 0.9}); got.Low != 0 {
		t.Errorf("an end at zero moved to %v", got.Low)
	}
	if got := c.Share(0.5); got != (Change{0.75, 1.5}) {
		t.Errorf("of half: %+v", got)
	}
	if got := c.Share(0); got != (Change{1, 1}) {
		t.Errorf("of none: %+v", got)
	}
}

// TestMeanSpeedChange checks that changes average out over minutes, and that less than a minute
// counts as one.
func TestMeanSpeedChange(t *testing.T) {
	for _, tt := range []struct{ seen, ahead, factor float64 }{
		{1, 1, 1.6},
		{60, 30, 1.6},
		{240, 240, math.Sqrt(1.6)},
		{3600 * 1e6, 60, math.Pow(1.6, math.Sqrt(0.5))},
	} {
		c := MeanSpeedChange(0.95, tt.seen, tt.ahead)
		if !(math.Abs(c.High-tt.factor) <= 0.001) || !(math.Abs(c.Low*c.High-1) <= 1e-12) {
			t.Errorf("%v s seen, %v s ahead: %+v, want a factor of %v", tt.seen, tt.ahead, c, tt.factor)
		}
	}
}
