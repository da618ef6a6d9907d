package simulator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/crash"
)

// ErrRange is returned when a range of time holds too few jobs to calibrate on.
var ErrRange = errors.New("too few jobs for a fit")

// Grid holds the values that a search may choose from, and its range of submissions. The first
// value of each list is the start.
type Grid struct {
	From, To   int64 // Unix seconds, half-open
	Nodes      []int
	UserLimits []int     // 0 is no limit
	Logged     []float64 // weight of the logged priority; 0 is off
	Size       []float64
	Age        []float64
	// Kinds are the nodes where they are known, as many as Nodes has them.
	Kinds []cluster.Kind
}

// GridFor returns the grid for a range of a log: nodes from four fifths of the
// most that were in use at once to all of them, in steps of a hundredth or so, no
// user limit or the most jobs that any user ran at once or one more, and a few
// weights about Slurm's.
func GridFor(jobs []trace.Job, from, to int64) Grid {
	jobs = (&trace.Trace{Jobs: jobs}).Between(from, to)
	peak := (&trace.Trace{Jobs: jobs}).PeakNodes()
	g := Grid{From: from, To: to, Size: []float64{100, 200, 400}, Age: []float64{7000}}
	for n := peak; n >= max(1, peak*4/5); n -= max(peak/80, 1) {
		g.Nodes = append(g.Nodes, n)
	}
	most := trace.PeakUserJobs(jobs)
	g.UserLimits = []int{0, most, most + 1}
	g.Logged = []float64{0}
	if slices.ContainsFunc(jobs, func(j trace.Job) bool { return j.Priority != jobs[0].Priority }) {
		g.Logged = []float64{1, 0, 0.5, 1.5, 2, 3}
	}
	return g
}

// Found is the outcome of a search.
type Found struct {
	Config Config
	Loss   float64
	Tried  int
}

// WarmDays is the number of days before the training range that fill its initial queue.
const WarmDays = 28

// Search finds the settings of a Slurm-like scheduler with the least loss on
// the jobs of the grid's range. The simulations begin four weeks earlier
// (WarmDays) with an idle machine; other jobs are not looked at. workers
// simulations run at once; their number does not change the outcome. progress is
// called at every simulation. The error wraps ErrRange.
func Search(ctx context.Context, jobs []trace.Job, g Grid, workers int, progress func()) (*Found, error) {
	all := trace.Trace{Jobs: jobs}
	if n := len(all.Between(g.From, g.To)); n < 100 {
		return nil, fmt.Errorf("%w: %d, want at least 100", ErrRange, n)
	}
	train := all.Between(g.From-WarmDays*86400, g.To)
	s := &search{ctx: ctx, train: train, grid: g, workers: max(workers, 1), progress: progress, known: map[point]float64{}}
	if len(g.Nodes) == 0 || len(g.UserLimits) == 0 || len(g.Logged) == 0 || len(g.Size) == 0 || len(g.Age) == 0 {
		return nil, fmt.Errorf("%w: the grid has an empty list", ErrRange)
	}
	best := point{g.Nodes[0], g.UserLimits[0], g.Logged[0], g.Size[0], g.Age[0]}
	machine := func(p point) (around []point) {
		for _, n := range g.Nodes {
			for _, l := range g.UserLimits {
				around = append(around, point{n, l, p.logged, p.size, p.age})
			}
		}
		return around
	}
	weights := func(p point) (around []point) {
		for _, l := range g.Logged {
			for _, size := range g.Size {
				for _, age := range g.Age {
					around = append(around, point{p.nodes, p.limit, l, size, age})
				}
			}
		}
		return around
	}
	for {
		before := best
		for _, neighbours := range []func(point) []point{machine, weights} {
			var err error
			if best, err = s.best(neighbours(best)); err != nil {
				return nil, err
			}
		}
		if best == before {
			return &Found{s.config(best), s.known[best], len(s.known)}, nil
		}
	}
}

// point is a position in the grid.
type point struct {
	nodes, limit      int
	logged, size, age float64
}

// config returns the settings at a point.
func (s *search) config(p point) Config {
	rules := cluster.Defaults(cluster.Slurm)
	rules.UserLimit = p.limit
	rules.LoggedPriority = p.logged > 0
	rules.Weights.Logged = max(p.logged, 0)
	if p.logged == 0 {
		rules.Weights.Logged = 1
	}
	rules.Weights.Size, rules.Weights.Age = p.size, p.age
	return Config{Machine: cluster.Machine{Nodes: p.nodes, Kinds: s.grid.Kinds}, Rules: rules}
}

type search struct {
	ctx      context.Context
	train    []trace.Job
	grid     Grid
	workers  int
	progress func()
	known    map[point]float64
}

// best evaluates points and returns the first of those with the least loss.
func (s *search) best(points []point) (point, error) {
	var todo []point
	for _, p := range points {
		if _, ok := s.known[p]; !ok {
			todo = append(todo, p)
		}
	}
	losses := make([]float64, len(todo))
	var group crash.Group
	group.SetLimit(s.workers)
	for i, p := range todo {
		group.Go(func() (err error) { losses[i], err = s.loss(p); return err })
	}
	if err := group.Wait(); err != nil {
		return point{}, err
	}
	for i, p := range todo {
		s.known[p] = losses[i]
	}
	best, least := points[0], math.Inf(1)
	for _, p := range points {
		if l := s.known[p]; l < least {
			best, least = p, l
		}
	}
	return best, nil
}

func (s *search) loss(p point) (float64, error) {
	w, err := NewWorkload(s.train, s.config(p))
	if err != nil {
		return 0, err
	}
	r, err := w.Simulate(s.ctx, nil)
	if err != nil {
		return 0, err
	}
	s.progress()
	return Loss(r, s.grid.From, s.grid.To), nil
}
