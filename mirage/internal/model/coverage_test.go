package model

import (
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
)

// TestCoverage: the intervals of models and of policies that look at the latest
// waits hold what they promise. Waits are an hour for each ten pending jobs and
// noise, or drawn from one exponential law.
func TestCoverage(t *testing.T) { coverage(t, coveragetest.CheckFew) }

// TestStatisticsCoverage asks for as many cases as the promise needs.
func TestStatisticsCoverage(t *testing.T) { coverage(t, coveragetest.Check) }

func coverage(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	kind := func(name string) coveragetest.Predictor {
		l := learner(t, name)
		return coveragetest.Predictor{Name: name, Level: bandLevel, Above: .01, Run: func(seed uint64) []uncertainty.Case {
			set := madeFrom(rand.New(rand.NewPCG(seed, 9)), 500)
			known := &samples.Set{Samples: set.Samples[:400]}
			m, _, err := Train(t.Context(), name, l, []*samples.Set{known}, Settings{OverlapCost: 1, Seed: seed, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			var cases []uncertainty.Case
			for i := range set.Samples[400:] {
				s := &set.Samples[400+i]
				h, err := m.scorer.Hours(sampleFeatures(s))
				if err != nil {
					t.Fatal(err)
				}
				cases = append(cases, uncertainty.Case{Prediction: m.about(h), Actual: float64(s.SuccStart-s.Decision) / 3600})
			}
			return cases
		}}
	}
	latest := func(name string, p policy.Policy) coveragetest.Predictor {
		return coveragetest.Predictor{Name: name, Level: .9, Above: .01, Run: func(seed uint64) []uncertainty.Case {
			rng := rand.New(rand.NewPCG(seed, 10))
			var cases []uncertainty.Case
			for range 20 {
				s := &policy.State{}
				for range 200 {
					s.Waits = append(s.Waits, 3600*rng.ExpFloat64())
				}
				d, err := p.Decide(s)
				if err != nil {
					t.Fatal(err)
				}
				cases = append(cases, uncertainty.Case{Prediction: d.Expected, Actual: rng.ExpFloat64()})
			}
			return cases
		}}
	}
	check(t, []coveragetest.Predictor{
		kind("boost"),
		latest("avg", policy.Average{}), latest("quantile", policy.Quantile{Q: .7}),
	})
}
