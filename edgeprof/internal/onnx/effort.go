package onnx

import (
	"math"
	"slices"
)

// effort returns how many times as long ONNX Runtime takes for an operator as the rates of
// its class say, which come from the operators that networks have most. The factors were
// measured operator by operator with one thread of ONNX Runtime 1.31 on a processor with
// AVX-512, tensors of 3 MB.
type effort func(c *Cost) float64

// Factors for the work of starting one run of neighbouring values, in bytes that take as
// long: operators that treat few neighbouring values at once start many runs.
const (
	broadcastRun = 600
	copyRun      = 640
	gatherRun    = 330
	gatherByte   = 2.3 // for each byte, which lie apart
	reduceRun    = 850
	reduceEnd    = 15 // of the sum of neighbouring values
	reduceCopy   = 2.2

	poolBytes = 0.57 // of the bytes of a pool
	poolCell  = 0.9  // for each value under a pool's window
	reordered = 1.4  // of the bytes of a pool whose input ONNX Runtime first puts into the layout of convolutions
)

// always is the effort of an operator whatever its shape.
func always(factor float64) effort { return func(*Cost) float64 { return factor } }

// runs is a factor for the bytes of a cost and for runs of neighbouring values.
func (c *Cost) runs(factor, each float64, count int64) float64 {
	if b := c.Bytes(); b > 0 {
		return factor + each*float64(count)/float64(b)
	}
	return factor
}

// shapeOf returns the shape of an input; nil if it is unknown.
func (c *Cost) shapeOf(i int) []int64 { return inputs(c.Inputs).shape(i) }

// result returns the shape of the first output and its number of elements; 0 if unknown.
func (c *Cost) result() ([]int64, int64) {
	if len(c.Outputs) == 0 || !c.Outputs[0].Known {
		return nil, 0
	}
	return c.Outputs[0].Shape, max(0, c.Outputs[0].Elements())
}

// broadcastEffort counts the runs over which each input either advances or repeats.
func broadcastEffort(factor float64) effort {
	return func(c *Cost) float64 {
		shape, elements := c.result()
		run, pattern := int64(1), -1
		for axis := len(shape) - 1; axis >= 0 && elements > 0; axis-- {
			if shape[axis] == 1 {
				continue
			}
			here := 0
			for i := range c.Inputs {
				own := axis - (len(shape) - len(c.shapeOf(i)))
				if own >= 0 && c.shapeOf(i)[own] == shape[axis] {
					here |= 1 << i
				}
			}
			if pattern >= 0 && here != pattern {
				return c.runs(factor, broadcastRun, elements/run)
			}
			run, pattern = saturated(run, shape[axis]), here
		}
		return factor
	}
}

// powerEffort is small for squares and cubes, which ONNX Runtime multiplies.
func powerEffort(c *Cost) float64 {
	if e := inputs(c.Inputs).input(1).Real; len(e) == 1 && (e[0] == 2 || e[0] == 3) {
		return 3
	}
	return 45
}

// lastAxis reports whether the node works along the last axis; rank is its input's.
func (c *Cost) lastAxis(normal int64) bool {
	rank := len(c.shapeOf(0))
	at, ok := axis(c.node.Int("axis", normal), rank)
	if !ok {
		return true
	}
	after, _ := product(c.shapeOf(0)[at+1:])
	return after == 1
}

// softmaxEffort is high if the values of one sum do not lie next to each other: they are
// transposed, together with those between their axis and the last one.
func softmaxEffort(c *Cost) float64 {
	if c.lastAxis(-1) {
		return 1
	}
	shape := c.shapeOf(0)
	at, _ := axis(c.node.Int("axis", -1), len(shape))
	if between, _ := product(shape[at+1 : len(shape)-1]); between == 1 {
		return 3.5
	}
	return 25
}

// Bytes that take as long as to look at one value of a TopK, and as one comparison of those
// that it sorts.
const (
	topKValue   = 6.6
	topKCompare = 55
)

// topKEffort counts the values looked at, and the comparisons to sort those kept; a part of
// the others is sorted among them before it is dropped. Values along another axis than the
// last are gathered first.
func topKEffort(c *Cost) float64 {
	shape := c.shapeOf(0)
	at, ok := axis(c.node.Int("axis", -1), len(shape))
	result, _ := c.result()
	if !ok || at >= len(result) || shape[at] < 1 || result[at] < 1 {
		return 4
	}
	n, k := float64(shape[at]), float64(result[at])
	all, _ := product(shape)
	each := topKValue*n + topKCompare*k*math.Log2(max(2, k))*(1+0.8*math.Log(n/k))
	effort := c.runs(1, each/n, all)
	if after, _ := product(shape[at+1:]); after > 1 {
		effort *= 1.8
	}
	return effort
}

// cumulativeEffort: the axis is the second input.
func cumulativeEffort(c *Cost) float64 {
	at, ok := int64(0), false
	if v := inputs(c.Inputs).input(1).Value; len(v) == 1 {
		at, ok = v[0], true
	}
	rank := int64(len(c.shapeOf(0)))
	if ok && at != -1 && at != rank-1 {
		return 0.2
	}
	return 3.7
}

// reduced reports for each axis of the first input whether a reduction is over it.
func (c *Cost) reduced() []bool {
	shape := c.shapeOf(0)
	axes := c.node.Ints("axes")
	if v := inputs(c.Inputs).input(1).Value; len(axes) == 0 && v != nil {
		axes = v
	}
	reduced := make([]bool, len(shape))
	if len(axes) == 0 && c.node.Int("noop_with_empty_axes", 0) == 0 {
		for i := range reduced {
			reduced[i] = true
		}
	}
	for _, a := range axes {
		if at, ok := axis(a, len(shape)); ok {
			reduced[at] = true
		}
	}
	return reduced
}

// reductionEffort follows the forms of ONNX Runtime: over the last axes, over the first
// one, over those between, one by one, and over axes of one value, which it copies value by
// value.
func reductionEffort(c *Cost) float64 {
	shape, reduced := c.shapeOf(0), c.reduced()
	outer, inner, values := int64(1), int64(1), int64(0)
	for i, n := range shape {
		switch {
		case reduced[i]:
			values, inner = saturated(max(1, values), n), 1
		case values > 0:
			inner *= n
		default:
			outer *= n
		}
	}
	fast, kept, slow := 0.9, 1.6, false
	switch c.node.Op {
	case "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin":
		fast, kept = 0.17, 0.32
	case "ReduceProd":
		fast, kept, slow = 2, 2, true
	case "ReduceLogSum", "ReduceLogSumExp":
		fast, kept, slow = 11, 11, true
	default:
		slow = true
	}
	switch {
	case values == 0 || inner == 1:
		return c.runs(fast, reduceEnd, outer)
	case values == 1:
		return max(kept, reduceCopy)
	case outer > 1:
		return c.runs(max(kept, 0.55), reduceRun, outer)
	case slow || reduced[0]:
		return kept
	default:
		return 1 + 0.008*float64(min(values, 256))
	}
}

// order returns the order of the axes that a transpose makes.
func (c *Cost) order() []int64 {
	shape := c.shapeOf(0)
	order := c.node.Ints("perm")
	if len(order) != len(shape) {
		order = nil
		for i := len(shape) - 1; i >= 0; i-- {
			order = append(order, int64(i))
		}
	}
	return order
}

// conflicting is the distance in bytes at which values share places of a cache.
const conflicting = 4096

// transposeEffort: values that stay next to each other are copied in runs, one axis that
// moves has code of its own, and other orders are followed value by value.
func transposeEffort(c *Cost) float64 {
	shape := c.shapeOf(0)
	order := c.order()
	var groups [][2]int64 // first axis and size of neighbours that stay neighbours
	next := int64(-1)
	for _, a := range order {
		if a < 0 || a >= int64(len(shape)) {
			return 1
		}
		if shape[a] == 1 {
			continue
		}
		if len(groups) > 0 && follows(shape, next, a) {
			groups[len(groups)-1][1] *= shape[a]
		} else {
			groups = append(groups, [2]int64{a, shape[a]})
		}
		next = a
	}
	if len(groups) < 2 {
		return 1
	}
	firsts := make([]int64, len(groups))
	for i, g := range groups {
		firsts[i] = g[0]
	}
	last := groups[len(groups)-1]
	if last[0] == slices.Max(firsts) {
		_, elements := c.result()
		return c.runs(1.3, copyRun, elements/max(1, last[1]))
	}
	if bits := inputs(c.Inputs).input(0).Type.Bits(); movesOne(firsts) && bits > 0 {
		if c.distance()*bits/8%conflicting == 0 {
			return 7 // the values share few places of the cache
		}
		return 2.3 * 32 / float64(bits) // value by value
	}
	return 35
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

// follows reports whether axis b comes after a in a shape, but for axes of one value.
func follows(shape []int64, a, b int64) bool {
	if b <= a {
		return false
	}
	for _, n := range shape[a+1 : b] {
		if n != 1 {
			return false
		}
	}
	return true
}

// movesOne reports whether an order is sorted but for one element.
func movesOne(order []int64) bool {
	for i := range order {
		if slices.IsSorted(slices.Delete(slices.Clone(order), i, i+1)) {
			return true
		}
	}
	return false
}

// gatherEffort counts the values and the runs that are copied: most of a table of
// embeddings is never read.
func gatherEffort(c *Cost) float64 {
	shape := c.shapeOf(0)
	at, ok := axis(c.node.Int("axis", 0), len(shape))
	if !ok {
		return 1
	}
	_, elements := c.result()
	block, _ := product(shape[at+1:])
	read := 2 * gatherByte * float64(c.WrittenBytes) / float64(max(1, c.Bytes()))
	return c.runs(read, gatherRun, elements/max(1, block))
}

// sliceEffort is high for steps over neighbouring values.
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
				return 8
			}
		}
	}
	return 1
}

// resizeEffort counts the values that are made: each takes as long as so many bytes.
func resizeEffort(c *Cost) float64 {
	_, elements := c.result()
	volume := len(c.shapeOf(0)) > 4
	switch c.node.Text("mode") {
	case "linear":
		if volume {
			return c.runs(1, 420, elements)
		}
		return c.runs(1, 180, elements)
	case "cubic":
		return c.runs(1, 8800, elements)
	}
	if c.node.Text("coordinate_transformation_mode") == "asymmetric" || c.node.Op == "Upsample" {
		return 1.9
	}
	return c.runs(1, 47, elements)
}

// gridEffort: the bytes of [gridSampleReads] take other times by the mode.
func gridEffort(c *Cost) float64 {
	if c.node.Text("mode") == "nearest" {
		return 2.4
	}
	return 1
}

// poolEffort: only pools of real numbers over two dimensions have fast code.
func poolEffort(c *Cost) float64 {
	if t := inputs(c.Inputs).input(0).Type; t == Uint8 || t == Int8 {
		return 200
	}
	switch len(c.shapeOf(0)) {
	case 3:
		return 5
	case 5:
		return 2
	}
	window, _ := product(c.node.Ints("kernel_shape"))
	_, elements := c.result()
	return c.runs(poolBytes, poolCell, elements*max(1, window))
}

// vectorWidth is the number of filters that ONNX Runtime computes at once with AVX-512.
const vectorWidth = 16

// convolutionEffort is high for few filters, in a group or in all, and for numbers of
// channels that need the general code.
func convolutionEffort(c *Cost) float64 {
	w := c.shapeOf(filter(c.node.Op))
	if len(w) < 3 {
		return 1
	}
	groups := max(1, c.node.Int("group", 1))
	filters, channels := w[0]/groups, w[1]
	if c.node.Op == "ConvTranspose" {
		filters, channels = w[1], w[0]/groups
	}
	switch {
	case len(w) != 4 && c.Class != ClassConv:
		return 1
	case c.Class == ClassDepthwise && filters > 1:
		return 3
	case c.Class == ClassDepthwise && groups%4 != 0:
		return 2
	case c.Class == ClassDepthwise:
		return 1
	case groups > 1:
		return max(1, vectorWidth/float64(max(1, filters)))
	}
	few := max(1, vectorWidth/2/float64(max(1, filters)))
	if c.node.Op == "Conv" && channels >= vectorWidth && channels%4 != 0 {
		few *= 1.5
	}
	return few
}

// wholeConvolution returns the effort of convolutions of whole numbers, by the sign of their
// weights, which decides the code, and by the filters of a group.
func wholeConvolution(signed, unsigned float64) effort {
	return func(c *Cost) float64 {
		at := filter(c.node.Op)
		factor, w := signed, c.shapeOf(at)
		if inputs(c.Inputs).input(at).Type == Uint8 {
			factor = unsigned
		}
		groups := max(1, c.node.Int("group", 1))
		switch {
		case len(w) < 3:
		case len(w) != 4: // whose class unfolds the image too
			return max(1, 0.3*factor)
		case c.Class == ClassDepthwise:
			return 2 * factor
		case groups > 1:
			return factor * max(1, 800/math.Pow(float64(w[0]/groups), 2))
		default:
			return factor * max(1, 28/float64(max(1, w[0])))
		}
		return factor
	}
}

// byteEffort returns the effort of a node that runs in whole numbers of 8 bits: that of
// the operator which ONNX Runtime puts in its place. A nil function is the node's own.
func byteEffort(n *Node) effort {
	switch n.Op {
	case "MaxPool":
		return always(200)
	case "Transpose":
		return always(7)
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

// productEffort is high for few columns of the result.
func productEffort(c *Cost) float64 {
	shape, elements := c.result()
	if n := len(shape); n > 1 && c.Class == ClassDense && elements > shape[n-1] {
		return max(1, vectorWidth/2/float64(max(1, shape[n-1])))
	}
	return 1
}

// recurrentEffort: the plain recurrent operator has no fast code.
func recurrentEffort(c *Cost) float64 {
	switch c.node.Op {
	case "RNN":
		return 2.2
	case "DynamicQuantizeLSTM":
		return 0.6
	}
	return 1
}
