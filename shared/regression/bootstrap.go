package regression

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Resampling says how a bootstrap resamples. The zero value works.
type Resampling struct {
	Replicates int     // resamples drawn; 0 means 1000 for values, 100 for models
	Level      float64 // of the interval, in (0, 1); 0 means 0.95
	Seed       uint64
}

// filled puts the defaults in and checks what is left.
func (r Resampling) filled(replicates int) (Resampling, error) {
	if r.Replicates == 0 {
		r.Replicates = replicates
	}
	if r.Level == 0 {
		r.Level = 0.95
	}
	if r.Replicates < 2 {
		return r, &SettingError{Name: "Replicates", Value: r.Replicates, Want: "2 or more"}
	}
	return r, checkLevel(r.Level)
}

// Bootstrap is a statistic of the values and its percentile interval (Efron and
// Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13): the
// statistic of resamples of the same size, drawn with replacement. With few
// values the interval is too narrow; below 10 prefer a t interval. The statistic
// must not keep or change the slice it is given.
//
// At least 2 values are needed. The error matches [ErrTooFew],
// [ErrNotFinite], [ErrSetting], or is the statistic's own.
func Bootstrap(values []float64, statistic func([]float64) (float64, error), r Resampling) (Prediction, error) {
	r, err := r.filled(1000)
	if err != nil {
		return Prediction{}, err
	}
	if err := checkValues("value", values, 2); err != nil {
		return Prediction{}, err
	}
	value, err := statistic(values)
	if err != nil {
		return Prediction{}, err
	}
	rng, drawn, stats := random(r.Seed), make([]float64, len(values)), make([]float64, r.Replicates)
	for b := range stats {
		for i := range drawn {
			drawn[i] = values[rng.IntN(len(values))]
		}
		if stats[b], err = statistic(drawn); err != nil {
			return Prediction{}, fmt.Errorf("replicate %d: %w", b, err)
		}
	}
	if err := checkValues("statistic of replicate", stats, 0); err != nil {
		return Prediction{}, err
	}
	low, high := interval(stats, r.Level)
	return Prediction{Value: value, Low: low, High: high}, nil
}

// interval is the central interval of values at a level. It sorts the values.
func interval(values []float64, level float64) (low, high float64) {
	slices.Sort(values)
	return sortedQuantile(values, (1-level)/2), sortedQuantile(values, (1+level)/2)
}

// Bagged is a model with bootstrap intervals: many models, each fitted on a
// resample of the rows. Their spread is the doubt about the model, and their
// errors on rows they did not draw are the noise about it.
type Bagged struct {
	model  Model // fitted on all rows; gives the value
	models []Model
	noise  []float64 // one error a model, of a row that model did not draw
	level  float64
}

var _ Model = (*Bagged)(nil)

// Bag fits f on all samples, then on resamples of the rows, and answers with
// prediction intervals. They need no formula, only rows that are independent.
//
// A resample that f refuses as [ErrTooFew], [ErrConstant] or [ErrCollinear] would be refused by
// chance alone; Bag draws another, at most 10 for each that is kept. The error
// is f's own or matches [ErrSetting] or [ErrTooFew].
func Bag(ctx context.Context, f Fitter, s Samples, r Resampling) (*Bagged, error) {
	r, err := r.filled(100)
	if err != nil {
		return nil, err
	}
	if s.Len() < 2 {
		return nil, &TooFewError{What: "samples", Have: s.Len(), Need: 2}
	}
	whole, err := f.Fit(ctx, s)
	if err != nil {
		return nil, err
	}
	b := &Bagged{model: whole, level: r.Level}
	rng := random(r.Seed)
	var refused error
	for draw := 0; len(b.models) < r.Replicates; draw++ {
		if draw == 10*r.Replicates {
			return nil, fmt.Errorf("bootstrap: %d of %d resamples could be fitted: %w", len(b.models), draw, refused)
		}
		drawn, left := resample(s.Len(), rng.IntN)
		if len(left) == 0 {
			continue
		}
		row := left[rng.IntN(len(left))]
		if err := b.add(ctx, f, s, drawn, row); refusedByChance(err) {
			refused = err
		} else if err != nil {
			return nil, fmt.Errorf("bootstrap replicate %d: %w", len(b.models), err)
		}
	}
	return b, nil
}

// add fits one replicate and notes its error on a row it did not see.
func (b *Bagged) add(ctx context.Context, f Fitter, s Samples, drawn []int, unseen int) error {
	m, err := f.Fit(ctx, s.Select(drawn))
	if err != nil {
		return err
	}
	p, err := m.Predict(s.Row(unseen))
	if err != nil {
		return err
	}
	b.models, b.noise = append(b.models, m), append(b.noise, s.Y[unseen]-p.Value)
	return nil
}

// resample draws n of n rows with replacement; left are those not drawn.
func resample(n int, intN func(int) int) (drawn, left []int) {
	seen := make([]bool, n)
	drawn = make([]int, n)
	for i := range drawn {
		drawn[i] = intN(n)
		seen[drawn[i]] = true
	}
	for i, s := range seen {
		if !s {
			left = append(left, i)
		}
	}
	return drawn, left
}

// Features is the width of the rows.
func (b *Bagged) Features() int { return b.model.Features() }

// Warnings are those of the model that was fitted on all rows.
func (b *Bagged) Warnings() []error { return Warnings(b.model) }

// Predict is the value of the model fitted on all rows, with the central
// interval of the replicates' values, each moved by its own noise.
func (b *Bagged) Predict(x []float64) (Prediction, error) {
	p, err := b.model.Predict(x)
	if err != nil {
		return Prediction{}, err
	}
	values := make([]float64, len(b.models))
	for i, m := range b.models {
		q, err := m.Predict(x)
		if err != nil {
			return Prediction{}, fmt.Errorf("replicate %d: %w", i, err)
		}
		values[i] = q.Value + b.noise[i]
	}
	p.Low, p.High = interval(values, b.level)
	return p, nil
}

// refusedByChance reports whether a resample was refused for rows that happen
// to be missing from it.
func refusedByChance(err error) bool {
	return errors.Is(err, ErrTooFew) || errors.Is(err, ErrConstant) || errors.Is(err, ErrCollinear)
}
