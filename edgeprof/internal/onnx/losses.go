package onnx

import "slices"

// lossOperators compare scores with classes.
var lossOperators = table{
	"NegativeLogLikelihoodLoss": {shape: loss, class: ClassMove, effort: always(2.6)},
	"SoftmaxCrossEntropyLoss":   {shape: loss, class: ClassSoftmax, effort: crossEntropyEffort},
}

// crossEntropyEffort is high where the scores of one place do not lie next to each other.
func crossEntropyEffort(c *Cost) float64 {
	if len(c.shapeOf(0)) > 2 {
		return 11
	}
	return 4.2
}

// loss takes scores [batch, classes, ...] and classes [batch, ...] and returns one value, or
// one for each class. Its second output is the logarithm of the scores.
func loss(c *call) []TensorInfo {
	x, classes := c.input(0), c.input(1)
	one := shaped(x.Type)
	if c.node.Text("reduction") == "none" {
		one = []TensorInfo{{Type: x.Type, Known: classes.Known, Shape: classes.Shape}}
	}
	return append(one, TensorInfo{Type: x.Type, Known: x.Known, Shape: x.Shape})
}

// trainingOperators are steps of an optimiser.
var trainingOperators = table{
	"ai.onnx.preview.training.Adagrad":  {shape: optimiser(1)},
	"ai.onnx.preview.training.Momentum": {shape: optimiser(1)},
	"ai.onnx.preview.training.Adam":     {shape: optimiser(2)},
}

// optimiser has a rate, a count, then all tensors, all gradients and so many lists of
// states; it gives the tensors and the states.
func optimiser(states int) rule {
	return func(c *call) []TensorInfo {
		if len(c.inputs) < 2 {
			return nil
		}
		each := (len(c.inputs) - 2) / (2 + states)
		rest := c.inputs[2:]
		var out []TensorInfo
		for _, s := range slices.Concat(rest[:each], rest[min(2*each, len(rest)):]) {
			out = append(out, TensorInfo{Type: s.Type, Known: s.Known, Shape: s.Shape})
		}
		return out
	}
}
