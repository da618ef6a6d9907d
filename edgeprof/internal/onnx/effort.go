package onnx

import (
	"slices"
)

// effort returns how many times as long ONNX Runtime takes for an operator as the rates of
// its class say, which come from the operators that networks have most; [unmet] for a form
// that no calibration has met, whose time nothing here predicts. The factors were measured
// operator by operator with one thread of ONNX Runtime 1.31 on a processor with AVX-512,
// tensors of 3 MB.
type effort func(c *Cost) float64

// unmet is the effort of a form that no calibration has met. [Kernel.Unmet] tells it.
const unmet = 0

// unmetEffort is the middle of the efforts that such forms had when they were measured.
const unmetEffort = 4

// longRun is the number of neighbouring values from which on starting a run of them takes
// little of the time.
const longRun = 16

// always returns the effort of an operator whatever its shape.
func always(factor float64) effort { return func(*Cost) float64 { return factor } }

// shapeOf returns the shape of an input; nil if it is unknown.
func (c *Cost) shapeOf(i int) []int64 { return inputs(c.Inputs).shape(i) }

// result returns the shape of the first output and its number of elements; 0 if unknown.
func (c *Cost) result() ([]int64, int64) {
	if len(c.Outputs) == 0 || !c.Outputs[0].Known {
		return nil, 0
	}
	return c.Outputs[0].Shape, max(0, c.Outputs[0].Elements())
}

// broadcastEffort returns the factor for operators whose inputs all advance, or all but some repeat, over long
// runs of the result.
func broadcastEffort(factor float64) effort {
	return func(c *Cost) float64 {
		shape, _ := c.result()
		run, pattern := int64(1), -1
		for axis := len(shape) - 1; axis >= 0; axis-- {
			if shape[axis] == 1 {
				continue
			}
			advance := 0
			for i := range c.Inputs {
				own := axis - (len(shape) - len(c.shapeOf(i)))
				if own >= 0 && c.shapeOf(i)[own] == shape[axis] {
					advance |= 1 << i
				}
			}
			if pattern >= 0 && advance != pattern && run < longRun {
				return unmet
			}
			run, pattern = multiplyCounts(run, shape[axis]), advance
		}
		return factor
	}
}

// runEffort returns the factor for operators that copy runs of the values after an axis: long ones are copied
// at once.
func runEffort(factor float64, normal int64) effort {
	return func(c *Cost) float64 {
		shape := c.shapeOf(0)
		at, ok := axis(c.node.Int("axis", normal), len(shape))
		if !ok {
			return factor
		}
		if block, _ := product(shape[at+1:]); block < longRun {
			return unmet
		}
		return factor
	}
}

// partEffort returns the factor for operators that put parts together or take them apart along an axis: each
// part is copied in runs.
func partEffort(c *Cost) float64 {
	for _, part := range slices.Concat(c.Inputs, c.Outputs) {
		at, ok := axis(c.node.Int("axis", 0), len(part.Shape))
		if !ok || part.Constant {
			continue
		}
		if run, _ := product(part.Shape[at:]); run > 0 && run < longRun {
			return unmet
		}
	}
	return 1
}

// plainEffort returns the factor for operators whose inputs all have the shape of the result.
func plainEffort(factor float64) effort {
	return func(c *Cost) float64 {
		shape, _ := c.result()
		for i := range c.Inputs {
			if !slices.Equal(c.shapeOf(i), shape) {
				return unmet
			}
		}
		return factor
	}
}

// lastAxisEffort returns the factor for operators along one axis, whose values lie next to each other.
func lastAxisEffort(factor float64) effort {
	return func(c *Cost) float64 {
		shape := c.shapeOf(0)
		at, ok := axis(c.node.Int("axis", -1), len(shape))
		if !ok {
			return factor
		}
		if after, _ := product(shape[at+1:]); after > 1 {
			return unmet
		}
		return factor
	}
}

// repeatEffort returns the factor for operators that repeat values: whole runs of them.
func repeatEffort(factor float64) effort {
	return func(c *Cost) float64 {
		from := c.shapeOf(0)
		to, _ := c.result()
		run := int64(1)
		for i := 1; i <= min(len(from), len(to)) && from[len(from)-i] == to[len(to)-i]; i++ {
			run = multiplyCounts(run, from[len(from)-i])
		}
		if run < longRun {
			return unmet
		}
		return factor
	}
}

// pointEffort returns the factor for operators that move what lies at points: runs of values, not single ones.
func pointEffort(factor float64) effort {
	return func(c *Cost) float64 {
		shape, points := c.shapeOf(0), c.shapeOf(1)
		if len(points) == 0 || points[len(points)-1] < 0 || points[len(points)-1] > int64(len(shape)) {
			return unmet
		}
		if run, _ := product(shape[points[len(points)-1]:]); run < longRun {
			return unmet
		}
		return factor
	}
}

// powerEffort returns a small factor for squares and cubes, which ONNX Runtime multiplies.
func powerEffort(c *Cost) float64 {
	if e := inputs(c.Inputs).input(1).Real; len(e) == 1 && (e[0] == 2 || e[0] == 3) {
		return 3
	}
	return 45
}

// reductionEffort returns the factor for reductions over the last axes.
func reductionEffort(c *Cost) float64 {
	shape := c.shapeOf(0)
	axes := c.node.Ints("axes")
	if v := inputs(c.Inputs).input(1).Value; len(axes) == 0 && v != nil {
		axes = v
	}
	reduced := make([]bool, len(shape))
	for _, a := range axes {
		if at, ok := axis(a, len(shape)); ok {
			reduced[at] = true
		}
	}
	inner, ended := int64(1), false
	for i, n := range slices.Backward(shape) {
		over := len(axes) == 0 || reduced[i]
		if n == 1 {
			continue
		}
		if over && ended || !over && inner == 1 {
			return unmet
		}
		ended = ended || !over
		if over {
			inner = multiplyCounts(inner, n)
		}
	}
	switch c.node.Op {
	case "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin":
		if inner < longRun {
			return unmet
		}
		return 0.2
	case "ReduceProd":
		return 2
	case "ReduceLogSum", "ReduceLogSumExp":
		return 11
	}
	return 0.9
}

// transposeEffort returns the factor for orders that keep long runs of neighbours, and for those in which one
// axis moves, which ONNX Runtime has code for.
func transposeEffort(c *Cost) float64 {
	shape := c.shapeOf(0)
	var order []int64 // of the axes with several values
	for _, a := range c.node.order(len(shape)) {
		if a < 0 || a >= int64(len(shape)) {
			return 1
		}
		if shape[a] != 1 {
			order = append(order, a)
		}
	}
	if slices.IsSorted(order) {
		return 1
	}
	if last := order[len(order)-1]; last == slices.Max(order) {
		if shape[last] < longRun {
			return unmet
		}
		return 1.8
	}
	for i := range order {
		if slices.IsSorted(slices.Delete(slices.Clone(order), i, i+1)) {
			return 2.3 * 32 / float64(max(1, inputs(c.Inputs).input(0).Type.Bits())) // value by value
		}
	}
	return unmet
}

// gatherEffort counts what is copied: most of a table of embeddings is never read.
func gatherEffort(c *Cost) float64 {
	return runEffort(max(0.001, 4.6*float64(c.WrittenBytes)/float64(max(1, c.Bytes()))), 0)(c)
}

// sliceEffort returns the factor for slices without steps over neighbouring values.
func sliceEffort(c *Cost) float64 {
	in := inputs(c.Inputs)
	axes, steps := in.input(3).Value, in.input(4).Value
	for i, step := range steps {
		at := int64(i)
		if i < len(axes) {
			at = axes[i]
		}
		if a, ok := axis(at, len(c.shapeOf(0))); ok && step != 1 {
			if after, _ := product(c.shapeOf(0)[a+1:]); after == 1 {
				return unmet
			}
		}
	}
	return 1
}

// resizeEffort returns the factor for images: of the nearest values in whole steps, and of linear ones.
func resizeEffort(c *Cost) float64 {
	switch mode := c.node.Text("mode"); {
	case len(c.shapeOf(0)) != 4:
		return unmet
	case mode == "linear":
		return 35
	case mode == "cubic":
		return unmet
	case c.node.Text("coordinate_transformation_mode") == "asymmetric" || c.node.Op == "Upsample":
		return 1.9
	}
	return unmet
}

// poolEffort counts the values under the window; only pools of real numbers over two dimensions
// have fast code.
func poolEffort(c *Cost) float64 {
	window, _ := product(c.node.Ints("kernel_shape"))
	_, elements := c.result()
	if len(c.shapeOf(0)) != 4 || c.Inputs[0].Type != Float32 || c.Bytes() < 1 {
		return unmet
	}
	return 0.57 + 0.9*float64(multiplyCounts(elements, max(1, window)))/float64(c.Bytes())
}

// convolutionEffort returns a high factor for few filters, in a group or in all: vectors hold several.
func convolutionEffort(c *Cost) float64 {
	w := c.shapeOf(filter(c.node.Op))
	if len(w) < 3 {
		return 1
	}
	groups := max(1, c.node.Int("group", 1))
	filters := w[0] / groups
	if c.node.Op == "ConvTranspose" {
		filters = w[1]
	}
	switch {
	case len(w) != 4 && c.Class != ClassConv:
		return 1
	case c.Class == ClassDepthwise && (filters > 1 || groups%4 != 0):
		return 2.5
	case c.Class == ClassDepthwise:
		return 1
	case groups > 1:
		return max(1, vectorWidth/float64(max(1, filters)))
	}
	return max(1, vectorWidth/2/float64(max(1, filters)))
}

// byteEffort returns the effort of a node that runs in whole numbers of 8 bits: that of the
// operator which ONNX Runtime puts in its place. A nil function is the node's own.
func byteEffort(n *Node) effort {
	switch n.Op {
	case "MaxPool", "Transpose":
		return always(unmet)
	}
	for _, prefix := range []string{"QLinear", "com.microsoft.QLinear"} {
		if o, ok := operators[prefix+n.Op]; ok && o.effort != nil {
			return o.effort
		}
	}
	return nil
}

// aloneEffort is the effort of a sigmoid without the product that makes it a SiLU, which has
// faster code and sets the rates of its class.
const aloneEffort = 2.4

// restoredEffort is the effort of a convolution whose weights are made real in each inference.
const restoredEffort = 2.3

// productEffort returns the factor for products with more than a few columns.
func productEffort(c *Cost) float64 {
	shape, elements := c.result()
	if n := len(shape); n > 1 && c.Class == ClassDense && elements > shape[n-1] && shape[n-1] < 8 {
		return unmet
	}
	return 1
}
