package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/interval"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/session"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrNoRuns is returned for a log that holds no task runs.
var ErrNoRuns = errors.New("no task runs")

// ErrFraction is returned for a part to learn from that is no fraction.
var ErrFraction = errors.New("unusable fraction")

// ErrUnpredicted is returned for logs without a prediction to score.
var ErrUnpredicted = errors.New("no prediction to score")

// Options sets how logs are replayed.
type Options struct {
	Model string // of [perfmodel.Names]; "" is perfmodel.Auto
	// Skip is the fraction of each log, from its start, whose predictions are not scored.
	Skip float64
	// Progress is called with the number of runs that were replayed, of all logs; nil is not.
	Progress func(runs int)
	// OnPrediction is called with every scored prediction, in order of the starts; nil is not.
	OnPrediction func(p uncertainty.Prediction, seconds float64)
}

// Result compares predictions with run times. Percentages are in percent; a figure that
// does not exist is nil.
type Result struct {
	Train     int      `json:"train"` // runs that were not scored
	Test      int      `json:"test"`  // runs that were
	Model     string   `json:"model"`
	MAE       *float64 `json:"mae"` // seconds
	MAPE      *float64 `json:"mape"`
	MedianAPE *float64 `json:"median_ape"`
	R2        *float64 `json:"r2"`
	WAPE      *float64 `json:"wape"`     // sum of the errors over the sum of the run times
	Coverage  *float64 `json:"coverage"` // share of the runs with an interval that lie in it
}

// Outcome holds the results of a replay.
type Outcome struct {
	Result
	Unseen Result  `json:"unseen"` // of sizes that had not run before
	Tasks  int     `json:"tasks"`
	Level  float64 `json:"level"` // share that the intervals promise to hold
	// Baselines are the results of simple rules on the same runs.
	Baselines map[string]*Result `json:"baselines"`
}

// scores adds up the predictions of all logs.
type scores struct {
	all, unseen summary.Errors
	rules       [baselines]summary.Errors
}

// Run replays logs, each as a rank. It changes the tables.
func Run(ctx context.Context, logs []*Table, o Options) (*Outcome, error) {
	if !(o.Skip >= 0 && o.Skip < 1) {
		return nil, fmt.Errorf("%w: %v, want at least 0 and less than 1", ErrFraction, o.Skip)
	}
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	r, s := &Outcome{}, &scores{}
	for rank, t := range logs {
		if t.Len() == 0 {
			return nil, fmt.Errorf("%s: %w", t.Name, ErrNoRuns)
		}
		cfg, _ := config.Read(func(string) (string, bool) { return "", false })
		f := newFeed(t)
		predicted := make([]uncertainty.Prediction, t.Len())
		online := session.New(session.Options{
			Config: cfg, Rank: rank, Ranks: len(logs), Dialect: event.Upstream, Model: perfmodel.New(o.Model),
			Clock: func() (ticks, ns uint64) { return 1, 1 }, Symbol: f.symbol, OnRun: func(token uint64, p perfmodel.Prediction, _ task.Run) { predicted[token-1] = p.Prediction },
		})
		before := r.Tasks
		if err := f.play(ctx, online, func(done int) { o.Progress(before + done/int(kinds)) }); err != nil {
			return nil, err
		}
		s.score(f, predicted, o)
		r.Tasks += t.Len()
	}
	if s.all.Count() == 0 {
		scored := ""
		if o.Skip > 0 {
			scored = fmt.Sprintf(", of which the first %.3g %% are not scored", 100*o.Skip)
		}
		return nil, fmt.Errorf("%w: there are %d runs%s; a function is predicted from its run %d on", ErrUnpredicted, r.Tasks, scored, perfmodel.FirstFit+1)
	}
	r.Result = newResult(&s.all, r.Tasks)
	r.Unseen = newResult(&s.unseen, 0)
	r.Baselines = map[string]*Result{}
	for i, key := range baselineKeys {
		one := newResult(&s.rules[i], r.Tasks)
		one.Model = baselineLabels[i]
		r.Baselines[key] = &one
	}
	r.Model = cmp.Or(o.Model, perfmodel.Auto)
	r.Level = interval.Level
	return r, nil
}

func newResult(e *summary.Errors, of int) Result {
	return Result{
		Train: max(0, of-e.Count()), Test: e.Count(),
		MAE: summary.NewFigure(e.MAE()), MAPE: summary.NewFigure(e.MAPE()), MedianAPE: summary.NewFigure(e.MedianAPE()),
		R2: summary.NewFigure(e.R2()), WAPE: summary.NewFigure(e.WAPE()), Coverage: summary.NewFigure(e.Coverage()),
	}
}

// score scores the predictions of a log's rows and the rules, with what had ended when a run
// started.
func (s *scores) score(f *feed, predicted []uncertainty.Prediction, o Options) {
	known := rules{sizes: make([]pastRuns, len(f.sizes)), functions: make([]pastRuns, len(f.names)), scores: s.rules}
	skip := int(o.Skip * float64(f.Len()))
	for _, e := range f.events {
		r, p := &f.runs[e.row], predicted[e.row]
		switch {
		case e.kind == ends:
			known.learn(r)
		case e.kind == starts && skip > 0:
			skip--
		case e.kind == starts && p.Value > 0:
			s.all.Add(p.Value, r.seconds)
			s.all.AddInterval(p.Low, p.High, r.seconds)
			if known.sizes[r.size].n == 0 {
				s.unseen.Add(p.Value, r.seconds)
			}
			known.judge(r)
			if o.OnPrediction != nil {
				o.OnPrediction(p, r.seconds)
			}
		}
	}
	s.rules = known.scores
}
