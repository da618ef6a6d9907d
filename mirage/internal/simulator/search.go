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
	"github.com/foretime/foretime/shared/regression"
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
}

// GridFor returns the grid for a range of a log: nodes from four fifths of the
// most that were in use at once to all of them, in steps of a hundredth or so, no
// user limit or the most jobs that any user ran at once or one more, and a few
// weights about Slurm's.
func GridFor(jobs []trace.Job, from, to int64) Grid {
	jobs = (&trace.Trace{Jobs: jobs}).Between(from, to)
	peak := (&trace.Trace{Jobs: jobs}).PeakNodes()
	g := Grid{From: from, To: to, Size: []float64{100, 200, 400}}
	for n := peak; n >= max(1, peak*4/5); n -= max(peak/80, 1) {
		g.Nodes = append(g.Nodes, n)
	}
	most, _ := trace.PeakUserJobs(jobs)
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
	best := point{g.Nodes[0], g.UserLimits[0], g.Logged[0], g.Size[0]}
	machine := func(p point) (around []point) {
		for _, n := range g.Nodes {
			for _, l := range g.UserLimits {
				around = append(around, point{n, l, p.logged, p.size})
			}
		}
		return around
	}
	weights := func(p point) (around []point) {
		for _, l := range g.Logged {
			for _, size := range g.Size {
				around = append(around, point{p.nodes, p.limit, l, size})
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
	nodes, limit int
	logged, size float64
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
	rules.Weights.Size = p.size
	return Config{Machine: cluster.Machine{Nodes: p.nodes}, Rules: rules}
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

// capHours is the longest wait that the loss distinguishes job by job.
const capHours = 24

// Loss compares the simulated and actual waits of the jobs submitted from
// from on and before to: mean |s-a| / mean a and 1 - Spearman of the waits
// capped at a day, plus |mean s / mean a - 1| of the waits as they are. It is
// infinite where the actual waits have no mean.
func Loss(r *Result, from, to int64) float64 {
	var simulated, actual []float64
	var wholeS, wholeA, cappedA, mae float64
	for i := range r.Starts {
		j := &r.Workload.Jobs[i]
		start, _, ok := r.Times(i)
		if !ok || j.NoStart || j.Submit < from || j.Submit >= to {
			continue
		}
		s, a := float64(start-j.Submit)/3600, float64(j.Wait())/3600
		wholeS += s
		wholeA += a
		s, a = min(s, capHours), min(a, capHours)
		simulated, actual = append(simulated, s), append(actual, a)
		cappedA += a
		mae += math.Abs(s - a)
	}
	if wholeA == 0 {
		return math.Inf(1)
	}
	rho, err := regression.Spearman(simulated, actual)
	if err != nil {
		rho = 0 // all simulated waits are the same: they rank nothing
	}
	return mae/cappedA + math.Abs(wholeS/wholeA-1) + 1 - rho
}

// File is the settings file that a search writes: the cluster and its scheduler, and the range
// of time they were fitted on.
type File struct {
	Config
	Zone  string   `json:"zone"`
	From  int64    `json:"train_from"` // Unix seconds, inclusive
	To    int64    `json:"train_to"`   // Unix seconds, exclusive
	Loss  float64  `json:"loss"`
	Train *Quality `json:"train,omitempty"`
	Held  *Quality `json:"held_out,omitempty"`
	All   *Quality `json:"all,omitempty"` // both ranges together
}

// Judge simulates the jobs submitted from four weeks before the training range
// (WarmDays) to an instant, and fills in Train; where the instant is past the
// training range, Held, from there to the instant, and All too.
func (f *File) Judge(ctx context.Context, jobs []trace.Job, end int64) error {
	t := trace.Trace{Jobs: jobs}
	w, err := NewWorkload(t.Between(f.From-WarmDays*86400, end), f.Config)
	if err != nil {
		return err
	}
	r, err := w.Simulate(ctx, nil)
	if err != nil {
		return err
	}
	quality := func(from, to int64) *Quality { q := r.MetricsBetween(from, to).Quality; return &q }
	f.Train = quality(f.From, f.To)
	if end > f.To {
		f.Held, f.All = quality(f.To, end), quality(f.From, end)
	}
	return nil
}
