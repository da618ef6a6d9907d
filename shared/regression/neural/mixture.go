package neural

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/foretime/foretime/shared/regression"
)

// Mixture is a mixture of experts (Jacobs, Jordan, Nowlan, Hinton, "Adaptive
// Mixtures of Local Experts", Neural Computation 3, 1991): the outputs of small
// perceptrons, weighted by a gate on the same features. Experts and gate are
// trained together.
type Mixture struct {
	Experts  int // 0 means 10
	Hidden   int // units of each expert's hidden layer; 0 means 32
	Gate     int // units of the gate's hidden layer; 0 means 32
	Training Training
}

var _ regression.Fitter[*Network] = Mixture{}

// Fit fits the network; at least 10 samples are needed. The error matches
// [regression.ErrTooFew], [regression.ErrNotFinite], [regression.ErrDimension],
// [regression.ErrSetting], or is ctx's. A constant feature is a warning.
func (m Mixture) Fit(ctx context.Context, s regression.Samples) (*Network, error) {
	a := mixture{m.Experts, m.Hidden, m.Gate}
	setDefault(&a.Experts, 10)
	setDefault(&a.Hidden, 32)
	setDefault(&a.Gate, 32)
	if err := a.check(); err != nil {
		return nil, err
	}
	return m.Training.fit(ctx, a, s)
}

// mixture is the architecture of a Mixture.
type mixture struct {
	Experts int `json:"experts"`
	Hidden  int `json:"hidden"`
	Gate    int `json:"gate"`
}

func setDefault(setting *int, value int) {
	if *setting == 0 {
		*setting = value
	}
}

func (a mixture) check() error {
	if a.Experts < 1 || a.Hidden < 1 || a.Gate < 1 {
		return regression.Setting("Mixture", a, "1 or more experts and units")
	}
	return nil
}

// graph maps standardised features [batch, features] to a standardised target
// [batch, 1].
func (a mixture) graph(scope *model.Scope, x *graph.Node) *graph.Node {
	answers := make([]*graph.Node, a.Experts)
	for i := range answers {
		expert := scope.In("expert%d", i)
		h := activation.Relu(layers.DenseWithBias(expert.In("hidden"), x, a.Hidden))
		answers[i] = layers.DenseWithBias(expert.In("output"), h, 1)
	}
	gate := activation.Relu(layers.DenseWithBias(scope.In("gate"), x, a.Gate))
	weights := graph.Softmax(layers.DenseWithBias(scope.In("weights"), gate, a.Experts), -1)
	return graph.InsertAxes(graph.ReduceSum(graph.Mul(weights, graph.Concatenate(answers, -1)), -1), -1)
}
