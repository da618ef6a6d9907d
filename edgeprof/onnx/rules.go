package onnx

import (
	"math"
	"slices"
)

// call is one node with what is known of its inputs.
type call struct {
	in     *inference
	node   *Node
	inputs []Shaped
}

// rule works out the outputs of an operator; what it cannot, it leaves unknown.
type rule func(*call) []Shaped

// input is the i-th input; unknown where the node has none.
func (c *call) input(i int) Shaped {
	if i < len(c.inputs) && c.node.Inputs[i] != "" {
		return c.inputs[i]
	}
	return Shaped{}
}

func (c *call) given(i int) bool { return i < len(c.node.Inputs) && c.node.Inputs[i] != "" }

func shaped(t DataType, shape ...int64) []Shaped {
	return []Shaped{{Type: t, Known: true, Shape: shape}}
}

func typed(t DataType) []Shaped { return []Shaped{{Type: t}} }

// axis turns a negative axis into one from the front; false when out of range.
func axis(a int64, rank int) (int, bool) {
	if a < 0 {
		a += int64(rank)
	}
	return int(a), a >= 0 && a < int64(rank)
}

// rules by operator. Those that answer with their first input's shape share one.
var rules = makeRules()

func makeRules() map[string]rule {
	r := map[string]rule{
		"Conv": convolution, "ConvInteger": convolution, "QLinearConv": convolution, "ConvTranspose": deconvolution,
		"MaxPool": pooling, "AveragePool": pooling, "LpPool": pooling,
		"GlobalAveragePool": globalPool, "GlobalMaxPool": globalPool, "GlobalLpPool": globalPool,
		"Gemm": gemm, "MatMul": matMul, "MatMulInteger": matMul, "QLinearMatMul": matMul,
		"Flatten": flatten, "Reshape": reshape, "Transpose": transpose, "Concat": concat, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
		"Shape": shapeOf, "Size": sizeOf, "Constant": constantNode, "ConstantOfShape": constantOfShape, "Cast": castTo,
		"Gather": gather, "Slice": slice, "Split": splitUp, "Expand": expand, "Tile": tile, "Pad": pad, "Range": rangeOf,
		"Resize": resize, "Upsample": resize, "DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth,
		"LSTM": recurrent(4), "GRU": recurrent(3), "RNN": recurrent(1),
		"BatchNormalization": first, "Dropout": dropout, "Where": where, "OneHot": unknown, "NonZero": unknown,
		"ArgMax": argument, "ArgMin": argument, "TopK": topK, "Einsum": typeOnly,
		"DequantizeLinear": dequantize, "QuantizeLinear": quantize, "DynamicQuantizeLinear": dynamicQuantize,
	}
	for _, op := range []string{
		"Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "Gelu", "ThresholdedRelu", "HardSigmoid", "HardSwish", "Mish", "Softplus", "Softsign",
		"Sigmoid", "Tanh", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Erf",
		"Abs", "Neg", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal", "Exp", "Log", "Sign", "Not", "BitwiseNot",
		"Identity", "Clip", "Softmax", "LogSoftmax", "Hardmax", "LRN", "InstanceNormalization", "GroupNormalization",
		"MeanVarianceNormalization", "LpNormalization", "CumSum", "Trilu", "EyeLike", "Shrink", "ScatterElements", "ScatterND", "Scatter", "ReverseSequence",
	} {
		r[op] = first
	}
	r["LayerNormalization"] = layerNormalization
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum", "Mod", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"} {
		r[op] = elementwise
	}
	for _, op := range []string{"And", "Or", "Xor", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"} {
		r[op] = comparison
	}
	r["IsNaN"], r["IsInf"] = predicate, predicate
	for _, op := range []string{"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"} {
		r[op] = reduction
	}
	return r
}

func unknown(*call) []Shaped { return nil }

func typeOnly(c *call) []Shaped { return typed(c.input(0).Type) }

func first(c *call) []Shaped {
	x := c.input(0)
	x.Value = nil
	if c.node.Op == "Identity" {
		x.Value = c.input(0).Value
	}
	return []Shaped{x}
}

// layerNormalization gives the mean and the deviation too, one for each slice
// from the axis on.
func layerNormalization(c *call) []Shaped {
	x := first(c)[0]
	at, ok := axis(c.node.Int("axis", -1), len(x.Shape))
	if !ok || !x.Known {
		return []Shaped{x}
	}
	one := Shaped{Type: Float32, Known: true, Shape: slices.Clone(x.Shape)}
	for i := at; i < len(one.Shape); i++ {
		one.Shape[i] = 1
	}
	return []Shaped{x, one, one}
}

func dropout(c *call) []Shaped {
	x := first(c)
	return append(x, Shaped{Type: Bool, Known: x[0].Known, Shape: x[0].Shape})
}

func predicate(c *call) []Shaped {
	x := first(c)[0]
	x.Type = Bool
	return []Shaped{x}
}

// broadcast joins shapes by NumPy's rule.
func broadcast(shapes ...Shaped) ([]int64, bool) {
	var out []int64
	for _, s := range shapes {
		if !s.Known {
			return nil, false
		}
		shape := slices.Clone(s.Shape)
		for len(out) < len(shape) {
			out = append([]int64{1}, out...)
		}
		for len(shape) < len(out) {
			shape = append([]int64{1}, shape...)
		}
		for i, n := range shape {
			switch {
			case out[i] == 1:
				out[i] = n
			case n != 1 && n != out[i]:
				return nil, false
			}
		}
	}
	return out, true
}

// elementwise broadcasts, and computes with short whole numbers, which is how
// exporters write shapes.
func elementwise(c *call) []Shaped {
	shape, ok := broadcast(c.inputs...)
	out := Shaped{Type: c.input(0).Type, Known: ok, Shape: shape}
	a, b := c.input(0).Value, c.input(1).Value
	if ok && len(c.inputs) == 2 && a != nil && b != nil && (len(a) == len(b) || len(a) == 1 || len(b) == 1) {
		out.Value = combine(c.node.Op, a, b)
	}
	return []Shaped{out}
}

func combine(op string, a, b []int64) []int64 {
	out := make([]int64, max(len(a), len(b)))
	if len(a) == 0 || len(b) == 0 {
		return out[:0]
	}
	for i := range out {
		x, y := a[i%len(a)], b[i%len(b)]
		switch op {
		case "Add":
			out[i] = x + y
		case "Sub":
			out[i] = x - y
		case "Mul":
			out[i] = x * y
		case "Div":
			if y == 0 {
				return nil
			}
			out[i] = x / y
		case "Max":
			out[i] = max(x, y)
		case "Min":
			out[i] = min(x, y)
		default:
			return nil
		}
	}
	return out
}

func comparison(c *call) []Shaped {
	shape, ok := broadcast(c.inputs...)
	return []Shaped{{Type: Bool, Known: ok, Shape: shape}}
}

func where(c *call) []Shaped {
	shape, ok := broadcast(c.inputs...)
	return []Shaped{{Type: c.input(1).Type, Known: ok, Shape: shape}}
}

// spatial is the size of a window over one axis after padding and stride, as
// the operators' documentation has it.
type spatial struct{ kernel, stride, dilation, before, after int64 }

func (s spatial) output(size int64, auto string, ceil bool) int64 {
	if s.stride < 1 {
		return -1
	}
	switch auto {
	case "SAME_UPPER", "SAME_LOWER":
		return (size + s.stride - 1) / s.stride
	case "VALID":
		s.before, s.after = 0, 0
	}
	reach := size + s.before + s.after - s.dilation*(s.kernel-1) - 1
	if reach < 0 {
		return -1
	}
	if ceil {
		out := (reach+s.stride-1)/s.stride + 1
		if (out-1)*s.stride >= size+s.before { // the last window must start inside
			out--
		}
		return out
	}
	return reach/s.stride + 1
}

// windows reads kernel_shape, strides, dilations and pads for some axes.
func (c *call) windows(axes int, kernel []int64) []spatial {
	if k := c.node.Ints("kernel_shape"); len(k) == axes {
		kernel = k
	}
	if len(kernel) != axes {
		return nil
	}
	strides, dilations, pads := c.node.Ints("strides"), c.node.Ints("dilations"), c.node.Ints("pads")
	out := make([]spatial, axes)
	for i := range out {
		out[i] = spatial{kernel: kernel[i], stride: 1, dilation: 1}
		if len(strides) == axes {
			out[i].stride = strides[i]
		}
		if len(dilations) == axes {
			out[i].dilation = dilations[i]
		}
		if len(pads) == 2*axes {
			out[i].before, out[i].after = pads[i], pads[axes+i]
		}
	}
	return out
}

// filter is the index of a convolution's weights among its inputs.
func filter(op string) int {
	if op == "QLinearConv" {
		return 3
	}
	return 1
}

func convolution(c *call) []Shaped {
	x, w := c.input(0), c.input(filter(c.node.Op))
	kind := x.Type
	switch c.node.Op {
	case "ConvInteger":
		kind = Int32
	case "QLinearConv":
		kind = c.input(7).Type
	}
	if !x.Known || !w.Known || len(x.Shape) < 3 || len(w.Shape) != len(x.Shape) {
		return typed(kind)
	}
	axes := len(x.Shape) - 2
	windows := c.windows(axes, w.Shape[2:])
	if windows == nil {
		return typed(kind)
	}
	shape := []int64{x.Shape[0], w.Shape[0]}
	for i, s := range windows {
		shape = append(shape, s.output(x.Shape[2+i], c.node.Text("auto_pad"), false))
	}
	return shaped(kind, shape...)
}

func deconvolution(c *call) []Shaped {
	x, w := c.input(0), c.input(1)
	if !x.Known || !w.Known || len(x.Shape) < 3 || len(w.Shape) != len(x.Shape) {
		return typed(x.Type)
	}
	axes := len(x.Shape) - 2
	windows := c.windows(axes, w.Shape[2:])
	if windows == nil {
		return typed(x.Type)
	}
	stated, extra := c.node.Ints("output_shape"), c.node.Ints("output_padding")
	shape := []int64{x.Shape[0], w.Shape[1] * c.node.Int("group", 1)}
	for i, s := range windows {
		size := s.stride*(x.Shape[2+i]-1) + (s.kernel-1)*s.dilation + 1 - s.before - s.after
		if len(extra) == axes {
			size += extra[i]
		}
		if auto := c.node.Text("auto_pad"); auto == "SAME_UPPER" || auto == "SAME_LOWER" {
			size = x.Shape[2+i] * s.stride
		}
		if len(stated) >= axes {
			size = stated[len(stated)-axes+i]
		}
		shape = append(shape, size)
	}
	return shaped(x.Type, shape...)
}

func pooling(c *call) []Shaped {
	x := c.input(0)
	if !x.Known || len(x.Shape) < 3 {
		return typed(x.Type)
	}
	axes := len(x.Shape) - 2
	windows := c.windows(axes, nil)
	if windows == nil {
		return typed(x.Type)
	}
	shape := slices.Clone(x.Shape[:2])
	for i, s := range windows {
		shape = append(shape, s.output(x.Shape[2+i], c.node.Text("auto_pad"), c.node.Int("ceil_mode", 0) == 1))
	}
	return append(shaped(x.Type, shape...), shaped(Int64, shape...)...)
}

func globalPool(c *call) []Shaped {
	x := c.input(0)
	if !x.Known || len(x.Shape) < 2 {
		return typed(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i := 2; i < len(shape); i++ {
		shape[i] = 1
	}
	return shaped(x.Type, shape...)
}

func gemm(c *call) []Shaped {
	a, b := c.input(0), c.input(1)
	if !a.Known || !b.Known || len(a.Shape) != 2 || len(b.Shape) != 2 {
		return typed(a.Type)
	}
	m, n := a.Shape[0], b.Shape[1]
	if c.node.Int("transA", 0) != 0 {
		m = a.Shape[1]
	}
	if c.node.Int("transB", 0) != 0 {
		n = b.Shape[0]
	}
	return shaped(a.Type, m, n)
}

// factors are the two matrices of a product among its inputs.
func factors(op string) (int, int) {
	if op == "QLinearMatMul" {
		return 0, 3
	}
	return 0, 1
}

func matMul(c *call) []Shaped {
	i, j := factors(c.node.Op)
	a, b := c.input(i), c.input(j)
	kind := a.Type
	switch c.node.Op {
	case "MatMulInteger":
		kind = Int32
	case "QLinearMatMul":
		kind = c.input(7).Type
	}
	if !a.Known || !b.Known || len(a.Shape) == 0 || len(b.Shape) == 0 {
		return typed(kind)
	}
	x, y := a.Shape, b.Shape
	row, column := len(x) > 1, len(y) > 1
	if !row {
		x = []int64{1, x[0]}
	}
	if !column {
		y = []int64{y[0], 1}
	}
	batch, ok := broadcast(Shaped{Known: true, Shape: x[:len(x)-2]}, Shaped{Known: true, Shape: y[:len(y)-2]})
	if !ok {
		return typed(kind)
	}
	shape := batch
	if row {
		shape = append(shape, x[len(x)-2])
	}
	if column {
		shape = append(shape, y[len(y)-1])
	}
	return shaped(kind, shape...)
}

func flatten(c *call) []Shaped {
	x := c.input(0)
	a := c.node.Int("axis", 1)
	if a < 0 {
		a += int64(len(x.Shape))
	}
	if !x.Known || a < 0 || a > int64(len(x.Shape)) {
		return typed(x.Type)
	}
	outer, ok1 := product(x.Shape[:a])
	inner, ok2 := product(x.Shape[a:])
	if !ok1 || !ok2 {
		return typed(x.Type)
	}
	return shaped(x.Type, outer, inner)
}

// target is a shape given as a second input or, in old versions, an attribute.
func (c *call) target(i int, attribute string) []int64 {
	if c.given(i) {
		return c.input(i).Value
	}
	return c.node.Ints(attribute)
}

func reshape(c *call) []Shaped {
	x, to := c.input(0), slices.Clone(c.target(1, "shape"))
	if to == nil || !x.Known {
		return typed(x.Type)
	}
	open, known := -1, int64(1)
	for i, n := range to {
		switch {
		case n == 0 && c.node.Int("allowzero", 0) == 0:
			if i >= len(x.Shape) {
				return typed(x.Type)
			}
			to[i] = x.Shape[i]
		case n == -1 && open < 0:
			open = i
			continue
		case n < 0:
			return typed(x.Type)
		}
		known *= to[i]
	}
	if n := x.Elements(); open >= 0 {
		if n < 0 || known <= 0 || n%known != 0 {
			return typed(x.Type)
		}
		to[open] = n / known
	}
	return []Shaped{{Type: x.Type, Known: true, Shape: to, Value: x.Value}}
}

func transpose(c *call) []Shaped {
	x, order := c.input(0), c.node.Ints("perm")
	if !x.Known {
		return typed(x.Type)
	}
	shape := make([]int64, len(x.Shape))
	for i := range shape {
		from := int64(len(shape) - 1 - i)
		if len(order) == len(shape) {
			from = order[i]
		}
		if from < 0 || from >= int64(len(shape)) {
			return typed(x.Type)
		}
		shape[i] = x.Shape[from]
	}
	return shaped(x.Type, shape...)
}

func concat(c *call) []Shaped {
	x := c.input(0)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known {
		return typed(x.Type)
	}
	out := Shaped{Type: x.Type, Known: true, Shape: slices.Clone(x.Shape), Value: slices.Clone(x.Value)}
	for _, y := range c.inputs[1:] {
		if !y.Known || len(y.Shape) != len(out.Shape) {
			return typed(x.Type)
		}
		out.Shape[at] += y.Shape[at]
		if out.Value = append(out.Value, y.Value...); y.Value == nil || x.Value == nil {
			out.Value = nil
		}
	}
	if len(out.Shape) != 1 {
		out.Value = nil
	}
	return []Shaped{out}
}

func squeeze(c *call) []Shaped {
	x, axes := c.input(0), c.target(1, "axes")
	if !x.Known || c.given(1) && axes == nil {
		return typed(x.Type)
	}
	drop := map[int]bool{}
	for _, a := range axes {
		at, ok := axis(a, len(x.Shape))
		if !ok {
			return typed(x.Type)
		}
		drop[at] = true
	}
	shape := []int64{}
	for i, n := range x.Shape {
		if drop[i] || axes == nil && n == 1 {
			continue
		}
		shape = append(shape, n)
	}
	return []Shaped{{Type: x.Type, Known: true, Shape: shape, Value: x.Value}}
}

func unsqueeze(c *call) []Shaped {
	x, axes := c.input(0), c.target(1, "axes")
	if !x.Known || axes == nil {
		return typed(x.Type)
	}
	rank := len(x.Shape) + len(axes)
	added := map[int]bool{}
	for _, a := range axes {
		at, ok := axis(a, rank)
		if !ok {
			return typed(x.Type)
		}
		added[at] = true
	}
	if len(added) != len(axes) {
		return typed(x.Type)
	}
	shape := make([]int64, 0, rank)
	next := 0
	for i := range rank {
		if added[i] {
			shape = append(shape, 1)
			continue
		}
		shape = append(shape, x.Shape[next])
		next++
	}
	return []Shaped{{Type: x.Type, Known: true, Shape: shape, Value: x.Value}}
}

func shapeOf(c *call) []Shaped {
	x := c.input(0)
	if !x.Known {
		return typed(Int64)
	}
	rank := int64(len(x.Shape))
	clamp := func(v int64) int64 {
		if v < 0 {
			v += rank
		}
		return min(max(v, 0), rank)
	}
	start, end := clamp(c.node.Int("start", 0)), clamp(c.node.Int("end", rank))
	value := slices.Clone(x.Shape[start:max(start, end)])
	return []Shaped{{Type: Int64, Known: true, Shape: []int64{int64(len(value))}, Value: value}}
}

func sizeOf(c *call) []Shaped {
	out := Shaped{Type: Int64, Known: true, Shape: []int64{}}
	if n := c.input(0).Elements(); n >= 0 {
		out.Value = []int64{n}
	}
	return []Shaped{out}
}

func constantNode(c *call) []Shaped {
	for _, a := range c.node.Attributes {
		switch {
		case a.Name == "value" && a.Tensor != nil:
			return []Shaped{constant(a.Tensor)}
		case a.Name == "value_int":
			return []Shaped{{Type: Int64, Known: true, Shape: []int64{}, Value: []int64{a.Int}}}
		case a.Name == "value_ints":
			return []Shaped{{Type: Int64, Known: true, Shape: []int64{int64(len(a.Ints))}, Value: a.Ints}}
		case a.Name == "value_float":
			return shaped(Float32)
		case a.Name == "value_floats":
			return shaped(Float32, int64(len(a.Floats)))
		case a.Name == "value_string":
			return shaped(String)
		}
	}
	return nil
}

func constantOfShape(c *call) []Shaped {
	kind := Float32
	var fill []int64
	if a := c.node.Attribute("value"); a != nil && a.Tensor != nil {
		kind = a.Tensor.Type
		fill = wholeNumbers(a.Tensor, 1)
	}
	to := c.input(0).Value
	if to == nil {
		return typed(kind)
	}
	out := Shaped{Type: kind, Known: true, Shape: slices.Clone(to)}
	if n, ok := product(to); ok && len(fill) == 1 && n <= 256 {
		out.Value = slices.Repeat(fill, int(n))
	}
	return []Shaped{out}
}

func castTo(c *call) []Shaped {
	x := c.input(0)
	x.Type = DataType(c.node.Int("to", 0))
	if x.Type != Int64 && x.Type != Int32 {
		x.Value = nil
	}
	return []Shaped{x}
}

func gather(c *call) []Shaped {
	x, indices := c.input(0), c.input(1)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known || !indices.Known {
		return typed(x.Type)
	}
	shape := slices.Concat(x.Shape[:at], indices.Shape, x.Shape[at+1:])
	out := Shaped{Type: x.Type, Known: true, Shape: shape}
	if len(x.Shape) == 1 && x.Value != nil && indices.Value != nil {
		for _, i := range indices.Value {
			k, ok := axis(i, len(x.Value))
			if !ok {
				return []Shaped{{Type: x.Type, Known: true, Shape: shape}}
			}
			out.Value = append(out.Value, x.Value[k])
		}
	}
	return []Shaped{out}
}

func slice(c *call) []Shaped {
	x := c.input(0)
	starts, ends := c.target(1, "starts"), c.target(2, "ends")
	axes, steps := c.target(3, "axes"), c.target(4, "steps")
	if !x.Known || starts == nil || len(ends) != len(starts) || c.given(3) && axes == nil || c.given(4) && steps == nil {
		return typed(x.Type)
	}
	out := Shaped{Type: x.Type, Known: true, Shape: slices.Clone(x.Shape), Value: x.Value}
	for i := range starts {
		a, step := int64(i), int64(1)
		if i < len(axes) {
			a = axes[i]
		}
		if i < len(steps) {
			step = steps[i]
		}
		at, ok := axis(a, len(x.Shape))
		if !ok || step == 0 {
			return typed(x.Type)
		}
		picked := between(starts[i], ends[i], step, x.Shape[at])
		out.Shape[at] = int64(picked.count)
		if out.Value != nil && len(x.Shape) == 1 {
			out.Value = picked.of(x.Value)
		}
	}
	if len(x.Shape) != 1 {
		out.Value = nil
	}
	return []Shaped{out}
}

// span is the indices start, start+step, ... of a slice.
type span struct{ start, step, count int64 }

func between(start, end, step, size int64) span {
	clamp := func(v, low, high int64) int64 {
		if v < 0 {
			v += size
		}
		return min(max(v, low), high)
	}
	s := span{step: step}
	if step > 0 {
		s.start = clamp(start, 0, size)
		if end = clamp(end, 0, size); end > s.start {
			s.count = (end - s.start + step - 1) / step
		}
		return s
	}
	if step == math.MinInt64 {
		step++
	}
	s.start = clamp(start, 0, size-1)
	if end = clamp(end, -1, size-1); end < s.start {
		s.count = (s.start - end - step - 1) / -step
	}
	return s
}

func (s span) of(values []int64) []int64 {
	out := []int64{}
	for i := range s.count {
		if k := s.start + i*s.step; k >= 0 && k < int64(len(values)) {
			out = append(out, values[k])
		}
	}
	return out
}

func splitUp(c *call) []Shaped {
	x := c.input(0)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	n := int64(len(c.node.Outputs))
	out := make([]Shaped, n)
	sizes := c.target(1, "split")
	for i := range out {
		out[i].Type = x.Type
		if !ok || !x.Known || c.given(1) && sizes == nil {
			continue
		}
		size := (x.Shape[at] + n - 1) / n
		size = min(size, max(0, x.Shape[at]-int64(i)*size))
		if i < len(sizes) {
			size = sizes[i]
		}
		out[i].Known, out[i].Shape = true, slices.Clone(x.Shape)
		out[i].Shape[at] = size
	}
	return out
}

func expand(c *call) []Shaped {
	x, to := c.input(0), c.input(1).Value
	if to == nil {
		return typed(x.Type)
	}
	shape, ok := broadcast(x, Shaped{Known: true, Shape: to})
	return []Shaped{{Type: x.Type, Known: ok, Shape: shape}}
}

func tile(c *call) []Shaped {
	x, times := c.input(0), c.input(1).Value
	if !x.Known || len(times) != len(x.Shape) {
		return typed(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i, n := range times {
		if n < 0 || n > 1<<31 || shape[i] > 1<<31 {
			return typed(x.Type)
		}
		shape[i] *= n
	}
	return shaped(x.Type, shape...)
}

func pad(c *call) []Shaped {
	x, pads := c.input(0), c.target(1, "pads")
	if !x.Known || c.given(3) || len(pads) != 2*len(x.Shape) {
		return typed(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i := range shape {
		shape[i] += pads[i] + pads[len(shape)+i]
	}
	return shaped(x.Type, shape...)
}

func rangeOf(c *call) []Shaped {
	kind := c.input(0).Type
	start, limit, delta := c.input(0).Value, c.input(1).Value, c.input(2).Value
	if len(start) != 1 || len(limit) != 1 || len(delta) != 1 || delta[0] == 0 {
		return typed(kind)
	}
	n := int64(math.Ceil(float64(limit[0]-start[0]) / float64(delta[0])))
	return shaped(kind, max(0, n))
}

func resize(c *call) []Shaped {
	x := c.input(0)
	if sizes := c.input(3).Value; x.Known && len(sizes) == len(x.Shape) && len(sizes) > 0 {
		return shaped(x.Type, slices.Clone(sizes)...)
	}
	return typed(x.Type) // by float scales: as the file states it
}

func depthToSpace(c *call) []Shaped {
	x, b := c.input(0), c.node.Int("blocksize", 0)
	if !x.Known || len(x.Shape) != 4 || b < 1 || b > 1<<15 {
		return typed(x.Type)
	}
	return shaped(x.Type, x.Shape[0], x.Shape[1]/(b*b), x.Shape[2]*b, x.Shape[3]*b)
}

func spaceToDepth(c *call) []Shaped {
	x, b := c.input(0), c.node.Int("blocksize", 0)
	if !x.Known || len(x.Shape) != 4 || b < 1 || b > 1<<15 {
		return typed(x.Type)
	}
	return shaped(x.Type, x.Shape[0], x.Shape[1]*b*b, x.Shape[2]/b, x.Shape[3]/b)
}

// recurrent is LSTM, GRU or RNN with so many gates: X is [steps, batch, input]
// (layout 0) and R is [directions, gates*hidden, hidden].
func recurrent(int) rule {
	return func(c *call) []Shaped {
		x, r := c.input(0), c.input(2)
		if !x.Known || !r.Known || len(x.Shape) != 3 || len(r.Shape) != 3 {
			return typed(x.Type)
		}
		steps, batch, directions, hidden := x.Shape[0], x.Shape[1], r.Shape[0], r.Shape[2]
		if c.node.Int("layout", 0) == 1 {
			steps, batch = batch, steps
			last := Shaped{Type: x.Type, Known: true, Shape: []int64{batch, directions, hidden}}
			return []Shaped{{Type: x.Type, Known: true, Shape: []int64{batch, steps, directions, hidden}}, last, last}
		}
		last := Shaped{Type: x.Type, Known: true, Shape: []int64{directions, batch, hidden}}
		return []Shaped{{Type: x.Type, Known: true, Shape: []int64{steps, directions, batch, hidden}}, last, last}
	}
}

func reduction(c *call) []Shaped {
	x, axes := c.input(0), c.target(1, "axes")
	if !x.Known || c.given(1) && axes == nil {
		return typed(x.Type)
	}
	if len(axes) == 0 && c.node.Int("noop_with_empty_axes", 0) == 1 {
		return []Shaped{{Type: x.Type, Known: true, Shape: x.Shape}}
	}
	reduced := map[int]bool{}
	for _, a := range axes {
		at, ok := axis(a, len(x.Shape))
		if !ok {
			return typed(x.Type)
		}
		reduced[at] = true
	}
	shape := []int64{}
	for i, n := range x.Shape {
		switch {
		case !reduced[i] && len(axes) > 0:
			shape = append(shape, n)
		case c.node.Int("keepdims", 1) == 1:
			shape = append(shape, 1)
		}
	}
	return shaped(x.Type, shape...)
}

func argument(c *call) []Shaped {
	x := c.input(0)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known {
		return typed(Int64)
	}
	shape := slices.Clone(x.Shape)
	if c.node.Int("keepdims", 1) == 1 {
		shape[at] = 1
	} else {
		shape = slices.Delete(shape, at, at+1)
	}
	return shaped(Int64, shape...)
}

func topK(c *call) []Shaped {
	x, k := c.input(0), c.input(1).Value
	if !c.given(1) {
		k = []int64{c.node.Int("k", 0)}
	}
	at, ok := axis(c.node.Int("axis", -1), len(x.Shape))
	if !ok || !x.Known || len(k) != 1 {
		return append(typed(x.Type), typed(Int64)...)
	}
	shape := slices.Clone(x.Shape)
	shape[at] = k[0]
	return append(shaped(x.Type, shape...), shaped(Int64, shape...)...)
}

func dequantize(c *call) []Shaped {
	x := first(c)[0]
	x.Type = c.input(1).Type
	return []Shaped{x}
}

func quantize(c *call) []Shaped {
	x := first(c)[0]
	x.Type = Uint8
	if c.given(2) {
		x.Type = c.input(2).Type
	}
	return []Shaped{x}
}

func dynamicQuantize(c *call) []Shaped {
	x := first(c)[0]
	x.Type = Uint8
	return []Shaped{x, {Type: Float32, Known: true, Shape: []int64{}}, {Type: Uint8, Known: true, Shape: []int64{}}}
}
