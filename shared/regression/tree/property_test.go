package tree

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/regression"
)

// drawn draws a few samples with ties, missing values and category codes in the
// last feature.
func drawn(t *rapid.T) regression.Samples {
	rows, features := rapid.IntRange(2, 60).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "features")
	s := regression.Samples{Features: features, X: make([]float64, rows*features), Y: make([]float64, rows)}
	for i := range s.X {
		s.X[i] = float64(rapid.IntRange(0, 9).Draw(t, "x"))
		if s.X[i] == 9 {
			s.X[i] = math.NaN()
		}
	}
	scale := math.Ldexp(1, rapid.IntRange(-20, 20).Draw(t, "scale"))
	for i := range s.Y {
		s.Y[i] = scale * float64(rapid.IntRange(-20, 20).Draw(t, "y"))
	}
	return s
}

// drawnBoost draws settings that every objective accepts.
func drawnBoost(t *rapid.T, s regression.Samples) Boost {
	b := Boost{
		Objective:     rapid.SampledFrom([]Objective{SquaredError, Quantile}).Draw(t, "objective"),
		QuantileAlpha: rapid.SampledFrom([]float64{0.1, 0.5, 0.95}).Draw(t, "alpha"),
		Rounds:        rapid.IntRange(1, 12).Draw(t, "rounds"),
		Eta:           rapid.SampledFrom([]float64{0.1, 0.3, 1}).Draw(t, "eta"),
		MaxDepth:      rapid.SampledFrom([]int{-1, 1, 3}).Draw(t, "depth"),
		MaxBin:        rapid.SampledFrom([]int{2, 5, 256}).Draw(t, "bins"),
		Lambda:        rapid.SampledFrom([]float64{1e-9, 1, 10}).Draw(t, "lambda"),
	}
	if rapid.Bool().Draw(t, "codes") {
		b.Categorical = make([]bool, s.Features)
		b.Categorical[s.Features-1] = true
	}
	return b
}

// TestEveryTreeLowersTheLoss checks that no tree increases the training loss: a
// leaf's value minimises a bound of it, or the loss itself, and eta goes part of
// the way. (A quantile between two rows need not minimise the loss.)
func TestEveryTreeLowersTheLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		b := drawnBoost(t, s)
		if b.Objective == Quantile {
			b.QuantileAlpha = 0.5
		}
		e, err := b.Fit(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		l := loss{b.Objective, b.QuantileAlpha}
		size := magnitude(s.Y)
		last, out, trees := math.Inf(1), make([]float64, s.Len()), e.trees
		for n := range len(trees) + 1 {
			e.trees = trees[:n]
			if err := e.PredictAll(s.X, out, 1); err != nil {
				t.Fatal(err)
			}
			now := l.mean(s.Y, nil, out)
			if !(now <= last+1e-5*size) {
				t.Fatalf("loss %v after %d trees, %v before", now, n, last)
			}
			last = now
		}
	})
}

// TestWeightIsRepetition checks that a weight of 3 equals the same row three times.
// (In later rounds, and for other losses, sums are rounded and equal gains may
// differ.)
func TestWeightIsRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		b := drawnBoost(t, s)
		b.Objective, b.Rounds, b.MaxBin = SquaredError, 1, 256
		repeated := regression.Samples{Features: s.Features}
		for i, y := range s.Y {
			n := rapid.IntRange(0, 3).Draw(t, "weight")
			s.Weights = append(s.Weights, float64(n))
			for range n {
				repeated.X, repeated.Y = append(repeated.X, s.Row(i)...), append(repeated.Y, y)
			}
		}
		if repeated.Len() < 2 {
			t.Skip("too few rows")
		}
		weighted, err := b.Fit(context.Background(), s)
		if err != nil {
			t.Skip(err) // fewer than two rows of weight
		}
		same, err := b.Fit(context.Background(), repeated)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Len() {
			if s.Weights[i] == 0 {
				continue
			}
			p, _ := weighted.Predict(s.Row(i))
			q, _ := same.Predict(s.Row(i))
			if !(math.Abs(p.Value-q.Value) <= 1e-5*magnitude(s.Y)) {
				t.Fatalf("row %d: %v with weights, %v repeated", i, p.Value, q.Value)
			}
		}
	})
}
