package transfer

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	goruntime "runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

var (
	judgeTable   = flag.String("table", "", "table of latencies that TestJudge judges")
	judgeAnchors = flag.Int("anchors", 3, "measured models of each configuration in TestJudge")
)

// TestJudge prints the evaluation of a table as JSON: the stored results are its.
func TestJudge(t *testing.T) {
	if *judgeTable == "" {
		t.Skip("-table names no table")
	}
	table, err := ReadTable([]string{*judgeTable}, true)
	if err != nil {
		t.Fatal(err)
	}
	judged, err := Judge(t.Context(), table, Options{Anchors: *judgeAnchors, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(judged); err != nil {
		t.Fatal(err)
	}
}

// Options of a judgement.
type Options struct {
	Anchors int
	Chips   []string // judged; nil is all
	Seed    uint64
}

// Scores say how far off predictions were; shares are of 0 to 1.
type Scores struct {
	Predictions int     `json:"predictions"`
	Within10    float64 `json:"within_10"`
	Within25    float64 `json:"within_25"`
	MedianAPE   float64 `json:"median_ape"`
	// Coverage is the share of latencies that their intervals contained; nil where there
	// are no intervals or only one chip. Its 95 % interval is by chips.
	Coverage         *float64                `json:"coverage,omitempty"`
	CoverageInterval *uncertainty.Prediction `json:"coverage_interval,omitempty"`
}

// Evaluation holds the scores of predictions, separately for models in single precision and in
// int8.
type Evaluation struct {
	Chips          int `json:"chips"`
	Configurations int `json:"configurations"`
	Anchors        int `json:"anchors"`
	Scores
	// MeanSpearman is the mean rank correlation of predicted and measured latencies.
	MeanSpearman *float64          `json:"mean_spearman,omitempty"`
	Level        float64           `json:"level"`
	Baselines    map[string]Scores `json:"baselines"`
	// Fastest judges the choice of the fastest of three boards.
	Fastest []Choices   `json:"fastest,omitempty"`
	Int8    *Evaluation `json:"int8,omitempty"`
}

// NearestRun is the baseline of a judgement: the run whose anchors are most like
// these, scaled.
const NearestRun = "nearest_run"

// outcome compares one prediction with the measurement, all as logarithms of milliseconds.
type outcome struct {
	chip    string
	config  int
	model   int
	int8    bool
	actual  float64
	ours    uncertainty.Prediction // milliseconds
	nearest float64
}

// Judge leaves out one chip at a time, with all its boards, and predicts each of
// their configurations from anchors that it chooses itself. The error matches
// [ErrTooFew] or [ErrTable], a chip that the table does not have, or is the
// context's.
func Judge(ctx context.Context, t *Table, o Options) (*Evaluation, error) {
	chips := o.Chips
	if chips == nil {
		chips = t.Chips()
	}
	for _, chip := range chips {
		if !slices.Contains(t.Chips(), chip) {
			return nil, fmt.Errorf("%w: it has no row of chip %q", ErrTable, chip)
		}
	}
	found := make([][]outcome, len(chips))
	all, ctx := crash.WithContext(ctx)
	all.SetLimit(goruntime.GOMAXPROCS(0))
	for i, chip := range chips {
		all.Go(func() (err error) {
			found[i], err = predictChip(ctx, t, chip, o)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	var single, quantized []outcome
	for _, x := range slices.Concat(found...) {
		if x.int8 {
			quantized = append(quantized, x)
		} else {
			single = append(single, x)
		}
	}
	judged, err := evaluate(single, o.Anchors)
	if err != nil {
		return nil, err
	}
	judged.Fastest = judgeChoices(t, single)
	if len(quantized) > 0 {
		judged.Int8, err = evaluate(quantized, o.Anchors)
	}
	for i := range t.Configs {
		if slices.Contains(chips, t.Configs[i].Chip) {
			judged.Configurations++
		}
	}
	return judged, err
}

// predictChip predicts the configurations of a chip from those of all others.
func predictChip(ctx context.Context, t *Table, chip string, o Options) ([]outcome, error) {
	train := t.WithoutChips(chip)
	m, err := Learn(ctx, train, o.Anchors, o.Seed)
	if err != nil {
		return nil, err
	}
	var out []outcome
	for i := range t.Configs {
		c := &t.Configs[i]
		if c.Chip != chip {
			continue
		}
		anchors := m.ChooseAnchors(c, o.Anchors)
		predicted := m.PredictMilliseconds(c, anchors)
		pattern, mean := anchorPattern(c.Log, anchors)
		for _, k := range c.rest(anchors) {
			if !math.IsNaN(predicted[k].Value) {
				nearest := nearestEstimate(train.pairs(anchors, k), pattern, mean, 1)
				out = append(out, outcome{chip, i, k, IsInt8(t.Models[k]), c.Log[k], predicted[k], nearest})
			}
		}
	}
	return out, nil
}

// evaluate scores the predictions of one kind of models.
func evaluate(all []outcome, anchors int) (*Evaluation, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no latencies except those of the anchors", ErrTooFew)
	}
	j := &Evaluation{Anchors: anchors, Level: Level, Baselines: map[string]Scores{}}
	var ours, nearest []float64
	var cases []uncertainty.Case
	chips := map[string]bool{}
	for _, x := range all {
		chips[x.chip] = true
		ours = append(ours, math.Log(x.ours.Value)-x.actual)
		cases = append(cases, uncertainty.Case{Prediction: x.ours, Actual: math.Exp(x.actual), Block: x.chip})
		if !math.IsNaN(x.nearest) {
			nearest = append(nearest, x.nearest-x.actual)
		}
	}
	j.Chips = len(chips)
	j.Scores = scoreErrors(ours)
	j.MeanSpearman = meanSpearman(all)
	if len(chips) > 1 {
		v, err := uncertainty.Judge(Level, cases)
		if err != nil {
			return nil, err
		}
		j.Coverage = &v.Coverage.Value
		j.CoverageInterval = &v.Coverage
	}
	if len(nearest) > 0 {
		j.Baselines[NearestRun] = scoreErrors(nearest)
	}
	return j, nil
}

// meanSpearman returns the mean, over configurations, of the rank correlation of predicted and
// measured latencies; nil if no configuration has one.
func meanSpearman(all []outcome) *float64 {
	var correlations []float64
	for len(all) > 0 {
		var predicted, actual []float64
		for config := all[0].config; len(all) > 0 && all[0].config == config; all = all[1:] {
			predicted = append(predicted, all[0].ours.Value)
			actual = append(actual, all[0].actual)
		}
		if rho, err := regression.Spearman(predicted, actual); err == nil {
			correlations = append(correlations, rho)
		}
	}
	if len(correlations) == 0 {
		return nil
	}
	mean := stat.Mean(correlations, nil)
	return &mean
}

// scoreErrors returns the scores of logarithms of predicted over actual latency.
func scoreErrors(off []float64) Scores {
	s := Scores{Predictions: len(off)}
	apes := make([]float64, len(off))
	for i, d := range off {
		apes[i] = math.Abs(math.Exp(d) - 1)
		if apes[i] <= 0.1 {
			s.Within10++
		}
		if apes[i] <= 0.25 {
			s.Within25++
		}
	}
	s.Within10 /= float64(len(off))
	s.Within25 /= float64(len(off))
	s.MedianAPE = stats.Median(apes)
	return s
}
