package predictor

import (
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/shared/uncertainty"
	"github.com/foretime/foretime/shared/uncertainty/coveragetest"
)

// A predicted delay holds that of a job met by a request at a random moment, as
// often as it says: whether the noise of the jobs or the queue has more to say.
func TestCoverage(t *testing.T) {
	ask := func(name string, noise, kernel, above float64) coveragetest.Predictor {
		return coveragetest.Predictor{
			Name: name, Level: Level, Above: above,
			Run: func(seed uint64) []uncertainty.Case {
				rng := rand.New(rand.NewPCG(seed, 9))
				truth := Model{SyncMS: 0.03, BaseMS: 40, Kernels: 400, KernelMS: kernel, Queue: 400}
				job := func(n int) float64 { // its time, with n launches between two points
					return truth.SyncMS*float64(truth.Kernels/n) + truth.BaseMS + noise*rng.NormFloat64()
				}
				var cases []uncertainty.Case
				for range 20 {
					var points []Point
					for _, n := range []int{4, 8, 16, 32, 64, 100} {
						points = append(points, Point{Sync: n, JobMS: job(n), Kernels: 400, KernelMS: kernel})
					}
					m, err := FitSweep(points)
					if err != nil {
						t.Fatal(err)
					}
					for _, n := range []int{4, 32, 100} {
						d, err := m.Predict(n)
						if err != nil {
							t.Fatal(err)
						}
						cases = append(cases, uncertainty.Case{Prediction: d.Delay, Actual: job(n) + rng.Float64()*float64(n)*kernel})
					}
				}
				return cases
			},
		}
	}
	coveragetest.Check(t, []coveragetest.Predictor{
		ask("delay, noise of the jobs", 0.5, 0.001, 0.02),
		ask("delay, queue", 0.001, 0.1, 0.02),
		ask("delay, both", 0.5, 0.05, 0.06),
	})
}
