package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Generator describes a synthetic workload. Its zero value, with the
// defaults named below, is the one that the AlloX simulator's input generator
// describes: 10 queues of 1,000 jobs, five jobs at a time in turn over the
// queues, 15.03 s apart on average, and three classes of jobs twice as fast on
// a GPU.
type Generator struct {
	Seed  uint64
	Users int // 0 means 10
	Jobs  int // of each user; 0 means 1,000
	Batch int // jobs that arrive at a time; 0 means 5
	// MeanGap is the mean time between batches in seconds, Poisson
	// distributed; 0
	// means 15.03, cut to 5..29 as the simulator's own list is. AtOnce lets all jobs arrive at time 0 instead.
	MeanGap float64
	AtOnce  bool
	// ErrorMean and ErrorSD are those of the Gaussian relative error of each
	// estimate, drawn apart for CPU and GPU and cut to +-0.99 as the
	// simulations of the AlloX paper do.
	ErrorMean, ErrorSD float64
	// Spread is the standard deviation of the logarithm of a factor on each
	// job's times, drawn apart for CPU and GPU; 0 keeps the classes exact.
	Spread float64
}

// class is a kind of generated job.
type class struct{ memory, cpuSeconds, gpuSeconds float64 }

// Classes, demands and gaps after the simulator's generator.
var classes = []class{{15, 50, 25}, {20, 150, 75}, {20, 250, 125}}

const (
	shortestGap = 5
	longestGap  = 29
	classCPUs   = 32
	gpuMemory   = 2
)

// Generate returns the workload. The same Generator gives the same jobs.
func (g Generator) Generate() (*Workload, error) {
	g.setDefaults()
	if g.Users < 0 || g.Jobs < 0 || g.Batch < 0 || g.Users*g.Jobs > 10_000_000 {
		return nil, fmt.Errorf("generate %d users with %d jobs in batches of %d: not a workload", g.Users, g.Jobs, g.Batch)
	}
	for _, x := range []float64{g.MeanGap, g.ErrorSD, g.Spread} {
		if !(x >= 0 && x <= 1e6) {
			return nil, errors.New("generate: a gap, error or spread is below 0 or too large")
		}
	}
	if !(math.Abs(g.ErrorMean) < 1) {
		return nil, errors.New("generate: the mean error is not between -1 and 1")
	}
	// One stream for each thing drawn: more jobs or another error keep the rest.
	kinds, gaps, errs, spreads := stream(g.Seed, 1), stream(g.Seed, 2), stream(g.Seed, 3), stream(g.Seed, 4)
	w := &Workload{}
	arrival := 0.0
	for i := range g.Users * g.Jobs {
		if i > 0 && i%g.Batch == 0 && !g.AtOnce {
			arrival += g.gap(gaps)
		}
		c := classes[kinds.IntN(len(classes))]
		stage := Stage{Name: "stage", Tasks: 1}
		stage.On[CPU] = Demand{classCPUs, c.memory, c.cpuSeconds * g.factor(spreads), g.error(errs)}
		stage.On[GPU] = Demand{1, gpuMemory, c.gpuSeconds * g.factor(spreads), g.error(errs)}
		w.Jobs = append(w.Jobs, Job{
			ID: i, User: fmt.Sprintf("queue%d", i%g.Users), Arrival: arrival,
			Stages: []Stage{stage}, Name: fmt.Sprint(i), Iterations: 1, Session: -1,
		})
	}
	w.Counts.Read, w.Counts.Used = len(w.Jobs), len(w.Jobs)
	return w, nil
}

func (g *Generator) setDefaults() {
	for _, d := range []struct {
		field *int
		value int
	}{{&g.Users, 10}, {&g.Jobs, 1000}, {&g.Batch, 5}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if g.MeanGap == 0 {
		g.MeanGap = 15.03
	}
}

func stream(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// gap draws a number of whole seconds, cut where the default mean is kept.
func (g *Generator) gap(rng *rand.Rand) float64 {
	n := poisson(rng, g.MeanGap)
	if g.MeanGap == 15.03 {
		n = min(max(n, shortestGap), longestGap)
	}
	return n
}

// poisson draws by counting unit exponentials up to the mean.
func poisson(rng *rand.Rand, mean float64) float64 {
	n := 0.0
	for left := mean - rng.ExpFloat64(); left > 0; left -= rng.ExpFloat64() {
		n++
	}
	return n
}

func (g *Generator) error(rng *rand.Rand) float64 {
	return min(max(g.ErrorMean+g.ErrorSD*rng.NormFloat64(), -0.99), 0.99)
}

func (g *Generator) factor(rng *rand.Rand) float64 { return math.Exp(g.Spread * rng.NormFloat64()) }

// Perturb replaces every estimate's error by a Gaussian one, drawn from the
// seed and cut to +-0.99.
func Perturb(jobs []Job, mean, sd float64, seed uint64) error {
	if !(math.Abs(mean) < 1) || !(sd >= 0 && sd <= 1e6) {
		return fmt.Errorf("error with mean %v and standard deviation %v: not a distribution", mean, sd)
	}
	g, rng := Generator{ErrorMean: mean, ErrorSD: sd}, stream(seed, 3)
	for i := range jobs {
		for s := range jobs[i].Stages {
			for d := range jobs[i].Stages[s].On {
				if jobs[i].Stages[s].absent(Device(d)) {
					continue
				}
				jobs[i].Stages[s].On[d].Error = g.error(rng)
			}
		}
	}
	return nil
}
