package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/forecast"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrSplit is returned for a split that leaves nothing to learn from or to be
// judged by.
var ErrSplit = errors.New("unusable split")

// Split divides logs into a part to learn from and one to be judged by. One of
// its fields is set.
type Split struct {
	Fraction float64  // the first share of each log
	Rows     int      // the first rows of each log
	Files    []string // whole logs, by name
}

// at is how many of n rows of a log are learned from.
func (s Split) at(name string, n int) (int, error) {
	switch {
	case len(s.Files) > 0:
		if slices.Contains(s.Files, name) {
			return n, nil
		}
		return 0, nil
	case s.Rows > 0:
		return min(s.Rows, n), nil
	case s.Fraction > 0 && s.Fraction < 1:
		return int(s.Fraction * float64(n)), nil
	}
	return 0, fmt.Errorf("%w: want a fraction in (0, 1), a number of rows, or files", ErrSplit)
}

// Result is how far predictions were off. Shares are in percent; a figure that
// does not exist is nil.
type Result struct {
	Train     int      `json:"train"`
	Test      int      `json:"test"`
	MAE       *float64 `json:"mae"` // seconds
	MAPE      *float64 `json:"mape"`
	MedianAPE *float64 `json:"median_ape"`
	R2        *float64 `json:"r2"`
	Spearman  *float64 `json:"spearman"`
	Unseen    Unseen   `json:"unseen"`
	Model     string   `json:"model"`    // that answered most
	Covered   *float64 `json:"covered"`  // share of those with an interval that lay within it, percent
	Coverage  *float64 `json:"coverage"` // the same as a share
	WAPE      *float64 `json:"wape"`     // sum of the misses over the sum of what came, percent
	Pairs     []Pair   `json:"-"`
	Warnings  []string `json:"warnings"`
}

// Unseen is the part of the judged runs whose sizes were not learned from.
type Unseen struct {
	Test      int      `json:"test"`
	MAPE      *float64 `json:"mape"`
	MedianAPE *float64 `json:"median_ape"`
}

// Pair is a prediction and what came, in seconds.
type Pair struct {
	Predicted, Actual float64
	Low, High         float64
	Iteration         int
	Size              float64 // bytes of all arguments
	Unseen            bool
}

// EvaluateTasks judges task models on logs of runs. Intervals are conformal: models
// that learned from the first half of what is to be learned predict the second half,
// as they will what is judged, without learning from it; how far off they are there
// makes the interval of each function.
func EvaluateTasks(ctx context.Context, logs []*task.Log, split Split, o perfmodel.Options) (*Result, error) {
	r, model := &Result{}, perfmodel.New(o)
	var first, second, judged []task.Row
	for _, l := range logs {
		cut, err := split.at(l.Name, len(l.Rows))
		if err != nil {
			return nil, err
		}
		first, second, judged = append(first, l.Rows[:cut/2]...), append(second, l.Rows[cut/2:cut]...), append(judged, l.Rows[cut:]...)
	}
	if r.Train = len(first) + len(second); r.Train == 0 || len(judged) == 0 {
		return nil, r.Score()
	}
	learned := map[*perfmodel.Footprint]bool{}
	learn := func(rows []task.Row) {
		for _, row := range rows {
			e := model.Entry(row.Entry)
			fp := e.Footprint(row.Sizes)
			e.Observe(fp, row.Seconds)
			learned[fp] = true
		}
		for _, name := range model.Names() {
			model.Entry(name).Fit()
		}
	}
	learn(first)
	bands := intervals(model, second, o.Level)
	learn(second)
	served, unknown := map[string]int{}, 0
	for _, row := range judged {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := model.Entry(row.Entry)
		fp := e.Footprint(row.Sizes)
		p, err := e.Predict(fp)
		if err != nil {
			unknown++
			continue
		}
		served[p.Model]++
		low, high := math.Inf(-1), math.Inf(1)
		if bands != nil {
			band, _ := bands.Of(row.Entry)
			about := band.Predict(p.Value)
			low, high = about.Low, about.High
		}
		size := 0.0
		for _, s := range row.Sizes {
			size += float64(s)
		}
		r.Pairs = append(r.Pairs, Pair{p.Value, row.Seconds, low, high, row.Iteration, size, !learned[fp]})
	}
	if unknown > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("ignored %s of functions that the training part does not contain", plural.Count(unknown, "run")))
	}
	r.Model = most(served)
	return r, r.Score()
}

// intervals are those of the functions by runs that the model has not learned from,
// nil where they are too few.
func intervals(model *perfmodel.Model, rows []task.Row, level float64) *uncertainty.Bands[string] {
	var functions []string
	var predicted, actual []float64
	for _, row := range rows {
		e := model.Entry(row.Entry)
		if p, err := e.Predict(e.Footprint(row.Sizes)); err == nil && row.Seconds > 0 {
			functions, predicted, actual = append(functions, row.Entry), append(predicted, p.Value), append(actual, row.Seconds)
		}
	}
	if level == 0 {
		level = perfmodel.Level
	}
	bands, err := uncertainty.NewBands(uncertainty.Factor, level, functions, predicted, actual)
	if err != nil {
		return nil
	}
	return &bands
}

// EvaluateLoads judges forecasts of iteration loads. Each log is learned by itself;
// the pairs are pooled.
func EvaluateLoads(logs []*task.Log, split Split, o forecast.Options, recursive bool) (*Result, error) {
	r := &Result{}
	served := map[string]int{}
	for _, l := range logs {
		series, known, err := seriesOf(l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		cut, err := split.at(l.Name, len(l.Loads))
		if err != nil {
			return nil, err
		}
		if cut == 0 || cut == len(l.Loads) {
			return nil, fmt.Errorf("%s: %w: %d of %d iterations to learn from; each file is one series", l.Name, ErrSplit, cut, len(l.Loads))
		}
		r.Train += cut
		history := series[:known+cut]
		m, err := forecast.Fit(history, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		served[m.Kind.String()] += len(l.Loads) - cut
		if err := r.forecast(m, series, known+cut, recursive); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	r.Model = most(served)
	return r, r.Score()
}

// forecast judges a model on the rest of a series: one step ahead, each with the
// loads before it, or all from its own forecasts.
func (r *Result) forecast(m *forecast.Model, series []float64, cut int, recursive bool) error {
	m.Freeze()
	future := m.Ahead(len(series) - cut)
	for i := cut; i < len(series); i++ {
		p := future[i-cut]
		if !recursive {
			p = m.Next()
			if err := m.Observe(series[i]); err != nil {
				return fmt.Errorf("iteration %d: %w", i, err)
			}
		}
		r.Pairs = append(r.Pairs, Pair{Predicted: p, Actual: series[i], Low: math.NaN(), High: math.NaN(), Iteration: i})
	}
	return nil
}

// seriesOf is a log's loads as one series; known of them come before the first
// that can be judged.
func seriesOf(l *task.Log) (series []float64, known int, err error) {
	if len(l.Windows) == 0 {
		return l.Loads, 0, nil
	}
	for i := 1; i < len(l.Windows); i++ {
		shifted := append(slices.Clone(l.Windows[i-1][1:]), l.Loads[i-1])
		if !slices.Equal(shifted, l.Windows[i]) {
			return nil, 0, fmt.Errorf("row %d does not continue the row before it: the windows belong to several series", i+1)
		}
	}
	return append(slices.Clone(l.Windows[0]), l.Loads...), len(l.Windows[0]), nil
}

// Score computes the figures from the pairs.
func (r *Result) Score() error {
	r.Test = len(r.Pairs)
	if r.Train == 0 || r.Test == 0 {
		return fmt.Errorf("%w: %d rows to learn from, %d to predict", ErrSplit, r.Train, r.Test)
	}
	m, err := metrics(r.Pairs)
	if err != nil {
		return err
	}
	r.MAE, r.MAPE, r.MedianAPE = figure(m.MAE), figure(100*m.MAPE), figure(100*m.MedianAPE)
	r.R2, r.Spearman, r.WAPE = figure(m.R2), figure(m.Spearman), figure(wape(r.Pairs))
	for _, w := range m.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	covered, bounded := 0, 0
	var unseen []Pair
	for _, p := range r.Pairs {
		if p.Unseen {
			unseen = append(unseen, p)
		}
		if !math.IsNaN(p.Low) && !math.IsInf(p.High, 1) {
			bounded++
			if p.Low <= p.Actual && p.Actual <= p.High {
				covered++
			}
		}
	}
	if bounded > 0 {
		share := float64(covered) / float64(bounded)
		r.Covered, r.Coverage = figure(100*share), figure(share)
	}
	r.Unseen.Test = len(unseen)
	if len(unseen) > 0 {
		m, err := metrics(unseen)
		if err != nil {
			return err
		}
		r.Unseen.MAPE, r.Unseen.MedianAPE = figure(100*m.MAPE), figure(100*m.MedianAPE)
	}
	return nil
}

// wape is the sum of the misses over the sum of what came, in percent: long
// runs count for what they last.
func wape(pairs []Pair) float64 {
	missed, came := 0.0, 0.0
	for _, p := range pairs {
		missed += math.Abs(p.Predicted - p.Actual)
		came += p.Actual
	}
	return 100 * missed / came
}

func metrics(pairs []Pair) (regression.Metrics, error) {
	actual, predicted := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		actual[i], predicted[i] = p.Actual, p.Predicted
	}
	return regression.Evaluate(actual, predicted)
}

func figure(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func most(counts map[string]int) string {
	best := ""
	for name, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && name < best {
			best = name
		}
	}
	return best
}
