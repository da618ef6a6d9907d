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
	OnPrediction func(p perfmodel.Prediction, seconds float64)
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
	Curve      []Point `json:"curve"`
	Level      float64 `json:"level"` // share that the intervals promise to hold
	// Baselines are the results of simple rules on the same runs.
	Baselines map[string]*Result `json:"baselines"`
}

// Point is the error over a stretch of runs, counted in each log from its first.
type Point struct {
	From      int             `json:"from"` // runs before the stretch
	To        int             `json:"to"`
	Test      int             `json:"test"`
	MAPE      *summary.Figure `json:"mape"`
	MedianAPE *summary.Figure `json:"median_ape"`
}

// scores adds up the predictions of all logs.
type scores struct {
	all, unseen summary.Errors
	rules       [baselines]summary.Errors
	stretches   []summary.Errors // by doubling length, the first of firstStretch runs
	longest     int              // log, in runs
}

const firstStretch = 50

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
		h := &runRecorder{}
		h.grow(t.Len())
		cfg, _ := config.Read(func(string) (string, bool) { return "", false })
		f := newFeed(t)
		online := session.New(session.Options{
			Config: cfg, Rank: rank, Ranks: len(logs), Dialect: event.Upstream, Model: perfmodel.New(o.Model),
			Clock: f.clock, Symbol: f.symbol, OnRun: h.add,
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
	r.Level = perfmodel.Level
	r.NsPerEvent = float64(busy.Nanoseconds()) / float64(events)
	r.Curve = s.curve()
	return r, nil
}

func newResult(e *summary.Errors, of int) Result {
	return Result{
		Train: max(0, of-e.Count()), Test: e.Count(),
		MAE: summary.NewFigure(e.MAE()), MAPE: summary.NewFigure(e.MAPE()), MedianAPE: summary.NewFigure(e.MedianAPE()),
		R2: summary.NewFigure(e.R2()), WAPE: summary.NewFigure(e.WAPE()), Coverage: summary.NewFigure(e.Coverage()),
	}
}

// curve returns the errors over stretches that double in length.
func (s *scores) curve() []Point {
	var points []Point
	for i, from, to := 0, 0, firstStretch; from < s.longest; i, from, to = i+1, to, 2*to {
		p := Point{From: from, To: min(to, s.longest)}
		if i < len(s.stretches) {
			e := &s.stretches[i]
			p.Test, p.MAPE, p.MedianAPE = e.Count(), summary.NewFigure(e.MAPE()), summary.NewFigure(e.MedianAPE())
		}
		points = append(points, p)
	}
	return points
}

// stretch returns the errors of the stretch of a run, which counts from 1.
func (s *scores) stretch(run int) *summary.Errors {
	i := 0
	for to := firstStretch; run > to; to *= 2 {
		i++
	}
	for len(s.stretches) <= i {
		s.stretches = append(s.stretches, summary.Errors{})
	}
	return &s.stretches[i]
}

// runRecorder holds the runs of a log with their predictions, by column.
type runRecorder struct {
	size, function   []uint32
	start, seconds   []float64
	value, low, high []float64 // of value 0 without a prediction
	sizes            map[footprint]uint32
	functions        map[*perfmodel.Entry]uint32
}

// footprint names a combination of sizes of a function.
type footprint struct {
	function uint32
	hash     uint64
}

func (h *runRecorder) grow(n int) {
	h.size, h.function = make([]uint32, 0, n), make([]uint32, 0, n)
	h.sizes, h.functions = map[footprint]uint32{}, map[*perfmodel.Entry]uint32{}
	for _, column := range []*[]float64{&h.start, &h.seconds, &h.value, &h.low, &h.high} {
		*column = make([]float64, 0, n)
	}
}

func (h *runRecorder) add(f *perfmodel.Footprint, p perfmodel.Prediction, r task.Run) {
	function := number(h.functions, f.Entry())
	size := number(h.sizes, footprint{function, f.Hash()})
	h.function, h.size = append(h.function, function), append(h.size, size)
	h.start, h.seconds = append(h.start, r.StartSeconds), append(h.seconds, r.Seconds)
	h.value, h.low, h.high = append(h.value, p.Value), append(h.low, p.Low), append(h.high, p.High)
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

// prediction returns what was predicted for a run.
func (h *runRecorder) prediction(run uint32) perfmodel.Prediction {
	interval := uncertainty.Prediction{Value: h.value[run], Low: h.low[run], High: h.high[run], Level: perfmodel.Level}
	return perfmodel.Prediction{Prediction: interval}
}

// order returns the runs in the order of a time.
func (h *runRecorder) order(at func(run uint32) float64) []uint32 {
	order := make([]uint32, len(h.start))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a, b)) })
	return order
}

// score scores the predictions and the rules on every run, with what had ended when it
// started.
func (s *scores) score(h *runRecorder, o Options) {
	end := func(i uint32) float64 { return h.start[i] + h.seconds[i] }
	ended, begun := h.order(end), h.order(func(i uint32) float64 { return h.start[i] })
	known := rules{sizes: make([]pastRuns, len(h.sizes)), functions: make([]pastRuns, len(h.functions)), scores: s.rules}
	s.longest = max(s.longest, len(begun))
	skip := int(o.Skip * float64(len(begun)))
	for place, i := range begun {
		for len(ended) > 0 && end(ended[0]) <= h.start[i] {
			known.learn(h.size[ended[0]], h.function[ended[0]], h.seconds[ended[0]])
			ended = ended[1:]
		}
		if place < skip || !(h.value[i] > 0) {
			continue
		}
		for _, e := range []*summary.Errors{&s.all, s.stretch(place + 1)} {
			e.Add(h.value[i], h.seconds[i])
			e.AddInterval(h.low[i], h.high[i], h.seconds[i])
		}
		if known.sizes[h.size[i]].n == 0 {
			s.unseen.Add(h.value[i], h.seconds[i])
		}
		known.judge(h.size[i], h.function[i], h.seconds[i])
		if o.OnPrediction != nil {
			o.OnPrediction(h.prediction(i), h.seconds[i])
		}
	}
	s.rules = known.scores
}
