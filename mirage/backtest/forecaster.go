package backtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrSettings is returned when a forecaster's settings make no sense.
var ErrSettings = errors.New("unusable settings of a forecast")

// Settings say how to forecast. The zero value works.
type Settings struct {
	Size    int     // nodes of the machine; 0 is the most in use at once so far
	Level   float64 // of the intervals; 0 is .9
	Seed    uint64
	Threads int // the outcome does not depend on it
	// Partitioned says that the machine has several partitions, whose jobs do not
	// wait in one list.
	Partitioned bool
	// From is when forecasts begin to matter, Unix seconds: trees are fitted from
	// Warm seconds before, 0 being two weeks.
	From int64
	Warm int64
	// Rows is how many of the jobs before From are predicted, to learn from: the
	// latest and others spread evenly. 0 is all of them, which takes as many times
	// longer as there are jobs.
	Rows int
}

// How the trees are fitted: how often, on how many jobs at most and at least.
const (
	refitSeconds = 86400
	warmSeconds  = 14 * 86400
	mostRows     = 12000
	fewestRows   = 100
)

// censoredFactor is by how much a job that still waits is taken to wait longer than it
// has.
const censoredFactor = 1.3

// Forecaster predicts how long jobs of a log will wait, in the order in which
// they are submitted, from what the log shows by then.
type Forecaster struct {
	s       Settings
	known   *known
	next    int   // job of the log to be submitted next
	refit   int64 // when trees are fitted next
	peak    int
	trees   *tree.Ensemble // of transformed waits
	short   *tree.Ensemble // of the logarithms of waits
	mixture mixture
	bands   bands

	rows     [][]float64
	advised  []advice
	values   []float64 // predicted, seconds
	high     []float64 // upper ends, seconds
	observed []bool    // the bands have learnt of it
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
		return nil, fmt.Errorf("%w: level %g, want it between 0 and 1", ErrSettings, s.Level)
	}
	b, err := newBands(s.Level)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	return &Forecaster{s: s, known: newKnown(jobs), bands: b, mixture: mixture{shapes: map[shape]*record{}}}, nil
}

// Done says that all jobs of the log have been submitted.
func (f *Forecaster) Done() bool { return f.next == len(f.known.jobs) }

// Next submits the next job of the log and predicts its wait in seconds.
func (f *Forecaster) Next(ctx context.Context) (uncertainty.Prediction, error) {
	i := f.next
	j := &f.known.jobs[i]
	if err := f.reach(ctx, j.Submit); err != nil {
		return uncertainty.Prediction{}, err
	}
	x, o, value, err := f.ask(j)
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	p := f.bands.about(value)
	f.admit(x, o, value, p.High)
	return p, nil
}

// admit submits the next job of the log, with what was known and predicted of it;
// nothing where x is nil.
func (f *Forecaster) admit(x []float64, o advice, value, high float64) {
	f.rows, f.advised, f.values = append(f.rows, x), append(f.advised, o), append(f.values, value)
	f.high, f.observed = append(f.high, high), append(f.observed, x == nil)
	f.known.submit(f.next)
	f.next++
}

// spared says that the next job need not be predicted.
func (f *Forecaster) spared() bool {
	if f.s.Rows == 0 {
		return false
	}
	last := sort.Search(len(f.known.jobs), func(i int) bool { return f.known.jobs[i].Submit >= f.s.From })
	return f.next < last-f.s.Rows/2 && f.next%max(2*last/f.s.Rows, 1) > 0
}

// Ask predicts the wait in seconds of a job that is not in the log, submitted
// at the instant that the forecaster has reached.
func (f *Forecaster) Ask(j trace.Job) (Answer, error) {
	_, _, value, err := f.ask(&j)
	return Answer{f.bands.about(value), value, &f.bands}, err
}

// Reach lets the log go on to an instant: what was submitted before it is in the
// queue, what started or ended before it has.
func (f *Forecaster) Reach(ctx context.Context, at int64) error {
	for !f.Done() && f.known.jobs[f.next].Submit < at {
		if f.spared() {
			f.known.advance(f.known.jobs[f.next].Submit, f.learn)
			f.admit(nil, advice{}, 0, 0)
			continue
		}
		if _, err := f.Next(ctx); err != nil {
			return err
		}
	}
	return f.reach(ctx, at)
}

func (f *Forecaster) reach(ctx context.Context, at int64) error {
	f.known.advance(at, f.learn)
	f.overdue()
	f.peak = max(f.peak, f.known.used)
	if at < f.refit || at < f.s.From-cmp.Or(f.s.Warm, warmSeconds) || len(f.rows) < fewestRows {
		return ctx.Err()
	}
	f.refit = at + refitSeconds
	return f.fit(ctx)
}

// learn takes in a job that has started.
func (f *Forecaster) learn(i int) {
	j := &f.known.jobs[i]
	if j.NoStart || f.rows[i] == nil {
		return
	}
	f.mixture.learn(j, f.advised[i])
	if !f.observed[i] {
		f.bands.learn(f.values[i], float64(j.Wait()))
	}
}

// overdueFactor is how many times as long as it has a job is taken to wait that has
// outlasted its interval.
const overdueFactor = 3

// overdue lets the bands learn of jobs that have waited for longer than their
// intervals already: the longest waits would else be learnt from last.
func (f *Forecaster) overdue() {
	for _, i := range f.known.pending {
		if age := float64(f.known.now - f.known.jobs[i].Submit); !f.observed[i] && age > f.high[i] {
			f.observed[i] = true
			f.bands.learn(f.values[i], overdueFactor*age)
		}
	}
}

func (f *Forecaster) size() float64 {
	if f.s.Size > 0 {
		return float64(f.s.Size)
	}
	return float64(f.peak)
}

// ask returns what is known of a job, what the experts say and what they say
// together.
func (f *Forecaster) ask(j *trace.Job) (x []float64, o advice, value float64, err error) {
	user, same := f.known.drains(j)
	var lists []float64
	if !f.s.Partitioned {
		lists = f.known.lists(j, f.size())
	}
	x = f.known.features(j, f.size(), user, same, lists)
	o = f.known.simple(j)
	if o[byList] = unknown; len(lists) > 0 {
		o[byList] = lists[0]
	}
	o[byTrees] = o[byUser]
	if f.trees != nil {
		p, err := f.trees.Predict(x)
		if err != nil {
			return nil, o, 0, err
		}
		o[byTrees] = inverse(p.Value)
	}
	o[byDrain] = same.with(o[byTrees])
	value = f.mixture.of(j, o)
	if f.short != nil && value < shortest {
		p, err := f.short.Predict(x)
		if err != nil {
			return nil, o, 0, err
		}
		value = min(seconds(.3*logMinutes(value)+.7*p.Value), shortest)
	}
	return x, o, value, nil
}

// shortest is below which waits, in seconds, what counts is their order, which
// trees of logarithms tell best.
const shortest = 1800

// fit fits the trees to the latest jobs. One that still waits counts as if it
// went on for a while.
func (f *Forecaster) fit(ctx context.Context) error {
	first := max(len(f.rows)-mostRows, 0)
	var rows [][]float64
	var y, logs []float64
	for i := first; i < len(f.rows); i++ {
		j := &f.known.jobs[i]
		wait := float64(j.Wait())
		switch {
		case f.rows[i] == nil:
			continue
		case j.Start >= f.known.now:
			wait = max(censoredFactor*float64(f.known.now-j.Submit), f.values[i])
		case j.NoStart:
			continue
		}
		rows, y = append(rows, f.rows[i]), append(y, transformed(wait))
		logs = append(logs, logMinutes(wait))
	}
	s, err := regression.NewSamples(rows, y)
	if err != nil {
		return err
	}
	if f.trees, err = f.recipe().Fit(ctx, s); err != nil {
		return err
	}
	s.Y = logs
	f.short, err = f.recipe().Fit(ctx, s)
	return err
}

func (f *Forecaster) recipe() tree.Boost {
	return tree.Boost{
		Objective: tree.Quantile, QuantileAlpha: .5, Rounds: 120, Eta: .06, MaxDepth: 6, MinChildWeight: 15,
		Subsample: .7, ColsampleTree: .5, MaxBin: 64, Seed: f.s.Seed, Threads: f.s.Threads,
	}
}
