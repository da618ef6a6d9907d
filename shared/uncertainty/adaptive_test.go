package uncertainty_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

func median(values []float64) float64 { return stats.Median(values) }

func adaptive(t testing.TB, s uncertainty.Scale, level float64) *uncertainty.Adaptive {
	a, err := uncertainty.NewAdaptive(s, level)
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

// TestAdaptiveStart checks that there are no ends until the level can be reached,
// then the farthest errors.
func TestAdaptiveStart(t *testing.T) {
	a := adaptive(t, uncertainty.Offset, 0.9)
	for i := range 19 {
		if p := a.Predict(100); p.Bounded() || p.Value != 100 {
			t.Errorf("after %d errors: %+v", i, p)
		}
		if err := a.Observe(100, 100+float64(i-9)); err != nil {
			t.Fatal(err)
		}
	}
	p := a.Predict(50)
	near(t, "low", p.Low, 41, 1e-6)
	near(t, "high", p.High, 59, 1e-6)
	near(t, "level", p.Level, 0.9, 1e-12)
}

func TestAdaptiveErrors(t *testing.T) {
	for _, level := range []float64{0, 1, -1, 0.97, math.NaN()} {
		if _, err := uncertainty.NewAdaptive(uncertainty.Offset, level); !errors.Is(err, uncertainty.ErrLevel) {
			t.Errorf("level %v: %v", level, err)
		}
	}
	a := adaptive(t, uncertainty.Factor, 0.5)
	for _, c := range []struct{ value, y float64 }{{0, 1}, {-1, 1}, {1, -1}, {math.NaN(), 1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if err := a.Observe(c.value, c.y); !errors.Is(err, uncertainty.ErrValue) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if p := a.Predict(0); p.Bounded() {
		t.Errorf("a factor of nothing: %+v", p)
	}
}

// TestAdaptiveAgainstAModel checks that the window is the last 64 errors, in order.
func TestAdaptiveAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, err := uncertainty.NewAdaptive(uncertainty.Offset, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		ys := rapid.SliceOfN(rapid.IntRange(-20, 20), 100, 200).Draw(t, "errors")
		low, high := 0.25, 0.25 // the miss rates, learnt as in the paper
		for i, y := range ys {
			p := a.Predict(0)
			if i >= 3 {
				recent := make([]float64, 0, 64)
				for _, r := range ys[max(0, i-64):i] {
					recent = append(recent, float64(r))
				}
				s := stats.Sort(recent)
				wantLow, wantHigh := rankOf(s, low), -rankOf(negated(s), high)
				if math.Abs(p.Low-min(wantLow, 0)) > 1e-4 || math.Abs(p.High-max(wantHigh, 0)) > 1e-4 {
					t.Fatalf("after %d: %+v, want [%v, %v]", i, p, wantLow, wantHigh)
				}
				if float64(y) < wantLow {
					low -= 0.01
				}
				if float64(y) > wantHigh {
					high -= 0.01
				}
				low, high = low+0.01*0.25, high+0.01*0.25
			}
			if err := a.Observe(0, float64(y)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// rankOf returns the value at the rank (n+1) p, interpolated between its two
// neighbours.
func rankOf(s stats.Sorted, p float64) float64 {
	at := min(float64(len(s)+1)*p, float64(len(s))) - 1
	if at < 0 {
		return s[0] + (s[0]-s[len(s)/2])*-at
	}
	below := int(at)
	above := min(below+1, len(s)-1)
	return s[below] + (at-float64(below))*(s[above]-s[below])
}

func negated(s stats.Sorted) stats.Sorted {
	n := make([]float64, len(s))
	for i, v := range s {
		n[i] = -v
	}
	return stats.Sort(n)
}

// TestAdaptiveComesBack checks that after a jump of the errors it misses for a
// while, and no more than promised in the long run.
func TestAdaptiveComesBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	a := adaptive(t, uncertainty.Offset, 0.9)
	late := 0
	for i := range 4000 {
		spread := 1.0
		if i >= 1000 {
			spread = 1000
		}
		y := spread * rng.NormFloat64()
		if !a.Predict(0).Contains(y) && i >= 2000 {
			late++
		}
		if err := a.Observe(0, y); err != nil {
			t.Fatal(err)
		}
	}
	near(t, "missed of 2000 after the jump", float64(late), 200, 60)
}

func TestAdaptiveDoesNotAllocate(t *testing.T) {
	a := adaptive(t, uncertainty.Factor, 0.9)
	rng := rand.New(rand.NewPCG(1, 1))
	n := testing.AllocsPerRun(1000, func() {
		a.Predict(10)
		if err := a.Observe(10, 10+rng.Float64()); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdaptive(b *testing.B) {
	a := adaptive(b, uncertainty.Factor, 0.9)
	rng := rand.New(rand.NewPCG(1, 1))
	var ys [1024]float64
	for i := range ys {
		ys[i] = 9 + rng.ExpFloat64()
	}
	b.Run("predict", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			a.Predict(10)
		}
	})
	b.Run("observe", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			if a.Observe(10, ys[i%len(ys)]) != nil {
				b.Fatal()
			}
		}
	})
}
