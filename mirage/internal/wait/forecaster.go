package wait

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

// ErrSettings is returned when a forecaster's settings make no sense.
var ErrSettings = errors.New("invalid forecast settings")

// Settings say how to forecast. The zero value works.
type Settings struct {
	Size    int     // nodes of the cluster; 0 is the most in use at once so far
	Level   float64 // of the intervals; 0 is 0.9
	Seed    uint64
	Threads int // the outcome does not depend on it
	// Partitioned says that the cluster has several partitions, whose jobs do not wait in
	// one list.
	Partitioned bool
	// From is the time from which forecasts matter, Unix seconds. Jobs too long before it
	// to be learnt from are skipped.
	From int64
}

// Settings of the fit: the largest and smallest number of recent jobs to fit trees to, the
// number of members, of which the oldest is replaced, the share of new starts after which
// that happens, and the number of jobs before the first one that matters that are
// predicted, to know the errors.
const (
	mostRows   = 6000
	fewestRows = 100
	members    = 5
	freshShare = 0.025
	warmJobs   = 1000
)

// Forecaster predicts how long jobs of a log will wait, in the order in which they are
// submitted, from what the log shows by then.
type Forecaster struct {
	s      Settings
	replay *Replay
	next   int  // job of the log to be submitted next
	first  int  // job that is the first to learn from
	warm   int  // and to be predicted
	peak   int  // nodes in use
	fixed  bool // it was restored, and learns no more
	model  model
	spread *spread
	asked  []forecast // of each job that was submitted
}

// model holds what is fitted.
type model struct {
	trees   []*tree.Ensemble // whose mean is added to that of the rules
	weights []float64        // of the trees' prediction and of the rules
	fits    uint64
	fresh   int // jobs that have started since the fit
}

// forecast is a prediction of a job's wait, on the scale of toScale.
type forecast struct {
	features []float64 // nil if it is not learnt from
	base     float64   // mean of the rules
	each     []float64 // of the trees, then of the rules
	mixed    float64   // NaN if it was not predicted
}

// NewForecaster returns a forecaster at the beginning of a log, whose jobs are in the order
// of submission. The error wraps ErrSettings.
func NewForecaster(jobs []trace.Job, s Settings) (*Forecaster, error) {
	if s.Level == 0 {
		s.Level = 0.9
	}
	if s.Size < 0 {
		return nil, fmt.Errorf("%w: %d nodes", ErrSettings, s.Size)
	}
	if !(s.Level > 0 && s.Level < 1) {
		return nil, fmt.Errorf("%w: level %g, want a number between 0 and 1", ErrSettings, s.Level)
	}
	spread, err := newSpread(s.Level)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	from := sort.Search(len(jobs), func(i int) bool { return jobs[i].Submit >= s.From })
	warm := max(from-warmJobs, 0)
	f := &Forecaster{s: s, replay: NewReplay(jobs), spread: spread, warm: warm, first: max(warm-mostRows, 0)}
	p, _, err := f.predict(&trace.Job{})
	f.model.weights = mixtureWeights(nil, len(p.each))
	return f, err
}

// Done reports whether all jobs of the log have been submitted.
func (f *Forecaster) Done() bool { return f.next == len(f.replay.jobs) }

// Next predicts the wait of the next job of the log, with its rules, and submits it.
func (f *Forecaster) Next(ctx context.Context) (Distribution, Rules, error) {
	j := &f.replay.jobs[f.next]
	if err := f.advance(ctx, j.Submit); err != nil {
		return Distribution{}, Rules{}, err
	}
	if f.next < f.first {
		f.submit(forecast{mixed: unknown})
		return Distribution{}, Rules{}, nil
	}
	p, rules, err := f.predict(j)
	if err != nil {
		return Distribution{}, rules, err
	}
	d := f.spread.about(fromScale(p.mixed))
	if f.next < f.warm {
		p.mixed = unknown
	}
	f.submit(p)
	return d, rules, nil
}

// Ask predicts the wait of a job that is not in the log, submitted at the instant that the
// forecaster has reached.
func (f *Forecaster) Ask(j trace.Job) (Distribution, error) {
	p, _, err := f.predict(&j)
	return f.spread.about(fromScale(p.mixed)), err
}

// Reach lets the log go on to an instant: what was submitted before it is in the queue, what
// started or ended before it has.
func (f *Forecaster) Reach(ctx context.Context, at int64) error {
	for !f.Done() && f.replay.jobs[f.next].Submit < at {
		if _, _, err := f.Next(ctx); err != nil {
			return err
		}
	}
	return f.advance(ctx, at)
}

// submit submits the next job of the log, with its forecast.
func (f *Forecaster) submit(p forecast) {
	f.asked = append(f.asked, p)
	if old := len(f.asked) - mostRows - 1; old >= 0 { // it is learnt from no more
		f.asked[old].features, f.asked[old].each = nil, nil
	}
	f.replay.Submit(f.next)
	f.next++
}

// advance lets the log go on to an instant before which no more jobs are submitted, and fits
// the model again if enough of them have started.
func (f *Forecaster) advance(ctx context.Context, at int64) error {
	f.replay.Advance(at, f.learnStart)
	f.peak = max(f.peak, f.replay.used)
	learnt := min(f.next-f.first, mostRows)
	if f.fixed || f.next < f.warm || float64(f.model.fresh) < max(freshShare*float64(learnt), 1) {
		return ctx.Err()
	}
	f.model.fresh = 0
	return f.fit(ctx)
}

// learnStart takes in a job that has started.
func (f *Forecaster) learnStart(i int) {
	j := &f.replay.jobs[i]
	if j.NoStart {
		return
	}
	f.model.fresh++
	if p := f.asked[i]; !math.IsNaN(p.mixed) {
		f.spread.learn(fromScale(p.mixed), float64(j.Wait()))
	}
}

// predict returns the forecast of a job, and the rules.
func (f *Forecaster) predict(j *trace.Job) (forecast, Rules, error) {
	g := f.replay.groups(j)
	rules := g.rules()
	each := []float64{0, toScale(rules.User), toScale(rules.Shape), toScale(rules.Class), toScale(rules.All)}
	if !f.s.Partitioned {
		each = append(each, toScale(f.replay.listWait(j, g, f.size())))
	}
	p := forecast{features: f.replay.features(j, g, rules), base: mean(each[1:]), each: each}
	each[0] = p.base
	for _, t := range f.model.trees {
		more, err := t.Predict(p.features)
		if err != nil {
			return p, rules, err
		}
		each[0] += more.Value / float64(len(f.model.trees))
	}
	p.mixed = mix(f.model.weights, each)
	return p, rules, nil
}

func (f *Forecaster) size() float64 {
	if f.s.Size > 0 {
		return float64(f.s.Size)
	}
	return float64(f.peak)
}

// fit fits the trees and the weights to the latest jobs. One that still waits counts with
// the wait that is expected of it: about the rules for the trees, about the trees for the
// weights, so neither learns from its own predictions.
func (f *Forecaster) fit(ctx context.Context) error {
	seen := f.latestWaits()
	aboutRules := expectWaits(seen, func(job int) float64 { return f.asked[job].base })
	aboutTrees := expectWaits(seen, func(job int) float64 { return f.asked[job].each[0] })
	rows, y := make([][]float64, len(seen)), make([]float64, len(seen))
	var past []outcome
	for i, w := range seen {
		p := &f.asked[w.job]
		rows[i], y[i] = p.features, aboutRules[i]-p.base
		if !math.IsNaN(p.mixed) {
			past = append(past, outcome{p.mixed, p.each, aboutTrees[i]})
		}
	}
	f.model.weights = mixtureWeights(past, len(f.model.weights))
	if len(rows) < fewestRows {
		return ctx.Err()
	}
	s, err := regression.NewSamples(rows, y)
	if err != nil {
		return err
	}
	t, err := f.boost().Fit(ctx, s)
	if err != nil {
		return err
	}
	f.model.fits++
	f.model.trees = tail(append(f.model.trees, t), members)
	return nil
}

// latestWaits returns the waits of the latest jobs, except those that ended without a start.
func (f *Forecaster) latestWaits() (seen []observed) {
	for i := max(f.next-mostRows, f.first); i < f.next; i++ {
		j := &f.replay.jobs[i]
		switch {
		case j.Start >= f.replay.now:
			seen = append(seen, observed{i, toScale(float64(f.replay.now - j.Submit)), true})
		case !j.NoStart:
			seen = append(seen, observed{i, toScale(float64(j.Wait())), false})
		}
	}
	return seen
}

// boost returns the settings of the trees. Each fit has other draws, and the leaves hold
// medians, which minimise the mean absolute error.
func (f *Forecaster) boost() tree.Boost {
	return tree.Boost{
		Objective: tree.Quantile, QuantileAlpha: 0.5, Rounds: 100, Eta: 0.15, MaxDepth: 6, MinChildWeight: 15,
		Subsample: 0.7, ColsampleTree: 0.4, MaxBin: 64, Seed: f.s.Seed<<32 + f.model.fits, Threads: f.s.Threads,
	}
}

// State holds what a forecaster has learnt from a log by a time. Restore is a tenth of
// the work of learning it again.
type State struct {
	At      int64             `json:"at"`     // Unix seconds
	First   int               `json:"first"`  // job of the log from which on waits were predicted
	Values  []float64         `json:"values"` // predicted, on the scale of toScale
	Weights []float64         `json:"weights"`
	Trees   []json.RawMessage `json:"trees"`
}

// State returns what the forecaster has learnt by now.
func (f *Forecaster) State() (State, error) {
	s := State{At: f.replay.now, First: min(f.warm, f.next), Weights: f.model.weights}
	for _, p := range f.asked[s.First:] {
		s.Values = append(s.Values, p.mixed)
	}
	for _, t := range f.model.trees {
		var b bytes.Buffer
		if err := t.WriteJSON(&b); err != nil {
			return s, err
		}
		s.Trees = append(s.Trees, b.Bytes())
	}
	return s, nil
}

// Restore brings a new forecaster to the time of a state of the same log and settings. It
// answers as the one that had learnt, and learns no more. The error may wrap tree.ErrModel.
func (f *Forecaster) Restore(ctx context.Context, s State) error {
	for _, b := range s.Trees {
		t, err := tree.ReadModel(bytes.NewReader(b))
		if err != nil {
			return err
		}
		f.model.trees = append(f.model.trees, t)
	}
	f.model.weights = s.Weights
	f.fixed = true
	for !f.Done() && f.replay.jobs[f.next].Submit < s.At {
		if err := f.advance(ctx, f.replay.jobs[f.next].Submit); err != nil {
			return err
		}
		p := forecast{mixed: unknown}
		if i := f.next - s.First; i >= 0 && i < len(s.Values) {
			p.mixed = s.Values[i]
		}
		f.submit(p)
	}
	return f.advance(ctx, s.At)
}
