package onnx

import (
	"cmp"
	"strings"
)

// operator is a row of the operator table: how the shapes of the results follow, what an
// operator computes, and how it joins other operators in one kernel.
type operator struct {
	shape rule
	class Class // "" is [ClassOther]
	// work returns the class and the factors of the multiply-accumulates, nil if they
	// are unknown. A nil function is no work, in the class above.
	work func(n *Node, in inputs, out TensorInfo) (Class, []int64)
	// reads returns the factors of the bytes that it reads, nil if they are unknown. A
	// nil function reads each input once.
	reads  func(n *Node, in inputs, out TensorInfo) []int64
	effort effort // nil means the class's
	layer  layer  // that it counts as
	opens  stage  // what may follow it in one kernel
	traits trait
}

// layer is the kind of layer as which the original profiler counts an operator.
type layer uint8

const (
	noLayer      layer = iota
	convLayer          // with constant weights
	poolLayer          //
	denseLayer         // fully connected
	productLayer       // fully connected if the second factor is constant
)

// trait is a property of an operator, beyond its shapes and work.
type trait uint8

const (
	quantizes        trait = 1 << iota // works on whole numbers of 8 bits
	passes                             // its result replaces its input in counts of layers
	activates                          // may run inside the kernel before it
	hands                              // hands indices on, in another shape or type
	random                             // has another result each time
	elementwiseUnary                   // its result has the shape of its first input
	byValues                           // its time is decided by the values of its inputs
)

// table is a part of the operator table: rows by the names of their operators,
// separated by spaces, those of other domains than ONNX's own with the domain.
// com.microsoft is that of ONNX Runtime's own operators (docs/ContribOperators.md of
// microsoft/onnxruntime), which its tools write into files that they quantise or
// optimise.
type table map[string]operator

// operators is the operator table. A part is in the file of its rules.
var operators = joinTables(
	windowOperators, productOperators, recurrentOperators, attentionOperators, elementwiseOperators,
	normalizationOperators, moveOperators, sequenceOperators, learningOperators, sourceOperators, imageOperators, quantizedOperators, otherOperators,
)

func joinTables(parts ...table) map[string]operator {
	all := map[string]operator{}
	for _, part := range parts {
		for names, o := range part {
			for name := range strings.FieldsSeq(names) {
				if all[name].shape != nil {
					panic("the operator table has two rows of " + name)
				}
				all[name] = o
			}
		}
	}
	return all
}

// is reports whether the node's operator has a trait.
func (n *Node) is(t trait) bool { return operators[n.operator()].traits&t != 0 }

// inputs holds the shapes of a node's inputs; a missing one is nil.
type inputs []TensorInfo

// input returns an input, unknown if there are fewer.
func (in inputs) input(i int) TensorInfo {
	if i < len(in) {
		return in[i]
	}
	return TensorInfo{}
}

func (in inputs) shape(i int) []int64 { return in.input(i).Shape }

// work classifies a node and counts its multiply-accumulates.
func work(n *Node, in inputs, out TensorInfo) (Class, int64) {
	o := operators[n.operator()]
	if o.work == nil {
		return cmp.Or(o.class, ClassOther), 0
	}
	class, sizes := o.work(n, in, out)
	if sizes == nil {
		return class, 0
	}
	return class, max(0, multiplyCounts(sizes...))
}
