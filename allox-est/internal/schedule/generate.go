package schedule

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Generator describes a synthetic workload. Its zero value, with the
// defaults named below, is the one that the AlloX simulator's input generator
// describes: 10 queues of 1,000 jobs, five jobs at a time in turn over the
// queues, 15.03 s apart on average (Poisson, cut to 5..29 as the simulator's own
// list is), and three classes of jobs twice as fast on a GPU.
type Generator struct {
	Seed  uint64
	Users int // 0 means 10
	Jobs  int // of each user; 0 means 1,000
	// ErrorSD is the standard deviation of the Gaussian relative error of each
	// estimate, drawn apart for CPU and GPU and cut to +-0.99 as the simulations
	// of the AlloX paper do.
	ErrorSD float64
	// Spread is the standard deviation of the logarithm of a factor on each
	// job's times, drawn apart for CPU and GPU; 0 keeps the classes exact.
	Spread float64
}

// class is a kind of generated job.
type class struct{ cpuSeconds, gpuSeconds float64 }

// Classes and gaps after the simulator's generator.
var classes = []class{{50, 25}, {150, 75}, {250, 125}}

const (
	batch       = 5 // jobs that arrive at a time
	meanGap     = 15.03
	shortestGap = 5
	longestGap  = 29
)

// Generate returns the jobs. The same Generator gives the same jobs.
func (g Generator) Generate() (*Workload, error) {
	if g.Users == 0 {
		g.Users = 10
	}
	if g.Jobs == 0 {
		g.Jobs = 1000
	}
	if g.Users < 0 || g.Jobs < 0 || g.Users*g.Jobs > 1_000_000 {
		return nil, fmt.Errorf("generate: %d users with %d jobs each: want numbers above 0 and at most 1000000 jobs", g.Users, g.Jobs)
	}
	for _, x := range []float64{g.ErrorSD, g.Spread} {
		if !(x >= 0 && x <= 1e6) {
			return nil, errors.New("generate: error or spread out of range: want 0 to 1e6")
		}
	}
	// One stream for each thing drawn: more jobs or another error keep the rest.
	kinds, gaps, errs, spreads := stream(g.Seed, 1), stream(g.Seed, 2), stream(g.Seed, 3), stream(g.Seed, 4)
	w := &Workload{}
	arrival := 0.0
	for i := range g.Users * g.Jobs {
		if i > 0 && i%batch == 0 {
			arrival += min(max(poisson(gaps, meanGap), shortestGap), longestGap)
		}
		c := classes[kinds.IntN(len(classes))]
		w.Jobs = append(w.Jobs, Record{
			ID: i, User: fmt.Sprintf("queue%d", i%g.Users), Arrival: arrival, Name: fmt.Sprint(i),
			On: [Devices]Demand{
				CPU: {Seconds: c.cpuSeconds * g.factor(spreads), Error: g.error(errs)},
				GPU: {Seconds: c.gpuSeconds * g.factor(spreads), Error: g.error(errs)},
			},
		})
	}
	w.Counts.Read, w.Counts.Used = len(w.Jobs), len(w.Jobs)
	return w, nil
}

func stream(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// poisson draws by counting unit exponentials up to the mean.
func poisson(rng *rand.Rand, mean float64) float64 {
	n := 0.0
	for left := mean - rng.ExpFloat64(); left > 0; left -= rng.ExpFloat64() {
		n++
	}
	return n
}

func (g *Generator) error(rng *rand.Rand) float64 {
	return min(max(g.ErrorSD*rng.NormFloat64(), -0.99), 0.99)
}

func (g *Generator) factor(rng *rand.Rand) float64 { return math.Exp(g.Spread * rng.NormFloat64()) }
