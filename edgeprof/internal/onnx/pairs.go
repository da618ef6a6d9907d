package onnx

import "strings"

// quantized holds the nodes between a DequantizeLinear and a QuantizeLinear, as quantisers
// write them, that ONNX Runtime runs in whole numbers, and those that it then removes.
type quantized struct {
	whole, gone map[*Node]bool
	// restored convolutions stay in real numbers, though their weights are made real in
	// each inference: they get neither blocked weights nor what else is prepared ahead.
	restored map[*Node]bool
}

// valued operators compute with each of their inputs: all must be made real from whole
// numbers, weights and biases too. Other inputs of operators are shapes and limits.
const valued = ` Conv MatMul Gemm Add Mul Concat Where `

// wholeOperators have a version in whole numbers, or move values of any type.
const wholeOperators = ` Conv MatMul Gemm Add Mul AveragePool GlobalAveragePool MaxPool Sigmoid LeakyRelu Softmax Concat Split Where Resize Reshape Transpose Squeeze Unsqueeze Flatten Gather Slice Pad Expand Relu Clip `

// flow holds the nodes around each tensor.
type flow struct {
	source map[string]*Node
	target map[string][]*Node
	users  map[string]int // uses by nodes and as results of graphs
}

// only returns the node that alone uses a tensor; nil if there is none.
func (f *flow) only(name string) *Node {
	if list := f.target[name]; len(list) == 1 && f.users[name] == 1 {
		return list[0]
	}
	return nil
}

// quantizedNodes finds the nodes of an analysis that run in whole numbers.
func quantizedNodes(a *Analysis, users map[string]int) quantized {
	q := quantized{map[*Node]bool{}, map[*Node]bool{}, map[*Node]bool{}}
	f := flow{map[string]*Node{}, map[string][]*Node{}, users}
	var all []*Cost
	a.costs(func(c *Cost, _ int64) {
		for _, name := range c.node.Outputs {
			f.source[name] = c.node
		}
		if c.Folded {
			return
		}
		all = append(all, c)
		for _, name := range needs(c.node) {
			f.target[name] = append(f.target[name], c.node)
		}
	})
	for _, c := range all {
		if q.fromWhole(c, &f) {
			q.add(c.node, &f)
		}
		if n := c.node; n.Op == "Conv" && len(n.Inputs) > 1 && !q.whole[n] && f.isMadeReal(n.Inputs[1]) {
			q.restored[n] = true
		}
	}
	for _, c := range all {
		if c.node.Op == "DequantizeLinear" && q.isUnused(c.node, &f) {
			q.gone[c.node] = true
		}
	}
	return q
}

// fromWhole reports whether the inputs of a node were made real, or cut off, from whole
// numbers.
func (q *quantized) fromWhole(c *Cost, f *flow) bool {
	n := c.node
	if n.Domain != "" || len(n.Outputs) == 0 || !strings.Contains(wholeOperators, " "+n.Op+" ") {
		return false
	}
	whole, all := false, strings.Contains(valued, " "+n.Op+" ")
	for i, name := range n.Inputs {
		switch constant := c.Inputs[i].Constant; {
		case name == "" || constant && !all:
		case f.isMadeReal(name) || cuts(n) && q.whole[f.source[name]]:
			whole = whole || !constant
		default:
			return false
		}
	}
	return whole
}

// isMadeReal reports whether a DequantizeLinear makes a tensor.
func (f *flow) isMadeReal(name string) bool {
	s := f.source[name]
	return s != nil && s.Op == "DequantizeLinear"
}

// add notes a node whose result goes to a QuantizeLinear alone, perhaps after an operator
// that cuts off values, and of matrix products also those with real results.
func (q *quantized) add(n *Node, f *flow) {
	next := f.only(n.result())
	if next != nil && cuts(next) && !cuts(n) {
		if after := f.only(next.result()); after != nil && after.Op == "QuantizeLinear" {
			q.whole[n] = true
			q.gone[next] = true
			q.gone[after] = true
			return
		}
	}
	switch {
	case next != nil && next.Op == "QuantizeLinear":
		q.whole[n], q.gone[next] = true, true
	case n.Op == "MatMul" || n.Op == "Gemm":
		q.whole[n] = true
	}
}

// isUnused reports whether the real numbers that a node makes serve nodes in whole numbers
// alone.
func (q *quantized) isUnused(n *Node, f *flow) bool {
	targets := f.target[n.result()]
	for _, user := range targets {
		if !q.whole[user] {
			return false
		}
	}
	return len(targets) > 0 && len(targets) == f.users[n.result()]
}

// result returns the name of a node's first output; "" if it has none.
func (n *Node) result() string {
	if len(n.Outputs) == 0 {
		return ""
	}
	return n.Outputs[0]
}

// cuts reports whether an operator only cuts off values.
func cuts(n *Node) bool { return n.Op == "Relu" || n.Op == "Clip" }
