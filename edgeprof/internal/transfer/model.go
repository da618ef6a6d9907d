package transfer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is the probability that an interval is meant to hold a latency with.
const Level = 0.9

const (
	// folds are the parts into which chips are dealt to learn the size of errors.
	folds = 5
	// nearestRuns is the number of known configurations of which the mean is taken.
	nearestRuns = 3
)

// fit holds a table and its factors, which predict without intervals.
type fit struct {
	table   *Table
	factors *factorModel
}

// newFit finds one factor more than there are anchors, which then leave a little open.
func newFit(ctx context.Context, t *Table, anchors int) (*fit, error) {
	factors, err := fitFactors(ctx, t, anchors+1)
	return &fit{t, factors}, err
}

// estimate is the logarithm of a latency, with its standard deviation.
type estimate struct{ log, deviation float64 }

// estimates returns the mean of three methods for each model: ridge regression on the anchors,
// the nearest runs, and the factors. Its deviation has two parts: what the factors leave open
// and how far the three differ. It is NaN for a model that the table does not have.
func (f *fit) estimates(c *Config, anchors []int) []estimate {
	given := f.factors.given(c.Log, anchors)
	pattern, mean := anchorPattern(c.Log, anchors)
	out := make([]estimate, len(f.table.Models))
	for k := range out {
		if slices.Contains(anchors, k) {
			out[k] = estimate{log: c.Log[k]}
			continue
		}
		known := f.table.pairs(anchors, k)
		methods := slices.DeleteFunc([]float64{
			given.value(k), ridgeEstimate(known, pattern, mean), nearestEstimate(known, pattern, mean, nearestRuns),
		}, math.IsNaN)
		center := stat.Mean(methods, nil)
		out[k] = estimate{center, math.Sqrt(given.variance(k) + stat.MomentAbout(2, methods, center, nil))}
	}
	return out
}

// ChooseAnchors chooses the anchors of a configuration among its measurements: those that
// leave the least doubt about the other models, all in single precision.
func (f *fit) ChooseAnchors(c *Config, n int) []int {
	var anchors []int
	for range n {
		next := f.nextAnchor(anchors, func(k int) bool { return !math.IsNaN(c.Log[k]) })
		if next < 0 {
			break
		}
		anchors = append(anchors, next)
	}
	return anchors
}

// NextModel returns the model whose measurement would say most about the others; "" if all are
// measured.
func (f *fit) NextModel(anchors []int) string {
	if next := f.nextAnchor(anchors, func(int) bool { return true }); next >= 0 {
		return f.table.Models[next]
	}
	return ""
}

// nextAnchor returns the possible model in single precision that says most in addition to the
// anchors; -1 for none.
func (f *fit) nextAnchor(anchors []int, possible func(k int) bool) int {
	left := f.factors.prior()
	for _, k := range anchors {
		left.condition(k, 0)
	}
	var from, about []int
	for k, name := range f.table.Models {
		if IsInt8(name) || math.IsNaN(f.factors.mean[k]) {
			continue
		}
		about = append(about, k)
		if possible(k) && !slices.Contains(anchors, k) {
			from = append(from, k)
		}
	}
	return left.chooseNext(from, about)
}

// Model predicts the latencies of a configuration from some of them.
type Model struct {
	*fit
	bands uncertainty.Bands[bool] // of errors in standard deviations, for int8 and others
}

// Learn fits a model to a table, and finds the intervals of predictions from so
// many anchors by leaving out a fifth of the chips at a time. The error matches
// [ErrTooFew], or is the context's.
func Learn(ctx context.Context, t *Table, anchors int, seed uint64) (*Model, error) {
	chips := t.Chips()
	if len(chips) < 2*folds || anchors < 1 {
		return nil, fmt.Errorf("%w: %d chips and %d anchors, want %d chips and 1 anchor or more", ErrTooFew, len(chips), anchors, 2*folds)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(chips), func(a, b int) { chips[a], chips[b] = chips[b], chips[a] })
	var e foldErrors
	for fold := range folds {
		var out []string
		for i := fold; i < len(chips); i += folds {
			out = append(out, chips[i])
		}
		part, err := newFit(ctx, t.WithoutChips(out...), anchors)
		if err != nil {
			return nil, err
		}
		for i := range t.Configs {
			if slices.Contains(out, t.Configs[i].Chip) {
				e.add(part, &t.Configs[i], anchors)
			}
		}
	}
	bands, err := uncertainty.NewBands(uncertainty.Offset, Level, e.int8, make([]float64, len(e.errors)), e.errors)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTooFew, err)
	}
	whole, err := newFit(ctx, t, anchors)
	return &Model{whole, bands}, err
}

// foldErrors holds errors of predictions for chips that were left out, in standard deviations.
type foldErrors struct {
	int8   []bool
	errors []float64
}

// add predicts a configuration from anchors of its own.
func (e *foldErrors) add(f *fit, c *Config, anchors int) {
	chosen := f.ChooseAnchors(c, anchors)
	estimates := f.estimates(c, chosen)
	for _, k := range c.rest(chosen) {
		if off := (c.Log[k] - estimates[k].log) / estimates[k].deviation; !math.IsNaN(off) {
			e.int8 = append(e.int8, IsInt8(f.table.Models[k]))
			e.errors = append(e.errors, off)
		}
	}
}

// PredictMilliseconds predicts every model's latency from the anchors.
func (m *Model) PredictMilliseconds(c *Config, anchors []int) []uncertainty.Prediction {
	estimates := m.estimates(c, anchors)
	out := make([]uncertainty.Prediction, len(estimates))
	for k, e := range estimates {
		band, _ := m.bands.Of(IsInt8(m.table.Models[k]))
		out[k] = uncertainty.Prediction{
			Value: math.Exp(e.log), Low: math.Exp(e.log + e.deviation*band.Low), High: math.Exp(e.log + e.deviation*band.High), Level: Level,
		}
	}
	return out
}
