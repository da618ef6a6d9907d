package perfmodel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Tasks of microseconds: few of their runs are learned from, yet their intervals hold
// what they promise in every eighth of the run, and the answer is the best single one.
func TestMicroseconds(t *testing.T) {
	stall := func(r *rand.Rand) float64 {
		if r.IntN(50) == 0 {
			return 200
		}
		return 1
	}
	for name, seconds := range map[string]func(r *rand.Rand, i int) float64{
		"scattered":        func(r *rand.Rand, _ int) float64 { return 4e-6 * math.Exp(0.1*r.NormFloat64()) },
		"nearly constant":  func(r *rand.Rand, _ int) float64 { return 20e-6 * math.Exp(0.001*r.NormFloat64()) },
		"with stalls":      func(r *rand.Rand, _ int) float64 { return 2e-6 * stall(r) * math.Exp(0.05*r.NormFloat64()) },
		"slower by thirds": func(r *rand.Rand, i int) float64 { return 5e-6 * float64(1+i/27_000) * math.Exp(0.1*r.NormFloat64()) },
		"sizes of two kinds": func(r *rand.Rand, i int) float64 {
			return 1e-6 * float64(1+9*r.IntN(2)) * math.Exp(0.1*r.NormFloat64())
		},
	} {
		t.Run(name, func(t *testing.T) {
			const runs = 80_000
			r := rand.New(rand.NewPCG(1, 2))
			e := New(Auto).Entry("f")
			f := e.Footprint(nil)
			var held [8]float64
			var all, errors []float64
			for i := range runs {
				y := seconds(r, i)
				p := &Prediction{}
				if e.IsReady(f) {
					p = e.PredictAt(f, Moment{}, p)
				}
				e.ObserveAt(f, Moment{}, p, y)
				if p.Low <= y && y <= p.High {
					held[i*8/runs] += 8.0 / runs
				}
				if i > runs*7/8 {
					all, errors = append(all, y), append(errors, math.Abs(p.Value/y-1))
				}
			}
			for i, share := range held {
				if share < 0.87 || share > 0.93 {
					t.Errorf("eighth %d: %.3f inside", i+1, share)
				}
			}
			if best := least(all); mean(errors) > 1.1*best {
				t.Errorf("mean relative error %.3f, the best single answer has %.3f", mean(errors), best)
			}
		})
	}
}

// least is the mean relative error of the best single answer.
func least(seconds []float64) float64 {
	best := math.Inf(1)
	slices.Sort(seconds)
	for i := 0; i < len(seconds); i += 1 + len(seconds)/200 {
		sum := 0.0
		for _, y := range seconds {
			sum += math.Abs(seconds[i]/y - 1)
		}
		best = min(best, sum/float64(len(seconds)))
	}
	return best
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Following a run allocates nothing.
func TestTrackedAllocatesNothing(t *testing.T) {
	e := New(Auto).Entry("f")
	f, p := e.Footprint(nil), &Prediction{}
	for range 10_000 {
		e.Observe(f, 1e-6)
	}
	if n := testing.AllocsPerRun(100, func() {
		e.ObserveAt(f, Moment{}, e.PredictAt(f, Moment{}, p), 1e-6)
	}); n > 0 {
		t.Errorf("%v allocations for a run", n)
	}
}

// A task that was only tracked judges no expert, even if its run turns out to be long enough
// to learn from.
func TestTrackedJudgesNobody(t *testing.T) {
	e := New(Auto).Entry("f")
	f := e.Footprint(nil)
	for range 10_000 {
		e.Observe(f, 1e-6)
	}
	p := &Prediction{}
	for p.Value == 0 || p.whole { // until one is not asked in full
		p = e.PredictAt(f, Moment{}, p)
	}
	e.ObserveAt(f, Moment{}, p, 1) // a stall: known no more
	before := e.mixtures
	e.ObserveAt(f, Moment{}, p, 1e-6)
	if e.mixtures != before {
		t.Errorf("the mixtures became %+v, were %+v", e.mixtures, before)
	}
}
