package network

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/neural"
)

// network is a network of squashed features that answers log(1+hours).
type network struct{ *neural.Network }

func (n network) Hours(x []float64) (float64, error) {
	y, err := n.Predict(model.Squash(x))
	return math.Expm1(min(max(y.Value, 0), 10)), err
}

func (n network) Save() ([]byte, error) {
	var b bytes.Buffer
	err := n.Network.Save(&b)
	return b.Bytes(), err
}

func loadNetwork(b []byte) (model.Scorer, error) {
	n, err := neural.Load(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return network{n}, nil
}

func fitNetwork(ctx context.Context, f regression.Fitter[*neural.Network], train regression.Samples) (model.Scorer, string, error) {
	logged := model.Squashed(train)
	logged.Y = model.Squash(train.Y)
	n, err := f.Fit(ctx, logged)
	if err != nil {
		return nil, "", err
	}
	return network{n}, fmt.Sprintf("%d epochs, the best was %d", n.Report().Epochs, n.Report().BestEpoch), nil
}

// fitMoE fits a mixture of ten experts with a gate.
func fitMoE(ctx context.Context, train, _ regression.Samples, s model.Settings) (model.Scorer, string, error) {
	return fitNetwork(ctx, neural.Mixture{Training: neural.Training{Epochs: 40, Patience: 8, Batch: 64, LearningRate: 0.001, Seed: s.Seed}}, train)
}

// fitTransformer fits a transformer to the history, pooled to hours.
func fitTransformer(ctx context.Context, train, _ regression.Samples, s model.Settings) (model.Scorer, string, error) {
	return fitNetwork(ctx, neural.Transformer{Steps: model.PoolSteps, Training: neural.Training{Epochs: 25, Patience: 6, Batch: 64, LearningRate: 0.001, Seed: s.Seed}}, train)
}
