package onnx

import (
	"cmp"
	"slices"
)

// Variants of operators for which the Go runtime takes other times than for their usual form.
const (
	variantAxis  = "along an axis before the last"
	variantFirst = "over other axes than the first, or of long rows"
	variantFar   = "of values that lie far apart"
	variantInner = "of the axes after the first"
	variantStep  = "with steps along the last axis"
)

// Bounds of the usual form: the distance of values that a transpose brings together, and the
// length of the rows that a reduction adds up.
const (
	usualDistance = 1024
	usualRow      = 4096
)

// plainCell is the effort of the Go runtime for a value under a pool's window: a pool of 3x3
// values in steps of two has the effort 1.
const plainCell = 2.2

// variant names the form of an operator if it is not the usual one.
func (c *Cost) variant() string {
	switch op := c.node.Op; {
	case op == "Softmax" && !c.lastAxis(-1):
		return variantAxis
	case op == "ReduceMean" && !c.firstAxes():
		return variantFirst
	case op == "Transpose" && c.distance() > usualDistance:
		return variantFar
	case op == "Transpose" && c.innerOrder():
		return variantInner
	case op == "Slice" && sliceEffort(c) > 1:
		return variantStep
	}
	return ""
}

// firstAxes reports whether a reduction is over the first axes, but for those of one value,
// of rows of usual length.
func (c *Cost) firstAxes() bool {
	reduced := c.reduced()
	kept, row := false, int64(1)
	for i, n := range c.shapeOf(0) {
		if n != 1 && reduced[i] && kept {
			return false
		}
		if kept = kept || n != 1 && !reduced[i]; kept {
			row = saturated(row, n)
		}
	}
	return kept && row <= usualRow
}

// distance returns how far apart the values lay that a transpose brings next to each other.
func (c *Cost) distance() int64 {
	shape, order := c.shapeOf(0), c.order()
	for _, a := range slices.Backward(order) {
		if a >= 0 && a < int64(len(shape)) && shape[a] != 1 {
			n, _ := product(shape[a+1:])
			return n
		}
	}
	return 1
}

// innerOrder reports whether a transpose keeps the first axis and moves the last one, as of
// a batch of matrices.
func (c *Cost) innerOrder() bool {
	var order []int64 // without axes of one value
	shape := c.shapeOf(0)
	for _, a := range c.order() {
		if a >= 0 && a < int64(len(shape)) && shape[a] != 1 {
			order = append(order, a)
		}
	}
	n := len(order)
	return n > 2 && order[0] == slices.Min(order) && order[n-1] != slices.Max(order)
}

// plainEffort returns how many times as long the Go runtime takes for an operator as the
// rates of its class say; 0 is 1. The factors were measured with one thread, operator by
// operator, tensors of 50 kB to 3 MB.
func plainEffort(c *Cost, k *Kernel) float64 {
	switch op := c.node.Op; {
	case op == "MaxPool" || op == "AveragePool":
		// It reads the whole window for each value.
		_, elements := c.result()
		return c.runs(0, plainCell, elements*k.Window)
	case op == "Gather" && c.lastAxis(0):
		return 40
	case op == "Transpose":
		return c.plainTranspose()
	case op == "ReduceMean" && k.Variant == "":
		return 0
	case (op == "ReduceMean" || op == "ReduceSum") && !c.reducesLast():
		return 1.3
	case op == "ReduceMean":
		return 2.5
	case (op == "ReduceMax" || op == "ReduceMin") && !c.reducesLast():
		return 1.75
	default:
		return cmp.Or(plainEfforts[op+" "+k.Variant], plainEfforts[op])
	}
}

// scatter makes a transposed convolution one that adds up lines, as the Go runtime does: each
// line of the image for each filter and cell of the window, as a convolution of each channel
// by itself adds up its own.
func (k *Kernel) scatter(c *Cost) {
	x, w := c.shapeOf(0), c.shapeOf(1)
	if c.node.Op != "ConvTranspose" || len(x) < 3 || len(w) != len(x) {
		return
	}
	k.Class = ClassDepthwiseND
	if len(x) == 4 {
		k.Class = ClassDepthwise
	}
	lines, _ := product(x[:len(x)-1])
	k.Parts = saturated(lines, w[1])
}

// plainTranspose is the effort of a transpose: the more, the fewer values stay next to each
// other, and the farther apart those lay that come together.
func (c *Cost) plainTranspose() float64 {
	last := int64(1) // values that stay next to each other
	shape, order := c.shapeOf(0), c.order()
	for i := len(order) - 1; i >= 0 && order[i] == int64(i) && i < len(shape); i-- {
		last = saturated(last, shape[i])
	}
	switch {
	case c.distance() > usualDistance:
		return 25
	case last < 32:
		return 13
	default:
		return 7
	}
}

// reducesLast reports whether a reduction is over the last axis of more than one value.
func (c *Cost) reducesLast() bool {
	reduced := c.reduced()
	for i, n := range slices.Backward(c.shapeOf(0)) {
		if n != 1 {
			return reduced[i]
		}
	}
	return false
}

// plainEfforts holds the factors of [plainEffort], by operator or by operator and variant.
var plainEfforts = map[string]float64{
	"Relu": 2.5, "Clip": 2.5, "BatchNormalization": 0.7, "QuantizeLinear": 6.4, "DequantizeLinear": 1.4,
	"Sub": 2.5, "Div": 2.5, "Max": 2.5, "Min": 2.5, "Sum": 2, "Where": 2, "PRelu": 5, "LeakyRelu": 2.5,
	"Equal": 3, "Less": 3, "Greater": 3, "LessOrEqual": 3, "GreaterOrEqual": 3, "And": 3, "Or": 3, "Xor": 3, "Not": 3,
	"Neg": 3, "Sign": 3, "IsNaN": 4, "Abs": 4.5, "Sqrt": 4.5, "Reciprocal": 4.5, "Softsign": 5, "Floor": 7, "Ceil": 7, "Round": 16, "Cast": 7,
	"HardSigmoid": 7, "ThresholdedRelu": 7, "Celu": 10, "Tan": 18, "Atan": 18, "Cosh": 19, "Sinh": 24, "Acos": 30, "Asin": 30, "Asinh": 53, "Acosh": 53, "Atanh": 53,
	"Pow": 4, "Softplus": 2.6, "Mish": 3.3, "HardSwish": 0.25, "Elu": 0.5, "Selu": 0.5,
	"ArgMax": 6, "ArgMin": 6, "CumSum": 6, "TopK": 50,
	"ReduceSum": 2.5, "ReduceL2": 2.5, "ReduceSumSquare": 2.5, "ReduceL1": 2.5, "ReduceProd": 2.5, "ReduceMax": 4, "ReduceMin": 4, "ReduceLogSum": 2.5, "ReduceLogSumExp": 10,
	"Concat": 1.4, "Slice": 6.5, "Slice " + variantStep: 16, "Expand": 10, "Tile": 85, "Pad": 100, "DepthToSpace": 37, "SpaceToDepth": 37, "Upsample": 70, "Resize": 60,
	"GlobalAveragePool": 0.24, "GlobalMaxPool": 0.24,
}
