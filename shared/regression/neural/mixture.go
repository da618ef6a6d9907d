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
// Mixtures of Local Experts", Neural Computation 3, 1991): the answers of small
// perceptrons, weighted by a gate that looks at the same features. Experts and
// gate are learnt together.
type Mixture struct {
	Experts  int // 0 means 10
	Hidden   int // units of each expert's hidden layer; 0 means 32
	Gate     int // units of the gate's hidden layer; 0 means 32
	Training Training
}

var _ regression.Fitter[*Network] = Mixture{}

// Fit fits the network; the errors are those of [MLP.Train].
func (m Mixture) Fit(ctx context.Context, s regression.Samples) (*Network, error) {
	a := mixture{m.Experts, m.Hidden, m.Gate}
	for _, d := range []struct {
		value *int
		def   int
		name  string
	}{{&a.Experts, 10, "Experts"}, {&a.Hidden, 32, "Hidden"}, {&a.Gate, 32, "Gate"}} {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < 1 {
			return nil, &regression.SettingError{Name: d.name, Value: *d.value, Want: "1 or more"}
		}
	}
	return m.Training.fit(ctx, a, s)
}

// mixture is the architecture of a Mixture.
type mixture struct {
	Experts int `json:"experts"`
	Hidden  int `json:"hidden"`
	Gate    int `json:"gate"`
}

func (a mixture) kind() string { return "mixture" }

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

func (a mixture) scorer([]variable) (*Scorer, error) { return nil, ErrNoScorer }
