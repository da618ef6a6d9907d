package matching

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func drawJobs(n int, rng *rand.Rand) [][]float64 {
	jobs := make([][]float64, n)
	for i := range jobs {
		gpu := 25 + 100*rng.Float64()
		jobs[i] = []float64{gpu * (1 + 3*rng.Float64()), gpu}
	}
	return jobs
}

func newPlan(b testing.TB, cpus, gpus int, jobs [][]float64) *Plan {
	p, err := New([][]float64{make([]float64, cpus), make([]float64, gpus)})
	if err != nil {
		b.Fatal(err)
	}
	for _, seconds := range jobs {
		if _, err := p.Add(seconds); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// BenchmarkMatch builds the optimal plan of jobs that are all there at once.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{50, 200, 1000, 3000} {
		b.Run(fmt.Sprintf("jobs=%d/machines=100", n), func(b *testing.B) {
			jobs := drawJobs(n, rand.New(rand.NewPCG(1, 1)))
			b.ReportAllocs()
			for b.Loop() {
				newPlan(b, 80, 20, jobs)
			}
		})
	}
}

// BenchmarkReplay also runs the plan: whenever a machine is free its first job
// leaves the plan, and the rest is matched anew.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{50, 200, 1000, 3000} {
		b.Run(fmt.Sprintf("jobs=%d/machines=100", n), func(b *testing.B) {
			jobs := drawJobs(n, rand.New(rand.NewPCG(1, 1)))
			b.ReportAllocs()
			for b.Loop() {
				drain(b, newPlan(b, 80, 20, jobs), jobs)
			}
		})
	}
}

// drain runs a plan to its end and returns the sum of completion times.
func drain(b testing.TB, p *Plan, jobs [][]float64) float64 {
	sum := 0.0
	for p.Len() > 0 {
		// The machine that is free first and has a job.
		t, i, best := -1, -1, 0.0
		for k := range p.types {
			for m, ready := range p.types[k].ready {
				if _, ok := p.First(k, m); ok && (t < 0 || ready < best) {
					t, i, best = k, m, ready
				}
			}
		}
		id, _ := p.First(t, i)
		p.Remove(id)
		end := best + jobs[id][t]
		sum += end
		if err := p.SetReady(t, i, end); err != nil {
			b.Fatal(err)
		}
	}
	return sum
}

// Run to its end without errors or arrivals, a plan costs what it promised.
func TestDrain(t *testing.T) {
	for _, n := range []int{1, 7, 60, 300} {
		jobs := drawJobs(n, rand.New(rand.NewPCG(2, uint64(n))))
		p := newPlan(t, 8, 3, jobs)
		promised := p.Cost()
		if got := drain(t, p, jobs); got > promised*(1+1e-9) || got < promised*(1-1e-9) {
			t.Errorf("%d jobs: ran at %v, promised %v", n, got, promised)
		}
	}
}
