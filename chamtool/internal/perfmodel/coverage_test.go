package perfmodel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
)

// stream predicts each run of a made program before it is learned; the first
// half is there to learn from.
func stream(runs int, seconds func(r *rand.Rand, i int) (size int64, s float64)) func(uint64) []uncertainty.Case {
	return func(seed uint64) (cases []uncertainty.Case) {
		r := rand.New(rand.NewPCG(seed, 11))
		e := New(Auto).Entry("f")
		for i := range runs {
			size, s := seconds(r, i)
			fp := e.Footprint([]int64{size})
			if p, err := e.Predict(fp); err == nil && i >= runs/2 {
				cases = append(cases, uncertainty.Case{Prediction: p.Prediction, Actual: s, Block: fmt.Sprint(seed)})
			}
			e.Observe(fp, s)
		}
		return cases
	}
}

// Every interval holds what it promises: times that scatter about a law of the
// sizes, about each size's own, with heavy tails, and on a machine whose speed
// wanders.
func TestCoverage(t *testing.T) { coverage(t, coveragetest.CheckFew) }

// TestStatisticsCoverage asks for as many cases as the promise needs.
func TestStatisticsCoverage(t *testing.T) { coverage(t, coveragetest.Check) }

func coverage(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	scattered := func(r *rand.Rand, _ int) (int64, float64) {
		size := 1000 + r.Int64N(100_000)
		return size, truth(r, size, 0.3)
	}
	own := func(r *rand.Rand, _ int) (int64, float64) {
		k := r.IntN(8)
		return int64(1000 * k), []float64{5e-3, 1e-4, 2e-2, 3e-4, 8e-3, 6e-4, 1, 0.2}[k] * math.Exp(0.2*r.NormFloat64())
	}
	heavy := func(r *rand.Rand, _ int) (int64, float64) {
		return 1000, 1e-3 * math.Exp(0.2*r.NormFloat64()/math.Sqrt(r.Float64()+0.01))
	}
	wandering := func(r *rand.Rand, i int) (int64, float64) {
		return 1000, 1e-3 * math.Exp(0.1*r.NormFloat64()+0.5*math.Sin(float64(i)/150))
	}
	check(t, []coveragetest.Predictor{
		{Name: "task, law of sizes", Level: 0.9, Run: stream(600, scattered), Above: 0.02},
		{Name: "task, each size its own", Level: 0.9, Run: stream(600, own), Above: 0.02},
		{Name: "task, heavy tails", Level: 0.9, Run: stream(600, heavy), Above: 0.02},
		{Name: "task, wandering speed", Level: 0.9, Run: stream(600, wandering), Above: 0.02},
	})
}
