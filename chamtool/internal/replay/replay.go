package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/session"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/stats"
)

// ErrNoRuns is returned for a log that holds no task runs.
var ErrNoRuns = errors.New("no task runs")

// Options sets how logs are replayed.
type Options struct {
	Model perfmodel.Options
	Now   func() time.Time // to tell what an event costs
}

// Replayed is what the online path would have come to.
type Replayed struct {
	Result
	Tasks      int     `json:"tasks"`
	Fits       int     `json:"fits"`
	NsPerEvent float64 `json:"ns_per_event"` // reading, predicting, learning, scoring
	Curve      []Point `json:"curve"`
	Level      float64 `json:"level"` // share that the intervals promise to hold
	// Baselines are what plain rules would have come to on the same tasks.
	Baselines map[string]*Result `json:"baselines"`
}

// Point is the error over a stretch of tasks, counted in each rank from its
// first.
type Point struct {
	From      int      `json:"from"` // tasks seen before the stretch
	To        int      `json:"to"`
	Test      int      `json:"test"`
	MAPE      *float64 `json:"mape"`
	MedianAPE *float64 `json:"median_ape"`
}

// Run replays logs, each as a rank.
func Run(ctx context.Context, logs []*task.Log, o Options) (*Replayed, error) {
	r := &Replayed{}
	var order []int // of each pair, in its rank
	var busy time.Duration
	events := 0
	judged := map[string][]Pair{}
	for rank, l := range logs {
		if len(l.Rows) == 0 {
			return nil, fmt.Errorf("%s: %w", l.Name, ErrNoRuns)
		}
		one := newFeed(l.Rows)
		var heard []run
		cfg, _ := config.Read(func(string) (string, bool) { return "", false })
		s := session.New(session.Options{
			Config: cfg, Rank: rank, Ranks: len(logs), Dialect: event.Upstream, Model: perfmodel.New(o.Model),
			Clock: one.clock, Symbol: one.symbol,
			Each: func(f *perfmodel.Footprint, p perfmodel.Prediction, r task.Run) {
				heard = append(heard, run{f, p, r.StartSeconds, r.Seconds})
			},
		})
		started := o.Now()
		n, err := one.play(ctx, s)
		busy += o.Now().Sub(started)
		if err != nil {
			return nil, err
		}
		plain := newBaselines(heard)
		for place, one := range heard {
			plain.learnUntil(one.start)
			if one.predicted.Value > 0 {
				r.Pairs = append(r.Pairs, one.pair(plain))
				order = append(order, place+1)
				plain.judge(one, judged)
			}
		}
		sum := s.Close()
		events += n
		r.Tasks += len(l.Rows)
		r.Fits += sum.Fits
	}
	r.Train = r.Tasks - len(r.Pairs)
	if err := r.Score(); err != nil {
		return nil, err
	}
	r.Baselines = map[string]*Result{}
	for name, pairs := range judged {
		b := &Result{Train: r.Train, Model: name, Pairs: pairs}
		if err := b.Score(); err != nil {
			return nil, err
		}
		r.Baselines[name] = b
	}
	r.Model = cmp.Or(o.Model.Serve, perfmodel.Auto)
	r.Level = perfmodel.Level
	r.NsPerEvent = float64(busy.Nanoseconds()) / float64(events)
	r.Curve = curve(r.Pairs, order)
	return r, nil
}

// curve is the error over stretches that double in length.
func curve(pairs []Pair, order []int) []Point {
	var points []Point
	last := 0
	for _, p := range order {
		last = max(last, p)
	}
	for from, to := 0, 50; from < last; from, to = to, 2*to {
		var errors []float64
		for i, p := range pairs {
			if order[i] > from && order[i] <= to {
				errors = append(errors, 100*math.Abs(p.Predicted-p.Actual)/p.Actual)
			}
		}
		n := len(errors)
		point := Point{From: from, To: min(to, last), Test: n}
		if n > 0 {
			mean, median := stat.Mean(errors, nil), stats.Median(errors)
			point.MAPE, point.MedianAPE = &mean, &median
		}
		points = append(points, point)
	}
	return points
}
