package model

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/neural"
)

// squash replaces each x by sign(x)·log(1+|x|), which gives counts, minutes and seconds similar
// spreads.
func squash(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Copysign(math.Log1p(math.Abs(v)), v)
	}
	return out
}

// mixture is a network of squashed features that answers log(1+hours).
type mixture struct{ *neural.Network }

func (m mixture) Hours(x []float64) (float64, error) {
	y, err := m.Predict(squash(x))
	return math.Expm1(min(max(y.Value, 0), 10)), err
}

func (m mixture) Save() ([]byte, error) {
	var b bytes.Buffer
	err := m.Network.Save(&b)
	return b.Bytes(), err
}

func loadMixture(b []byte) (Scorer, error) {
	n, err := neural.Load(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return mixture{n}, nil
}

// fitMixture fits a mixture of ten experts with a gate.
func fitMixture(ctx context.Context, train, _ regression.Samples, s Settings) (Scorer, string, error) {
	logged := train
	logged.X = squash(train.X)
	logged.Y = squash(train.Y)
	n, err := neural.Mixture{Training: neural.Training{Epochs: 40, Patience: 8, Batch: 64, LearningRate: 0.001, Seed: s.Seed}}.Fit(ctx, logged)
	if err != nil {
		return nil, "", err
	}
	return mixture{n}, fmt.Sprintf("%d epochs, the best was %d", n.Report().Epochs, n.Report().BestEpoch), nil
}
