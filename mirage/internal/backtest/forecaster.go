package backtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrSettings is returned when a forecaster's settings make no sense.
var ErrSettings = errors.New("invalid forecast settings")

// Settings say how to forecast. The zero value works.
type Settings struct {
	Size    int     // nodes of the machine; 0 is the most in use at once so far
	Level   float64 // of the intervals; 0 is .9
	Seed    uint64
	Threads int // the outcome does not depend on it
	// Partitioned says that the machine has several partitions, whose jobs do not
	// wait in one list.
	Partitioned bool
	// From is the time from which forecasts matter, Unix seconds. Jobs too long before it to be
	// learnt from are skipped.
	From int64
}

// Settings of the fit of trees: the largest and smallest number of recent jobs to fit on; the
// number of members, of which the oldest is replaced when a share of the jobs is new; and the
// number of jobs before the first one that matters that are predicted by trees, to know their
// errors. 12,000 rows gained nothing; 100 are the minimum for leaves of 15; members and
// freshShare are a compromise with the CPU time, 40 s for a queue of 19,373 jobs.
const (
	mostRows   = 6000
	fewestRows = 100
	members    = 5
	freshShare = 0.025
	warmJobs   = 1000
)

// censoredFactor times its age is the assumed wait of a pending job. 2 was as good; a
// tenth more error on wagap without such jobs.
const censoredFactor = 1.3

// Forecaster predicts how long jobs of a log will wait, in the order in which
// they are submitted, from what the log shows by then.
type Forecaster struct {
	s      Settings
	known  *known
	next   int // job of the log to be submitted next
	first  int // job that is the first to learn from
	warm   int // and to be predicted by trees
	fresh  int // jobs that have started since the trees were fitted
	fits   uint64
	peak   int
	trees  []*tree.Ensemble // whose mean is to be added to that of the simple forecasts
	misses misses
	fixed  bool // it was restored, and learns no more

	rows   [][]float64
	means  []float64 // of the simple forecasts, transformed
	values []float64 // predicted, seconds; NaN if not
}

// NewForecaster returns a forecaster at the beginning of a log, whose jobs are
// in the order of submission. The error wraps ErrSettings.
func NewForecaster(jobs []trace.Job, s Settings) (*Forecaster, error) {
	if s.Level == 0 {
		s.Level = .9
	}
	if s.Size < 0 {
		return nil, fmt.Errorf("%w: %d nodes", ErrSettings, s.Size)
	}
	if !(s.Level > 0 && s.Level < 1) {
		return nil, fmt.Errorf("%w: level %g, want a number between 0 and 1", ErrSettings, s.Level)
	}
	m, err := newMisses(s.Level)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	from := sort.Search(len(jobs), func(i int) bool { return jobs[i].Submit >= s.From })
	warm := max(from-warmJobs, 0)
	return &Forecaster{s: s, known: newKnown(jobs), misses: m, warm: warm, first: max(warm-mostRows, 0)}, nil
}

// Done says that all jobs of the log have been submitted.
func (f *Forecaster) Done() bool { return f.next == len(f.known.jobs) }

// Next submits the next job of the log and predicts its wait in seconds.
func (f *Forecaster) Next(ctx context.Context) (uncertainty.Prediction, error) {
	j := &f.known.jobs[f.next]
	if err := f.reach(ctx, j.Submit); err != nil {
		return uncertainty.Prediction{}, err
	}
	if f.next < f.first {
		f.admit(nil, 0, math.NaN())
		return uncertainty.Point(0), nil
	}
	x, mean, value, err := f.predictJob(j)
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	f.admit(x, mean, value)
	return f.misses.about(value).Prediction, nil
}

// admit submits the next job of the log, with what was known and predicted of it;
// nothing where x is nil.
func (f *Forecaster) admit(x []float64, mean, value float64) {
	f.rows, f.means, f.values = append(f.rows, x), append(f.means, mean), append(f.values, value)
	f.known.submit(f.next)
	f.next++
}

// Ask predicts the wait in seconds of a job that is not in the log, submitted
// at the instant that the forecaster has reached.
func (f *Forecaster) Ask(j trace.Job) (Answer, error) {
	_, _, value, err := f.predictJob(&j)
	return f.misses.about(value), err
}

// Reach lets the log go on to an instant: what was submitted before it is in the
// queue, what started or ended before it has.
func (f *Forecaster) Reach(ctx context.Context, at int64) error {
	for !f.Done() && f.known.jobs[f.next].Submit < at {
		if _, err := f.Next(ctx); err != nil {
			return err
		}
	}
	return f.reach(ctx, at)
}

func (f *Forecaster) reach(ctx context.Context, at int64) error {
	f.known.advance(at, f.learn)
	f.peak = max(f.peak, f.known.used)
	learnt := min(f.next-f.first, mostRows)
	if f.fixed || f.next < f.warm || learnt < fewestRows || f.trees != nil && float64(f.fresh) < freshShare*float64(learnt) {
		return ctx.Err()
	}
	f.fresh = 0
	return f.fit(ctx)
}

// learn takes in a job that has started.
func (f *Forecaster) learn(i int) {
	if j := &f.known.jobs[i]; !j.NoStart && !math.IsNaN(f.values[i]) {
		f.fresh++
		f.misses.learn(f.values[i], float64(j.Wait()))
	}
}

func (f *Forecaster) size() float64 {
	if f.s.Size > 0 {
		return float64(f.s.Size)
	}
	return float64(f.peak)
}

// predictJob returns the features of a job, the mean of the simple forecasts on the transformed
// scale, and the predicted wait in seconds.
func (f *Forecaster) predictJob(j *trace.Job) (x []float64, mean, value float64, err error) {
	g, running, listed := f.known.groups(j), f.known.releases(), unknown
	var lists []float64
	if !f.s.Partitioned {
		lists = f.known.lists(j, g, f.size(), running)
		listed = lists[0]
	}
	x = f.known.features(j, g, f.size(), running, lists)
	mean = g.advise(listed).mean()
	if len(f.trees) == 0 && f.s.Size == 0 {
		// The largest use so far is not yet the machine's size, and no tree corrects the
		// list's wait.
		return x, mean, inverse(g.advise(unknown).mean()), nil
	}
	add := 0.0
	for _, t := range f.trees {
		p, err := t.Predict(x)
		if err != nil {
			return nil, 0, 0, err
		}
		add += p.Value / float64(len(f.trees))
	}
	return x, mean, inverse(mean + add), nil
}

// fit fits the trees to the latest jobs. One that still waits counts as if it
// went on for a while, or started when that was predicted.
func (f *Forecaster) fit(ctx context.Context) error {
	var rows [][]float64
	var y []float64
	for i := max(f.next-mostRows, f.first); i < f.next; i++ {
		j := &f.known.jobs[i]
		wait := float64(j.Wait())
		switch {
		case j.Start >= f.known.now:
			wait = max(censoredFactor*float64(f.known.now-j.Submit), f.values[i])
		case j.NoStart:
			continue
		}
		rows, y = append(rows, f.rows[i]), append(y, transformed(wait)-f.means[i])
	}
	s, err := regression.NewSamples(rows, y)
	if err != nil {
		return err
	}
	t, err := f.recipe().Fit(ctx, s)
	if err != nil {
		return err
	}
	f.fits++
	f.trees = tail(append(f.trees, t), members)
	return nil
}

// recipe returns the settings of the trees. Each fit has other draws, and the leaves hold
// medians, which minimise the mean absolute error.
func (f *Forecaster) recipe() tree.Boost {
	return tree.Boost{
		Objective: tree.Quantile, QuantileAlpha: .5, Rounds: 100, Eta: .15, MaxDepth: 6, MinChildWeight: 15,
		Subsample: .7, ColsampleTree: .25, MaxBin: 64, Seed: f.s.Seed<<32 + f.fits, Threads: f.s.Threads,
	}
}
