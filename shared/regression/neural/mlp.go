package neural

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/foretime/foretime/shared/regression"
)

// MLP is a multilayer perceptron: dense layers with rectified linear units
// between them, and one linear output.
type MLP struct {
	Hidden   []int // units of each hidden layer; nil means 64, 64
	Training Training
}

var _ regression.Fitter[*Network] = MLP{}

// Fit fits the network; at least 10 samples are needed. The error matches
// [regression.ErrTooFew], [regression.ErrNotFinite], [regression.ErrDimension],
// [regression.ErrSetting], or is ctx's. A constant feature is a warning.
func (m MLP) Fit(ctx context.Context, s regression.Samples) (*Network, error) {
	hidden := m.Hidden
	if hidden == nil {
		hidden = []int{64, 64}
	}
	for _, units := range hidden {
		if units < 1 {
			return nil, &regression.SettingError{Name: "Hidden", Value: hidden, Want: "1 or more units in each layer"}
		}
	}
	return m.Training.fit(ctx, mlp{Hidden: append([]int(nil), hidden...)}, s)
}

// mlp is the architecture of an MLP.
type mlp struct {
	Hidden []int `json:"hidden"`
}

func (a mlp) kind() string { return "mlp" }

func (a mlp) graph(scope *model.Scope, x *graph.Node) *graph.Node {
	for i, units := range a.Hidden {
		x = activation.Relu(layers.DenseWithBias(scope.In("hidden%d", i), x, units))
	}
	return layers.DenseWithBias(scope.In("output"), x, 1)
}

func (a mlp) scorer(weights []variable) (*Scorer, error) {
	byPath := map[string]variable{}
	for _, w := range weights {
		byPath[w.Path] = w
	}
	s := new(Scorer)
	for i := range len(a.Hidden) + 1 {
		name := "/output"
		if i < len(a.Hidden) {
			name = fmt.Sprintf("/hidden%d", i)
		}
		w, b := byPath[name+"/dense/weights"], byPath[name+"/dense/biases"]
		if len(w.Dims) != 2 || len(b.Dims) != 1 || w.Dims[1] != b.Dims[0] {
			return nil, fmt.Errorf("%w: layer %s has weights %v and biases %v", ErrFormat, name, w.Dims, b.Dims)
		}
		s.Layers = append(s.Layers, Layer{Inputs: w.Dims[0], Outputs: w.Dims[1], Weights: w.Data, Biases: b.Data})
	}
	return s, nil
}
