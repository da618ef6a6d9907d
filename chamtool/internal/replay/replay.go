package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// ErrFraction is returned for a part to learn from that leaves nothing to score.
var ErrFraction = errors.New("unusable fraction")

// Options sets how logs are replayed.
type Options struct {
	Model perfmodel.Options
	// Skip is the fraction of each log, from its start, whose predictions are not scored.
	Skip float64
	Now  func() time.Time // for the time per event
	// Progress is called with the number of runs that were replayed, of all logs; nil is not.
	Progress func(runs int)
	// OnPrediction is called with every scored prediction, in order of the starts; nil is not.
	OnPrediction func(p uncertainty.Prediction, seconds float64)
}

// Result compares predictions with run times. Percentages are in percent; a figure that
// does not exist is nil.
type Result struct {
	Train     int             `json:"train"` // runs that were not scored
	Test      int             `json:"test"`  // runs that were
	Model     string          `json:"model"`
	MAE       *summary.Figure `json:"mae"` // seconds
	MAPE      *summary.Figure `json:"mape"`
	MedianAPE *summary.Figure `json:"median_ape"`
	R2        *summary.Figure `json:"r2"`
	WAPE      *summary.Figure `json:"wape"`     // sum of the errors over the sum of the run times
	Coverage  *summary.Figure `json:"coverage"` // share of the runs with an interval that lie in it
}

// Outcome holds the results of a replay.
type Outcome struct {
	Result
	Unseen     Result  `json:"unseen"` // of sizes that had not run before
	Tasks      int     `json:"tasks"`
	Fits       int     `json:"fits"`
	NsPerEvent float64 `json:"ns_per_event"` // reading, predicting, learning, scoring
	Level      float64 `json:"level"`        // share that the intervals promise to hold
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
	var busy time.Duration
	events := 0
	for rank, t := range logs {
		if t.Len() == 0 {
			return nil, fmt.Errorf("%s: %w", t.Name, ErrNoRuns)
		}
		h := newRunRecorder(t.Len())
		cfg, _ := config.Read(func(string) (string, bool) { return "", false })
		f := newFeed(t)
		online := session.New(session.Options{
			Config: cfg, Rank: rank, Ranks: len(logs), Dialect: event.Upstream, Model: perfmodel.New(o.Model),
			Rings: func() []*event.Ring { return f.rings }, Clock: f.clock, Symbol: f.symbol, OnRun: h.add,
		})
		before := r.Tasks
		started := o.Now()
		n, err := f.play(ctx, online, func(done int) { o.Progress(before + done/3) })
		busy += o.Now().Sub(started)
		if err != nil {
			return nil, err
		}
		s.score(h, o)
		events += n
		r.Tasks += t.Len()
		r.Fits += online.Close().Fits
	}
	if s.all.Count() == 0 {
		return nil, fmt.Errorf("%w: no prediction among %d runs after the first %v of them", ErrFraction, r.Tasks, o.Skip)
	}
	r.Result = newResult(&s.all, r.Tasks)
	r.Unseen = newResult(&s.unseen, 0)
	r.Baselines = map[string]*Result{}
	for i, key := range baselineKeys {
		one := newResult(&s.rules[i], r.Tasks)
		one.Model = baselineLabels[i]
		r.Baselines[key] = &one
	}
	r.Model = cmp.Or(o.Model.Serve, perfmodel.Auto)
	r.Level = interval.Level
	r.NsPerEvent = float64(busy.Nanoseconds()) / float64(events)
	return r, nil
}

func newResult(e *summary.Errors, of int) Result {
	return Result{
		Train: max(0, of-e.Count()), Test: e.Count(),
		MAE: summary.NewFigure(e.MAE()), MAPE: summary.NewFigure(e.MAPE()), MedianAPE: summary.NewFigure(e.MedianAPE()),
		R2: summary.NewFigure(e.R2()), WAPE: summary.NewFigure(e.WAPE()), Coverage: summary.NewFigure(e.Coverage()),
	}
}

// runRecorder holds the runs of a log with their predictions.
type runRecorder struct {
	runs      []recorded
	sizes     map[footprint]uint32
	functions map[*perfmodel.Entry]uint32
}

// recorded is one run. The value is 0 without a prediction.
type recorded struct {
	start, seconds   float64
	value, low, high float64
	size, function   uint32
}

// end returns when the run ended.
func (r *recorded) end() float64 { return r.start + r.seconds }

// footprint names a combination of sizes of a function.
type footprint struct {
	function uint32
	hash     uint64
}

func newRunRecorder(n int) *runRecorder {
	return &runRecorder{make([]recorded, 0, n), map[footprint]uint32{}, map[*perfmodel.Entry]uint32{}}
}

func (h *runRecorder) add(f *perfmodel.Footprint, p perfmodel.Prediction, r task.Run) {
	function := number(h.functions, f.Entry())
	size := number(h.sizes, footprint{function, f.Hash()})
	h.runs = append(h.runs, recorded{r.StartSeconds, r.Seconds, p.Value, p.Low, p.High, size, function})
}

// number returns a key's number in the order of first use.
func number[K comparable](known map[K]uint32, key K) uint32 {
	n, ok := known[key]
	if !ok {
		n = uint32(len(known))
		known[key] = n
	}
	return n
}

// order returns the runs in the order of a time.
func (h *runRecorder) order(at func(r *recorded) float64) []*recorded {
	order := make([]*recorded, len(h.runs))
	for i := range order {
		order[i] = &h.runs[i]
	}
	slices.SortStableFunc(order, func(a, b *recorded) int { return cmp.Compare(at(a), at(b)) })
	return order
}

// score scores the predictions and the rules on every run, with what had ended when it
// started.
func (s *scores) score(h *runRecorder, o Options) {
	ended := h.order((*recorded).end)
	begun := h.order(func(r *recorded) float64 { return r.start })
	known := rules{sizes: make([]pastRuns, len(h.sizes)), functions: make([]pastRuns, len(h.functions)), scores: s.rules}
	skip := int(o.Skip * float64(len(begun)))
	for place, r := range begun {
		for len(ended) > 0 && ended[0].end() <= r.start {
			known.learn(ended[0])
			ended = ended[1:]
		}
		if place < skip || !(r.value > 0) {
			continue
		}
		s.all.Add(r.value, r.seconds)
		s.all.AddInterval(r.low, r.high, r.seconds)
		if known.sizes[r.size].n == 0 {
			s.unseen.Add(r.value, r.seconds)
		}
		known.judge(r)
		if o.OnPrediction != nil {
			o.OnPrediction(uncertainty.Prediction{Value: r.value, Low: r.low, High: r.high, Level: interval.Level}, r.seconds)
		}
	}
	s.rules = known.scores
}
