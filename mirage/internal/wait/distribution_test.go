package wait

import (
	"math"
	"testing"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// hundred holds the waits 0, 1, ... 100 s, whose quantiles are 100 times the probability.
func hundred() stats.Sorted {
	waits := make([]float64, 101)
	for i := range waits {
		waits[i] = float64(i)
	}
	return stats.Sort(waits)
}

// TestOneDistribution: value, interval, curve and chances agree at every level.
func TestOneDistribution(t *testing.T) {
	for _, level := range []float64{0.5, 0.8, 0.9, 0.93, 0.95, 0.999} {
		d := FromSamples(level, hundred())
		p := d.Interval()
		if p.Value != 50 || math.Abs(p.Low-50*(1-level)) > 1e-6 || math.Abs(p.High-50*(1+level)) > 1e-6 || p.Level != level {
			t.Errorf("level %v: %+v", level, p)
		}
		if got := d.Chance(p.High) - d.Chance(p.Low); math.Abs(got-level) > 1e-6 {
			t.Errorf("level %v: its interval holds %v", level, got)
		}
		if curve := d.Curve(); len(curve) != 11 || curve[5] != (Start{50, 0.5}) {
			t.Errorf("level %v: curve %v", level, curve)
		}
	}
	// The ends of the 80 % interval are the 10 and 90 % points of the curve.
	d := FromSamples(0.8, hundred())
	if p, curve := d.Interval(), d.Curve(); math.Abs(p.Low-curve[1].Seconds) > 1e-6 || math.Abs(p.High-curve[9].Seconds) > 1e-6 {
		t.Errorf("%+v beside %v", p, curve)
	}
}

func TestChance(t *testing.T) {
	d := FromSamples(0.8, hundred())
	zeros := FromSamples(0.8, stats.Sort([]float64{0, 0, 0, 100}))
	for _, tt := range []struct {
		name          string
		d             Distribution
		seconds, want float64
	}{
		{"before the submission", d, -1, 0},
		{"the value", d, 50, 0.5},
		{"between two quantiles", d, 33, 0.33},
		{"beyond the last sample", d, 100, 1},
		{"beyond the last quantile", Quantiles(0.8, func(p float64) float64 { return 100 * p }), 199, 0.9975},
		{"three of four at once", zeros, 0, 0.6},
		{"only the value is known", Distribution{Value: 5}, 1e9, 0},
		{"all at once", FromSamples(0.8, stats.Sort([]float64{0, 0})), 0, 1},
	} {
		if got := tt.d.Chance(tt.seconds); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: chance %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, chance := range []float64{0.02, 0.1, 0.33, 0.5, 0.95} {
		if got := d.Chance(d.By(chance)); math.Abs(got-chance) > 1e-9 {
			t.Errorf("by %v s with a chance of %v, want %v", d.By(chance), got, chance)
		}
	}
	if p := (Distribution{Value: 5, Level: 0.8}).Interval(); p.IsBounded() || p.Value != 5 {
		t.Errorf("only the value is known: %+v", p)
	}
}

// TestStretchTo: the interval becomes the given one, the curve follows, and no wait is
// negative.
func TestStretchTo(t *testing.T) {
	d := FromSamples(0.8, hundred())
	wide := d.StretchTo(d.Interval().Widen(1.5))
	p := wide.Interval()
	if math.Abs(p.High-110) > 1e-6 || p.Low != 0 || wide.Curve()[9].Seconds != p.High {
		t.Errorf("%+v beside %v", p, wide.Curve())
	}
	if same := d.StretchTo(d.Interval()); same.Interval() != d.Interval() {
		t.Errorf("%+v", same.Interval())
	}
	now := FromSamples(0.8, stats.Sort([]float64{0, 0}))
	for _, high := range []float64{0, 600} { // a node that may have to boot
		if got := now.StretchTo(uncertainty.Prediction{High: high, Level: 0.8}); math.Abs(got.Interval().High-high) > 1e-6 || got.Curve()[5].Seconds != 0 {
			t.Errorf("no wait, up to %v s: %+v", high, got)
		}
	}
}

// TestNoFraction: a predicted wait below a second is none.
func TestNoFraction(t *testing.T) {
	s, err := newSpread(0.8)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * fewestStarts { // before and after an interval is known
		for _, seconds := range []float64{0, 4e-14, 0.9, 1, 30} {
			d := s.about(seconds)
			if value := dropFraction(d.Value); value != d.Value || seconds < 1 && d.Value != 0 || seconds >= 1 && d.Value != seconds {
				t.Errorf("%v s: %v", seconds, d.Value)
			}
			for _, start := range d.starts {
				if start.Seconds > 0 && start.Seconds < 1 {
					t.Errorf("%v s: %+v", seconds, start)
				}
			}
		}
		s.learn(0, 0.5)
	}
}
