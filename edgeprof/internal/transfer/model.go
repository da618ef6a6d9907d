package transfer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is the probability that an interval is meant to hold a latency with.
const Level = 0.9

// folds are the parts that chips are dealt into to learn how far off predictions
// are.
const folds = 5

// Model predicts the latencies of a configuration from some of them.
type Model struct {
	*JointDistribution
	anchors int
	bands   uncertainty.Bands[bool] // of errors in standard deviations, for int8 and others
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
	var groups []bool
	var zeros, errors []float64
	for f := range folds {
		var out []string
		for i := f; i < len(chips); i += folds {
			out = append(out, chips[i])
		}
		joint, err := Fit(ctx, t.WithoutChips(out...))
		if err != nil {
			return nil, err
		}
		for i := range t.Configs {
			c := &t.Configs[i]
			if !slices.Contains(out, c.Chip) {
				continue
			}
			chosen, err := joint.ChooseAnchors(ctx, c, anchors)
			if err != nil {
				return nil, err
			}
			p, err := joint.Predict(c, chosen)
			if err != nil {
				return nil, err
			}
			for _, k := range rest(c, chosen) {
				groups, zeros = append(groups, IsInt8(t.Models[k])), append(zeros, 0)
				errors = append(errors, (c.Log[k]-p[k].Log)/p[k].Deviation)
			}
		}
	}
	m := &Model{anchors: anchors}
	var err error
	if m.bands, err = uncertainty.NewBands(uncertainty.Offset, Level, groups, zeros, errors); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTooFew, err)
	}
	m.JointDistribution, err = Fit(ctx, t)
	return m, err
}

// rest are the measured models of a configuration but for its anchors.
func rest(c *Config, anchors []int) []int {
	return slices.DeleteFunc(measured(c.Log), func(k int) bool { return slices.Contains(anchors, k) })
}

// ChooseAnchors chooses the anchors of a configuration among its measurements, single
// precision alone: those that leave the least doubt about the rest.
func (j *JointDistribution) ChooseAnchors(ctx context.Context, c *Config, n int) ([]int, error) {
	single := func(k int) bool { return !IsInt8(j.Models[k]) }
	var from, about []int
	for k := range j.Models {
		if single(k) {
			about = append(about, k)
			if !math.IsNaN(c.Log[k]) {
				from = append(from, k)
			}
		}
	}
	return j.Anchors(ctx, nil, from, about, n)
}

// PredictMilliseconds predicts every model's latency from the anchors.
func (m *Model) PredictMilliseconds(c *Config, anchors []int) ([]uncertainty.Prediction, error) {
	estimates, err := m.Predict(c, anchors)
	if err != nil {
		return nil, err
	}
	out := make([]uncertainty.Prediction, len(estimates))
	for k, e := range estimates {
		band, _ := m.bands.Of(IsInt8(m.Models[k]))
		out[k] = uncertainty.Prediction{
			Value: math.Exp(e.Log), Low: math.Exp(e.Log + e.Deviation*band.Low), High: math.Exp(e.Log + e.Deviation*band.High), Level: Level,
		}
	}
	return out, nil
}

// NextModel returns the model whose measurement would say most about the others; "" if all are
// measured.
func (j *JointDistribution) NextModel(ctx context.Context, anchors []int) (string, error) {
	var from, all []int
	for k, name := range j.Models {
		all = append(all, k)
		if !slices.Contains(anchors, k) && !IsInt8(name) {
			from = append(from, k)
		}
	}
	next, err := j.Anchors(ctx, anchors, from, all, 1)
	if err != nil || len(next) == 0 {
		return "", err
	}
	return j.Models[next[0]], nil
}
