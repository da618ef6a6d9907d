package onnx

import (
	"cmp"
	"slices"
)

// MACs holds multiply-accumulate operations of one inference by class.
type MACs struct {
	Total     int64 `json:"total"`
	Conv      int64 `json:"conv"`
	Depthwise int64 `json:"depthwise"` // convolutions with one input channel a group
	Dense     int64 `json:"dense"`     // matrix products
	Recurrent int64 `json:"recurrent"`
}

// Work counts the operations and the bytes moved in one inference.
type Work struct {
	MACs           int64 `dataset:"macs"`
	ParameterBytes int64 `dataset:"parameter_bytes"` // of constant inputs
	ReadBytes      int64 `dataset:"read_bytes"`      // of other inputs
	WrittenBytes   int64 `dataset:"written_bytes"`
}

// Bytes returns the bytes moved.
func (w *Work) Bytes() int64 {
	return addCounts(w.ParameterBytes, addCounts(w.ReadBytes, w.WrittenBytes))
}

// Cost is the work of one node in one inference.
type Cost struct {
	Node  int // index in the graph
	Class Class
	Work
	Inputs, Outputs []TensorInfo
	Folded          bool // depends on no input: a runtime computes it once, ahead

	// Inside holds the costs that control flow runs, Times times.
	Inside []Cost
	Times  int64
	// Branches holds the costs of the branches for true and for false of an If that may
	// take either.
	Branches [][]Cost

	node *Node
}

// walk calls f for the cost and those inside it, with the number of times that each is computed.
func (c *Cost) walk(times int64, f func(c *Cost, times int64)) {
	f(c, times)
	for i := range c.Inside {
		c.Inside[i].walk(multiplyCounts(times, c.Times), f)
	}
}

// Class groups operators by what bounds their time.
type Class string

// The classes.
const (
	ClassConv      Class = "conv"
	ClassDepthwise Class = "depthwise"
	ClassDense     Class = "dense"
	ClassVector    Class = "vector" // matrix by vector: each weight is used once
	ClassRecurrent Class = "recurrent"
	ClassPool      Class = "pool"
	ClassFunction  Class = "function" // exponentials and their kin, element by element
	ClassErf       Class = "erf"      // the error function, several times as dear
	ClassSoftmax   Class = "softmax"
	ClassNormalize Class = "normalization" // of layers and instances, whose statistics are computed
	ClassMove      Class = "move"          // only moves data
	ClassOther     Class = "other"         // arithmetic element by element
	ClassResponse  Class = "response"      // local response normalization: a power for each value
	// Convolutions over other than two dimensions whose window is larger than one value,
	// which runtimes compute by other code.
	ClassConv1D      Class = "conv1d"
	ClassConv3D      Class = "conv3d"       // three dimensions or more
	ClassDepthwiseND Class = "depthwise_nd" // with one input channel a group
	// Convolutions and matrix products of whole numbers of 8 bits: processors differ in
	// whether these are faster.
	ClassConv8  Class = "conv_int8"
	ClassDense8 Class = "dense_int8"
)

// Classes returns all classes, in a fixed order.
func Classes() []Class {
	return []Class{
		ClassConv, ClassDepthwise, ClassDense, ClassVector, ClassRecurrent, ClassPool, ClassFunction, ClassErf, ClassSoftmax, ClassNormalize, ClassMove, ClassOther, ClassResponse,
		ClassConv1D, ClassConv3D, ClassDepthwiseND, ClassConv8, ClassDense8,
	}
}

// Cheapest returns the analysis with the cheaper branch of each If that may take either: the
// least that an inference may cost. It is a itself if there is none.
func (a *Analysis) Cheapest() *Analysis {
	undecided := false
	a.costs(func(c *Cost, _ int64) { undecided = undecided || c.Branches != nil })
	if !undecided {
		return a
	}
	least := *a
	least.Costs = cheapest(a.Costs)
	return &least
}

func cheapest(costs []Cost) []Cost {
	least := slices.Clone(costs)
	for i := range least {
		c := &least[i]
		if c.Branches != nil {
			c.Inside = slices.MinFunc(c.Branches, func(x, y []Cost) int {
				a, b := body{costs: x}, body{costs: y}
				return cmp.Or(cmp.Compare(a.macs(), b.macs()), cmp.Compare(a.bytes(), b.bytes()))
			})
		}
		c.Inside = cheapest(c.Inside)
	}
	return least
}
