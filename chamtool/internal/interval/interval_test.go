package interval

import (
	"math"
	"math/rand/v2"
	"testing"
)

// There are no ends until the level can be reached, then the largest errors.
func TestStart(t *testing.T) {
	var e Ends
	for i := range 19 {
		if p := e.Around(100); p.IsBounded() || p.Value != 100 {
			t.Errorf("after %d errors: %+v", i, p)
		}
		e.Observe(100, 100*math.Pow(1.01, float64(i-9)))
	}
	p := e.Around(50)
	if want := 50 * math.Pow(1.01, 9); !(math.Abs(p.High-want) <= 1e-9) || !(math.Abs(p.Low-2500/want) <= 1e-9) || p.Level != 0.9 {
		t.Errorf("%+v, want ends at a factor of 1.01^9", p)
	}
}

// miss counts the outcomes beyond either end from a place of a stream on. Each outcome
// arrives late predictions after its own.
func miss(n, from, late int, spread func(i int) float64) (below, above float64) {
	r := rand.New(rand.NewPCG(4, 4))
	var e Ends
	var waiting []float64
	for i := range n {
		y := 10 * math.Exp(spread(i)*r.NormFloat64())
		p := e.Around(10)
		if i >= from && y < p.Low {
			below += 1 / float64(n-from)
		}
		if i >= from && y > p.High {
			above += 1 / float64(n-from)
		}
		if waiting = append(waiting, y); len(waiting) > late {
			e.Observe(10, waiting[0])
			waiting = waiting[1:]
		}
	}
	return below, above
}

// Each end misses its part, whatever the spread does.
func TestTails(t *testing.T) {
	for name, spread := range map[string]func(i int) float64{
		"steady":  func(int) float64 { return 0.1 },
		"drift":   func(i int) float64 { return 0.01 + float64(i)/20_000 },
		"jumps":   func(i int) float64 { return 0.05 * float64(1+3*(i/500%2)) },
		"shrinks": func(i int) float64 { return 1 / float64(1+i/1000) },
	} {
		below, above := miss(20_000, 100, 0, spread)
		if !(math.Abs(below-tail) <= 0.1*tail) || !(math.Abs(above-tail) <= 0.1*tail) {
			t.Errorf("%s: %.4f below, %.4f above", name, below, above)
		}
	}
}

// After a jump of the errors by a factor of a hundred the level holds again.
func TestComesBack(t *testing.T) {
	below, above := miss(4000, 1200, 0, func(i int) float64 {
		if i < 1000 {
			return 0.01
		}
		return 1
	})
	if !(math.Abs(below-0.05) <= 0.01) || !(math.Abs(above-0.05) <= 0.01) {
		t.Errorf("%.3f below, %.3f above", below, above)
	}
}

// A hundred predictions that wait for their outcomes do not make the ends overshoot.
func TestLateOutcomes(t *testing.T) {
	below, above := miss(20_000, 500, 100, func(int) float64 { return 0.3 })
	if !(math.Abs(below-0.05) <= 0.01) || !(math.Abs(above-0.05) <= 0.01) {
		t.Errorf("%.3f below, %.3f above", below, above)
	}
}

func BenchmarkObserve(b *testing.B) {
	var e Ends
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Observe(10, 9+float64(i%3))
	}
}
