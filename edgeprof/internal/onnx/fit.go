package onnx

import (
	"fmt"
	"strings"
)

// refuse keeps the first contradiction between a node and its inputs. One that an assumed
// size, or a branch that is never taken, may cause is an [ErrSize], any other an [ErrGraph].
func (c *call) refuse(format string, args ...any) {
	if c.wrong != nil {
		return
	}
	kind := ErrGraph
	if len(c.in.dims.open) > 0 || c.in.depth > 0 {
		kind = ErrSize
	}
	c.wrong = fmt.Errorf("%w: %s %q: %s", kind, c.node.Op, c.node.Name, fmt.Sprintf(format, args...))
}

// axisOperators have an attribute axis that counts the axes of their first input.
var axisOperators = operatorNames(
	"Softmax LogSoftmax Hardmax ArgMax ArgMin Concat Split Gather GatherElements Scatter ScatterElements TopK",
	"LayerNormalization RMSNormalization LpNormalization Compress Unique SplitToSequence QuantizeLinear DequantizeLinear",
)

// axesInputs holds the operators with an attribute axes, or an input in its place.
var axesInputs = map[string]int{
	"ReduceMean": 1, "ReduceSum": 1, "ReduceMax": 1, "ReduceMin": 1, "ReduceProd": 1, "ReduceL1": 1, "ReduceL2": 1, "ReduceLogSum": 1, "ReduceLogSumExp": 1, "ReduceSumSquare": 1,
	"Squeeze": 1, "Unsqueeze": 1, "CumSum": 1, "CumProd": 1, "Slice": 3, "Pad": 3,
}

func operatorNames(lists ...string) map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(strings.Join(lists, " ")) {
		names[name] = true
	}
	return names
}

// checkAxes refuses axes that the first input does not have.
func (c *call) checkAxes() {
	x := c.input(0)
	if !c.node.standard() || !x.Known {
		return
	}
	rank, op := len(x.Shape), c.node.Op
	inRange := func(a int64, rank int) {
		if _, ok := axis(a, rank); !ok {
			c.refuse("axis %d of a tensor of %d axes", a, rank)
		}
	}
	single := op == "QuantizeLinear" || op == "DequantizeLinear"
	if c.node.Attribute("axis") != nil {
		switch a := c.node.Int("axis", 0); {
		case single && c.input(1).Elements() < 2: // one scale for all: the axis is not used
		case axisOperators[op]:
			inRange(a, rank)
		case op == "OneHot":
			inRange(a, rank+1)
		case op == "Flatten" && a != int64(rank):
			inRange(a, rank)
		}
	}
	if at, ok := axesInputs[op]; ok {
		axes := c.target(at, "axes")
		if op == "Unsqueeze" {
			rank += len(axes)
		}
		for _, a := range axes {
			inRange(a, rank)
		}
	}
	if order := c.node.Ints("perm"); op == "Transpose" && len(order) > 0 {
		c.checkOrder(order, rank)
	}
}

// checkOrder refuses an order of axes in which not every axis comes once.
func (c *call) checkOrder(order []int64, rank int) {
	seen := map[int64]bool{}
	for _, a := range order {
		if a >= 0 && a < int64(rank) {
			seen[a] = true
		}
	}
	if len(order) != rank || len(seen) != rank {
		c.refuse("order %v of a tensor of %d axes", order, rank)
	}
}

// checkInner refuses two matrices whose inner sizes differ.
func (c *call) checkInner(columns, rows int64) {
	if c.node.standard() && columns > 0 && rows > 0 && columns != rows {
		c.refuse("the first matrix has %d columns, the second %d rows", columns, rows)
	}
}
