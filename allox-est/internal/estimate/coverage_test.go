package estimate

import (
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
)

// The intervals hold the whole run's time as often as they say, on simulated
// jobs. The beliefs before looking are wider than the noise here: they may hold
// up to 4.5 points more.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	coverage(t, coveragetest.CheckFew)
}

// TestStatisticsCoverage asks for as many cases as the promise needs.
func TestStatisticsCoverage(t *testing.T) { coverage(t, coveragetest.Check) }

func coverage(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	ask := func(s scenario) coveragetest.Predictor {
		return coveragetest.Predictor{
			Name: s.name, Level: 0.95, Above: 0.045, OneSided: true,
			Run: func(seed uint64) []uncertainty.Case {
				rng := rand.New(rand.NewPCG(seed, 95))
				var cases []uncertainty.Case
				for range 50 {
					e, err := New([]journal.Run{s.run(5, true, rng), s.run(10, true, rng)}, Job{Epochs: simEpochs, Device: "cpu"}, Settings{})
					if err != nil {
						t.Fatal(err)
					}
					cases = append(cases, uncertainty.Case{Prediction: e.Wall, Actual: s.run(simEpochs, false, rng).Wall})
				}
				return cases
			},
		}
	}
	check(t, []coveragetest.Predictor{
		ask(scenario{name: "noise of 3 %", cost: plain}),
		ask(scenario{name: "noise of 15 %", cost: plain, sd: 0.15}),
		ask(scenario{name: "warm-up", cost: warming}),
	})
}
