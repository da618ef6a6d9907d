package neural

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/norm"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/foretime/foretime/shared/regression"
)

// Transformer is an encoder over a sequence (Vaswani and others, "Attention Is
// All You Need", 2017, section 3.1): a row is Steps vectors of equal width, one
// after the other. Each, with its place in the sequence, is mapped to Width units;
// Blocks layers of self-attention and a dense layer follow, each with a residual
// and normalised; all units of all steps feed the output.
type Transformer struct {
	Steps    int // vectors in a row; needed
	Width    int // units of a step; 0 means 32
	Heads    int // of the attention, a divisor of Width; 0 means 2
	Blocks   int // 0 means 1
	Training Training
}

var _ regression.Fitter[*Network] = Transformer{}

// Fit fits the network; the errors are those of [MLP.Train], and
// [regression.ErrDimension] where the features are no whole number of steps.
func (t Transformer) Fit(ctx context.Context, s regression.Samples) (*Network, error) {
	a := transformer{t.Steps, t.Width, t.Heads, t.Blocks}
	for _, d := range []struct {
		value *int
		def   int
	}{{&a.Width, 32}, {&a.Heads, 2}, {&a.Blocks, 1}} {
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	if s.Features%a.Steps != 0 {
		return nil, &regression.DimensionError{What: fmt.Sprintf("features, to be a multiple of %d steps", a.Steps), Have: s.Features, Want: s.Features / a.Steps * a.Steps}
	}
	return t.Training.fit(ctx, a, s)
}

// transformer is the architecture of a Transformer.
type transformer struct {
	Steps  int `json:"steps"`
	Width  int `json:"width"`
	Heads  int `json:"heads"`
	Blocks int `json:"blocks"`
}

func (a transformer) check() error {
	if a.Steps < 1 || a.Width < 1 || a.Heads < 1 || a.Blocks < 1 || a.Width%a.Heads != 0 {
		return &regression.SettingError{Name: "Transformer", Value: a, Want: "1 or more steps, units, heads and blocks, heads a divisor of the units"}
	}
	return nil
}

func (a transformer) kind() string { return "transformer" }

func (a transformer) graph(scope *model.Scope, x *graph.Node) *graph.Node {
	batch := x.Shape().Dimensions[0]
	h := graph.Reshape(x, batch, a.Steps, x.Shape().Dimensions[1]/a.Steps)
	place := make([][]float32, a.Steps) // each step says which one it is
	for i := range place {
		place[i] = make([]float32, a.Steps)
		place[i][i] = 1
	}
	places := graph.BroadcastToDims(graph.InsertAxes(graph.Const(x.Graph(), place), 0), batch, a.Steps, a.Steps)
	h = graph.Concatenate([]*graph.Node{h, places}, -1)
	h = layers.DenseWithBias(scope.In("embed"), h, a.Width)
	for i := range a.Blocks {
		block := scope.In("block%d", i)
		h = norm.LayerNorm(block.In("norm_attention"), graph.Add(h, a.attend(block, h)), -1).Done()
		dense := activation.Relu(layers.DenseWithBias(block.In("dense"), h, 2*a.Width))
		dense = layers.DenseWithBias(block.In("project"), dense, a.Width)
		h = norm.LayerNorm(block.In("norm_dense"), graph.Add(h, dense), -1).Done()
	}
	return layers.DenseWithBias(scope.In("output"), graph.Reshape(h, batch, a.Steps*a.Width), 1)
}

// attend is scaled dot-product self-attention over the steps, for all heads.
func (a transformer) attend(scope *model.Scope, h *graph.Node) *graph.Node {
	batch := h.Shape().Dimensions[0]
	part := func(name string) *graph.Node {
		return graph.Reshape(layers.DenseWithBias(scope.In("%s", name), h, a.Width), batch, a.Steps, a.Heads, a.Width/a.Heads)
	}
	scores := graph.Einsum("bqhd,bkhd->bhqk", part("query"), part("key"))
	scores = graph.Softmax(graph.MulScalar(scores, 1/math.Sqrt(float64(a.Width/a.Heads))), -1)
	mixed := graph.Einsum("bhqk,bkhd->bqhd", scores, part("value"))
	return layers.DenseWithBias(scope.In("mix"), graph.Reshape(mixed, batch, a.Steps, a.Width), a.Width)
}

func (a transformer) scorer([]variable) (*Scorer, error) { return nil, ErrNoScorer }
