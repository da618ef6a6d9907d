package network

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/neural"
)

// perceptron is a network over squashed features that answers log(1+hours).
type perceptron struct{ *neural.Scorer }

func (p perceptron) Hours(x []float64) (float64, error) {
	y, err := p.Predict(model.Squash(x))
	return math.Expm1(min(max(y.Value, 0), 10)), err
}

func (p perceptron) Save() ([]byte, error) { return json.Marshal(p.Scorer) }

func loadPerceptron(b []byte) (model.Scorer, error) {
	s := new(neural.Scorer)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	return perceptron{s}, nil
}

// fitMLP fits a multilayer perceptron.
func fitMLP(ctx context.Context, train, _ regression.Samples, s model.Settings) (model.Scorer, string, error) {
	logged := model.Squashed(train)
	logged.Y = model.Squash(train.Y)
	n, err := neural.MLP{Hidden: []int{64, 32}, Training: neural.Training{Epochs: 60, Patience: 10, Batch: 64, LearningRate: 0.001, Seed: s.Seed}}.Fit(ctx, logged)
	if err != nil {
		return nil, "", err
	}
	scorer, err := n.Scorer()
	if err != nil {
		return nil, "", err
	}
	return perceptron{scorer}, fmt.Sprintf("%d epochs, the best was %d", n.Report().Epochs, n.Report().BestEpoch), nil
}
