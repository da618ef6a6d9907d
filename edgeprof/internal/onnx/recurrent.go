package onnx

import "slices"

// recurrentOperators run once for each step of a sequence.
var recurrentOperators = table{
	"com.microsoft.DynamicQuantizeLSTM": {shape: recurrent, work: recurrentWork, effort: always(0.6), traits: quantizes},
	"LSTM GRU":                          {shape: recurrent, work: recurrentWork},
	"RNN":                               {shape: recurrent, work: recurrentWork, effort: always(2.2)},
}

// recurrent infers LSTM, GRU or RNN: X is [steps, batch, input] (layout 0) and R is
// [directions, gates*hidden, hidden].
func recurrent(c *call) []TensorInfo {
	x, r := c.input(0), c.input(2)
	if !x.Known || !r.Known || len(x.Shape) != 3 || len(r.Shape) != 3 {
		return withType(x.Type)
	}
	steps := x.Shape[0]
	batch := x.Shape[1]
	directions := r.Shape[0]
	hidden := r.Shape[2]
	if c.node.Op == "DynamicQuantizeLSTM" { // whose weights are turned
		hidden = r.Shape[1]
	}
	all, last := []int64{steps, directions, batch, hidden}, []int64{directions, batch, hidden}
	if c.node.Int("layout", 0) == 1 {
		steps, batch = batch, steps
		all, last = []int64{batch, steps, directions, hidden}, []int64{batch, directions, hidden}
	}
	return slices.Concat(withShape(x.Type, all...), withShape(x.Type, last...), withShape(x.Type, last...))
}

func recurrentWork(_ *Node, in inputs, _ TensorInfo) (Class, []int64) {
	if x := in.shape(0); len(x) == 3 && len(in) > 2 && in.input(1).Elements() >= 0 && in.input(2).Elements() >= 0 {
		return ClassRecurrent, []int64{x[0], x[1], in.input(1).Elements() + in.input(2).Elements()}
	}
	return ClassRecurrent, nil
}
