package onnx

import (
	"fmt"
	"math"
	"slices"
)

// call is one node with what is known of its inputs.
type call struct {
	in     *inference
	node   *Node
	inputs []Shaped
	wrong  error // a size that the operator cannot take
}

// atLeast refuses an axis of an input that is shorter than the operator needs. Sizes
// from 1 count: an empty tensor is nobody's assumption.
func (c *call) atLeast(axis int, size, least int64) {
	if size > 0 && size < least && c.wrong == nil {
		c.wrong = fmt.Errorf("%w: %s %q: axis %d is %d, want %d at least", ErrSize, c.node.Op, c.node.Name, axis, size, least)
	}
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
	return []Shaped{{Type: t, Known: true, Shape: append([]int64{}, shape...)}}
}

func typed(t DataType) []Shaped { return []Shaped{{Type: t}} }

// axis turns a negative axis into one from the front; false when out of range.
func axis(a int64, rank int) (int, bool) {
	if a < 0 {
		a += int64(rank)
	}
	return int(a), a >= 0 && a < int64(rank)
}

func unknown(*call) []Shaped { return nil }

func typeOnly(c *call) []Shaped { return typed(c.input(0).Type) }

func first(c *call) []Shaped {
	x := c.input(0)
	switch c.node.Op {
	case "Identity":
	case "Floor", "Ceil", "Round", "Sqrt", "Neg", "Abs":
		x.Real, x.Value = mapped(x.Real, realOf[c.node.Op]), mapped(x.Value, wholeOf[c.node.Op])
	case "Not":
		x.Value = mapped(x.Value, func(v int64) int64 { return 1 - v })
	default:
		x.Value, x.Real = nil, nil
	}
	return []Shaped{x}
}

var (
	realOf  = map[string]func(float64) float64{"Floor": math.Floor, "Ceil": math.Ceil, "Round": math.RoundToEven, "Sqrt": math.Sqrt, "Abs": math.Abs, "Neg": func(v float64) float64 { return -v }}
	wholeOf = map[string]func(int64) int64{"Abs": func(v int64) int64 { return max(v, -v) }, "Neg": func(v int64) int64 { return -v }}
)

// mapped is nil where there are no values, or nothing to do with them.
func mapped[T any](values []T, f func(T) T) []T {
	if values == nil || f == nil {
		return nil
	}
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
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
	return append(first(c), as(c, Bool)...)
}

// as is the first input's shape in a type.
func as(c *call, t DataType) []Shaped {
	x := c.input(0)
	return []Shaped{{Type: t, Known: x.Known, Shape: x.Shape}}
}

func predicate(c *call) []Shaped { return as(c, Bool) }

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

// elementwise broadcasts, and computes with short values, which is how
// exporters write shapes.
func elementwise(c *call) []Shaped {
	shape, ok := broadcast(c.inputs...)
	out := Shaped{Type: c.input(0).Type, Known: ok, Shape: shape}
	if ok && len(c.inputs) == 2 {
		a, b := c.input(0), c.input(1)
		out.Value = combined(a, b, out, a.Value, b.Value, whole[c.node.Op])
		out.Real = combined(a, b, out, a.Real, b.Real, real[c.node.Op])
	}
	return []Shaped{out}
}

// The arithmetic that shapes are computed with; false where there is no result.
var (
	whole = map[string]func(x, y int64) (int64, bool){
		"Add": func(x, y int64) (int64, bool) { return x + y, true }, "Sub": func(x, y int64) (int64, bool) { return x - y, true },
		"Mul": func(x, y int64) (int64, bool) { return x * y, true }, "Max": func(x, y int64) (int64, bool) { return max(x, y), true },
		"Min": func(x, y int64) (int64, bool) { return min(x, y), true }, "And": func(x, y int64) (int64, bool) { return x & y, true },
		"Or": func(x, y int64) (int64, bool) { return x | y, true }, "Equal": func(x, y int64) (int64, bool) { return truth(x == y), true },
		"Greater": func(x, y int64) (int64, bool) { return truth(x > y), true }, "Less": func(x, y int64) (int64, bool) { return truth(x < y), true },
		"GreaterOrEqual": func(x, y int64) (int64, bool) { return truth(x >= y), true }, "LessOrEqual": func(x, y int64) (int64, bool) { return truth(x <= y), true },
		"Div": func(x, y int64) (int64, bool) {
			if y == 0 {
				return 0, false
			}
			return x / y, true
		},
		"Mod": func(x, y int64) (int64, bool) {
			if y == 0 {
				return 0, false
			}
			return x - y*int64(math.Floor(float64(x)/float64(y))), true
		},
	}
	real = map[string]func(x, y float64) (float64, bool){
		"Add": func(x, y float64) (float64, bool) { return x + y, true }, "Sub": func(x, y float64) (float64, bool) { return x - y, true },
		"Mul": func(x, y float64) (float64, bool) { return x * y, true }, "Div": func(x, y float64) (float64, bool) { return x / y, y != 0 },
		"Max": func(x, y float64) (float64, bool) { return max(x, y), true }, "Min": func(x, y float64) (float64, bool) { return min(x, y), true },
	}
)

func truth(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// combined applies an operation to values, broadcast to the shape of out; nil
// where it does not exist, values are unknown or are too many.
func combined[T any](a, b, out Shaped, x, y []T, f func(T, T) (T, bool)) []T {
	n := out.Elements()
	if x == nil || y == nil || f == nil || n < 0 || n > short {
		return nil
	}
	values := make([]T, n)
	for i := range values {
		v, ok := f(x[within(a.Shape, out.Shape, int64(i))], y[within(b.Shape, out.Shape, int64(i))])
		if !ok {
			return nil
		}
		values[i] = v
	}
	return values
}

// within is the place in a tensor that a place in the tensor that it is broadcast
// to comes from.
func within(shape, to []int64, i int64) int64 {
	at, stride := int64(0), int64(1)
	for k := len(to) - 1; k >= 0; k-- {
		here := i % to[k]
		i /= to[k]
		if own := k - (len(to) - len(shape)); own >= 0 {
			if shape[own] > 1 {
				at += here * stride
			}
			stride *= shape[own]
		}
	}
	return at
}

func comparison(c *call) []Shaped {
	out := elementwise(c)[0]
	out.Type = Bool
	return []Shaped{out}
}

func where(c *call) []Shaped {
	shape, ok := broadcast(c.inputs...)
	out := Shaped{Type: c.input(1).Type, Known: ok, Shape: shape}
	if condition := c.input(0); ok && condition.Value != nil {
		out.Value = chosen(condition, c.input(1), c.input(2), out, c.input(1).Value, c.input(2).Value)
		out.Real = chosen(condition, c.input(1), c.input(2), out, c.input(1).Real, c.input(2).Real)
	}
	return []Shaped{out}
}

func chosen[T any](condition, a, b, out Shaped, x, y []T) []T {
	n := out.Elements()
	if x == nil || y == nil || n < 0 || n > short {
		return nil
	}
	values := make([]T, n)
	for i := range values {
		if condition.Value[within(condition.Shape, out.Shape, int64(i))] != 0 {
			values[i] = x[within(a.Shape, out.Shape, int64(i))]
		} else {
			values[i] = y[within(b.Shape, out.Shape, int64(i))]
		}
	}
	return values
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

// least is the smallest size of an axis that holds a window.
func (s spatial) least(auto string) int64 {
	switch auto {
	case "SAME_UPPER", "SAME_LOWER":
		return 1
	case "VALID":
		s.before, s.after = 0, 0
	}
	return s.dilation*(s.kernel-1) + 1 - s.before - s.after
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
		c.atLeast(2+i, x.Shape[2+i], s.least(c.node.Text("auto_pad")))
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
		c.atLeast(2+i, x.Shape[2+i], s.least(c.node.Text("auto_pad")))
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
	i, j := factors(c.node.Op)
	a, b := c.input(i), c.input(j)
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
	if op == "QLinearMatMul" || op == "QGemm" {
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
	case "MatMulIntegerToFloat", "DynamicQuantizeMatMul":
		kind = Float32
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
	n := x.Elements()
	if open < 0 && n > 0 && known != n || open >= 0 && n > 0 && known > 0 && n%known != 0 {
		c.wrong = fmt.Errorf("%w: %s %q: %d elements of shape %v do not make %v", ErrSize, c.node.Op, c.node.Name, n, x.Shape, c.target(1, "shape"))
	}
	if open >= 0 {
		if n < 0 || known <= 0 || n%known != 0 {
			return typed(x.Type)
		}
		to[open] = n / known
	}
	return []Shaped{{Type: x.Type, Known: true, Shape: to, Value: x.Value, Real: x.Real}}
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
	out := Shaped{Type: x.Type, Known: true, Shape: shape}
	source := func(at []int64) []int64 {
		from := make([]int64, len(at))
		for i := range at {
			if k := len(shape) - 1 - i; len(order) == len(shape) {
				from[order[i]] = at[i]
			} else {
				from[k] = at[i]
			}
		}
		return from
	}
	out.Value, out.Real = picked(x, out, x.Value, source), picked(x, out, x.Real, source)
	return []Shaped{out}
}

// picked are the values of a tensor each of which comes from a place in another.
func picked[T any](x, out Shaped, values []T, source func(at []int64) []int64) []T {
	n := out.Elements()
	if values == nil || n < 0 || n > short {
		return nil
	}
	result := make([]T, n)
	for i := range result {
		at, rest := make([]int64, len(out.Shape)), int64(i)
		for k := len(at) - 1; k >= 0; k-- {
			at[k] = rest % out.Shape[k]
			rest /= out.Shape[k]
		}
		place := int64(0)
		for k, v := range source(at) {
			if v < 0 || v >= x.Shape[k] {
				return nil
			}
			place = place*x.Shape[k] + v
		}
		result[i] = values[place]
	}
	return result
}

func concat(c *call) []Shaped { return joined(c, c.inputs) }

// joined is the concatenation of some of a call's inputs.
func joined(c *call, inputs []Shaped) []Shaped {
	if len(inputs) == 0 {
		return nil
	}
	x := inputs[0]
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known {
		return typed(x.Type)
	}
	out := Shaped{Type: x.Type, Known: true, Shape: slices.Clone(x.Shape)}
	for _, y := range inputs[1:] {
		if !y.Known || len(y.Shape) != len(out.Shape) {
			return typed(x.Type)
		}
		out.Shape[at] += y.Shape[at]
	}
	out.Value = strung(inputs, at, func(s Shaped) []int64 { return s.Value })
	out.Real = strung(inputs, at, func(s Shaped) []float64 { return s.Real })
	return []Shaped{out}
}

// strung are the values of tensors joined along an axis; nil when some are
// unknown.
func strung[T any](inputs []Shaped, at int, values func(Shaped) []T) []T {
	outer, ok := product(inputs[0].Shape[:at])
	if !ok || outer > short {
		return nil
	}
	out := []T{}
	for row := range outer {
		for _, x := range inputs {
			v := values(x)
			if int64(len(v)) != x.Elements() || v == nil {
				return nil
			}
			size := int64(len(v)) / max(1, outer)
			out = append(out, v[row*size:(row+1)*size]...)
		}
	}
	return out
}

// axes are those that a second input or an attribute names; false where one is none
// of so many, or they are not known.
func (c *call) axes(rank int) (map[int]bool, bool) {
	named := c.target(1, "axes")
	if c.given(1) && named == nil {
		return nil, false
	}
	all := map[int]bool{}
	for _, a := range named {
		at, ok := axis(a, rank)
		if !ok {
			return nil, false
		}
		all[at] = true
	}
	return all, true
}

func squeeze(c *call) []Shaped {
	x := c.input(0)
	drop, ok := c.axes(len(x.Shape))
	if !x.Known || !ok {
		return typed(x.Type)
	}
	shape := []int64{}
	for i, n := range x.Shape {
		if drop[i] || c.target(1, "axes") == nil && n == 1 {
			continue
		}
		shape = append(shape, n)
	}
	return []Shaped{{Type: x.Type, Known: true, Shape: shape, Value: x.Value, Real: x.Real}}
}

func unsqueeze(c *call) []Shaped {
	x, axes := c.input(0), c.target(1, "axes")
	rank := len(x.Shape) + len(axes)
	added, ok := c.axes(rank)
	if !x.Known || axes == nil || !ok || len(added) != len(axes) {
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
	return []Shaped{{Type: x.Type, Known: true, Shape: shape, Value: x.Value, Real: x.Real}}
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
			return []Shaped{{Type: Float32, Known: true, Shape: []int64{}, Real: []float64{float64(a.Float)}}}
		case a.Name == "value_floats":
			s := Shaped{Type: Float32, Known: true, Shape: []int64{int64(len(a.Floats))}}
			for _, v := range a.Floats {
				s.Real = append(s.Real, float64(v))
			}
			return []Shaped{s}
		case a.Name == "value_string":
			return shaped(String)
		}
	}
	return nil
}

func constantOfShape(c *call) []Shaped {
	kind := Float32
	var fill []int64
	real := []float64{0}
	if a := c.node.Attribute("value"); a != nil && a.Tensor != nil {
		kind = a.Tensor.Type
		fill, real = wholeNumbers(a.Tensor, 1), realNumbers(a.Tensor, 1)
	}
	to := c.input(0).Value
	if to == nil {
		return typed(kind)
	}
	out := Shaped{Type: kind, Known: true, Shape: slices.Clone(to)}
	if n, ok := product(to); ok && n <= short {
		if len(fill) == 1 {
			out.Value = slices.Repeat(fill, int(n))
		}
		if len(real) == 1 {
			out.Real = slices.Repeat(real, int(n))
		}
	}
	return []Shaped{out}
}

func cast(c *call) []Shaped {
	x, to := c.input(0), DataType(c.node.Int("to", 0))
	if c.node.Op == "CastLike" {
		to = c.input(1).Type
	}
	out := Shaped{Type: to, Known: x.Known, Shape: x.Shape}
	switch to {
	case Int64, Int32, Bool:
		out.Value = x.Value
		for _, v := range x.Real {
			out.Value = append(out.Value, int64(v))
		}
		if to == Bool {
			out.Value = mapped(out.Value, func(v int64) int64 { return truth(v != 0) })
		}
	case Float32, Float64, Float16:
		out.Real = x.Real
		for _, v := range x.Value {
			out.Real = append(out.Real, float64(v))
		}
	}
	return []Shaped{out}
}

func gather(c *call) []Shaped {
	x, indices := c.input(0), c.input(1)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known || !indices.Known {
		return typed(x.Type)
	}
	shape := slices.Concat(x.Shape[:at], indices.Shape, x.Shape[at+1:])
	out := Shaped{Type: x.Type, Known: true, Shape: shape}
	if indices.Value != nil {
		source := func(place []int64) []int64 {
			k := int64(0)
			for i, n := range indices.Shape {
				k = k*n + place[at+i]
			}
			index := indices.Value[k]
			if index < 0 {
				index += x.Shape[at]
			}
			return slices.Concat(place[:at], []int64{index}, place[at+len(indices.Shape):])
		}
		out.Value, out.Real = picked(x, out, x.Value, source), picked(x, out, x.Real, source)
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
	out := Shaped{Type: x.Type, Known: true, Shape: slices.Clone(x.Shape)}
	spans := map[int]span{}
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
		spans[at] = between(starts[i], ends[i], step, x.Shape[at])
		out.Shape[at] = spans[at].count
	}
	source := func(place []int64) []int64 {
		for at, s := range spans {
			place[at] = s.start + place[at]*s.step
		}
		return place
	}
	out.Value, out.Real = picked(x, out, x.Value, source), picked(x, out, x.Real, source)
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

func splitUp(c *call) []Shaped {
	x := c.input(0)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	n := int64(len(c.node.Outputs))
	out := make([]Shaped, n)
	sizes, before := c.target(1, "split"), int64(0)
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
		start := before
		source := func(place []int64) []int64 { place[at] += start; return place }
		out[i].Value, out[i].Real = picked(x, out[i], x.Value, source), picked(x, out[i], x.Real, source)
		before += size
	}
	return out
}

func expand(c *call) []Shaped {
	x, to := c.input(0), c.input(1).Value
	if to == nil {
		return typed(x.Type)
	}
	shape, ok := broadcast(x, Shaped{Known: true, Shape: to})
	out := Shaped{Type: x.Type, Known: ok, Shape: shape}
	if n := out.Elements(); x.Value != nil && n >= 0 && n <= short {
		for i := range n {
			out.Value = append(out.Value, x.Value[within(x.Shape, shape, i)])
		}
	}
	return []Shaped{out}
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
	x, pads, axes := c.input(0), c.target(1, "pads"), c.target(3, "")
	if !c.given(3) {
		axes = nil
		for i := range x.Shape {
			axes = append(axes, int64(i))
		}
	}
	if !x.Known || len(pads) != 2*len(axes) {
		return typed(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i, a := range axes {
		at, ok := axis(a, len(shape))
		if !ok {
			return typed(x.Type)
		}
		if c.node.Text("mode") == "reflect" {
			c.atLeast(at, shape[at], 1+max(pads[i], pads[len(axes)+i]))
		}
		shape[at] += pads[i] + pads[len(axes)+i]
	}
	return shaped(x.Type, shape...)
}

func rangeOf(c *call) []Shaped {
	from, to, by := c.input(0), c.input(1), c.input(2)
	if len(from.Real) == 1 && len(to.Real) == 1 && len(by.Real) == 1 && by.Real[0] != 0 {
		return shaped(from.Type, int64(max(0, math.Ceil((to.Real[0]-from.Real[0])/by.Real[0]))))
	}
	if len(from.Value) != 1 || len(to.Value) != 1 || len(by.Value) != 1 || by.Value[0] == 0 {
		return typed(from.Type)
	}
	start, delta := from.Value[0], by.Value[0]
	n := max(0, int64(math.Ceil(float64(to.Value[0]-start)/float64(delta))))
	out := Shaped{Type: from.Type, Known: true, Shape: []int64{n}}
	if n <= short {
		out.Value = []int64{}
		for i := range n {
			out.Value = append(out.Value, start+i*delta)
		}
	}
	return []Shaped{out}
}

// resize is by sizes or by scales, of all axes or of some. Sizes that keep the
// ratio of the sides follow from the policy.
func resize(c *call) []Shaped {
	x := c.input(0)
	scales, sizes := c.input(2).Real, c.input(3).Value
	if c.node.Op == "Upsample" || len(c.inputs) == 2 { // versions up to 10
		if scales, sizes = c.input(1).Real, nil; !c.given(1) {
			for _, v := range c.node.Attribute("scales").floats() {
				scales = append(scales, float64(v))
			}
		}
	}
	axes := c.node.Ints("axes")
	if axes == nil {
		for i := range x.Shape {
			axes = append(axes, int64(i))
		}
	}
	if !x.Known || len(axes) == 0 || len(sizes) != len(axes) && len(scales) != len(axes) {
		return typed(x.Type)
	}
	shape, factor := slices.Clone(x.Shape), 0.0
	for i, a := range axes {
		at, ok := axis(a, len(shape))
		if !ok {
			return typed(x.Type)
		}
		if len(sizes) != len(axes) {
			shape[at] = int64(math.Floor(float64(x.Shape[at]) * scales[i]))
			continue
		}
		ratio := float64(sizes[i]) / float64(max(1, x.Shape[at]))
		switch policy := c.node.Text("keep_aspect_ratio_policy"); {
		case policy == "not_larger" && (factor == 0 || ratio < factor), policy == "not_smaller" && ratio > factor:
			factor = ratio
		}
		shape[at] = sizes[i]
	}
	if factor > 0 {
		for _, a := range axes {
			at, _ := axis(a, len(shape))
			shape[at] = int64(math.Round(factor * float64(x.Shape[at])))
		}
	}
	return shaped(x.Type, shape...)
}

// floats are those of an attribute that may be missing.
func (a *Attribute) floats() []float32 {
	if a == nil {
		return nil
	}
	return a.Floats
}

// blocks moves channels into the image, or back.
func blocks(c *call) []Shaped {
	x, b := c.input(0), c.node.Int("blocksize", 0)
	switch {
	case !x.Known || len(x.Shape) != 4 || b < 1 || b > 1<<15:
		return typed(x.Type)
	case c.node.Op == "SpaceToDepth":
		return shaped(x.Type, x.Shape[0], x.Shape[1]*b*b, x.Shape[2]/b, x.Shape[3]/b)
	}
	return shaped(x.Type, x.Shape[0], x.Shape[1]/(b*b), x.Shape[2]*b, x.Shape[3]*b)
}

// recurrent is LSTM, GRU or RNN: X is [steps, batch, input] (layout 0) and R is
// [directions, gates*hidden, hidden].
func recurrent(c *call) []Shaped {
	x, r := c.input(0), c.input(2)
	if !x.Known || !r.Known || len(x.Shape) != 3 || len(r.Shape) != 3 {
		return typed(x.Type)
	}
	steps, batch, directions, hidden := x.Shape[0], x.Shape[1], r.Shape[0], r.Shape[2]
	all, last := []int64{steps, directions, batch, hidden}, []int64{directions, batch, hidden}
	if c.node.Int("layout", 0) == 1 {
		steps, batch = batch, steps
		all, last = []int64{batch, steps, directions, hidden}, []int64{batch, directions, hidden}
	}
	return slices.Concat(shaped(x.Type, all...), shaped(x.Type, last...), shaped(x.Type, last...))
}

func reduction(c *call) []Shaped {
	x := c.input(0)
	reduced, ok := c.axes(len(x.Shape))
	if !x.Known || !ok {
		return typed(x.Type)
	}
	if len(reduced) == 0 && c.node.Int("noop_with_empty_axes", 0) == 1 {
		return []Shaped{{Type: x.Type, Known: true, Shape: x.Shape}}
	}
	shape := []int64{}
	for i, n := range x.Shape {
		switch {
		case !reduced[i] && len(reduced) > 0:
			shape = append(shape, n)
		case c.node.Int("keepdims", 1) == 1:
			shape = append(shape, 1)
		}
	}
	out := Shaped{Type: x.Type, Known: true, Shape: shape}
	if f := reduces[c.node.Op]; f != nil && len(x.Value) > 0 && out.Elements() == 1 {
		v := x.Value[0]
		for _, next := range x.Value[1:] {
			v = f(v, next)
		}
		out.Value = []int64{v}
	}
	return []Shaped{out}
}

var reduces = map[string]func(a, b int64) int64{
	"ReduceProd": func(a, b int64) int64 { return a * b }, "ReduceSum": func(a, b int64) int64 { return a + b },
	"ReduceMax": func(a, b int64) int64 { return max(a, b) }, "ReduceMin": func(a, b int64) int64 { return min(a, b) },
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

func dequantize(c *call) []Shaped { return as(c, c.input(1).Type) }

func quantize(c *call) []Shaped {
	if c.given(2) {
		return as(c, c.input(2).Type)
	}
	return as(c, Uint8)
}

func dynamicQuantize(c *call) []Shaped {
	return slices.Concat(as(c, Uint8), shaped(Float32), shaped(Uint8))
}

// likeSecond has the first input's type and the second's shape.
func likeSecond(c *call) []Shaped {
	i := c.input(1)
	return []Shaped{{Type: c.input(0).Type, Known: i.Known, Shape: i.Shape}}
}

func gatherND(c *call) []Shaped {
	x, i, batch := c.input(0), c.input(1), c.node.Int("batch_dims", 0)
	if !x.Known || !i.Known || len(i.Shape) == 0 {
		return typed(x.Type)
	}
	from := batch + i.Shape[len(i.Shape)-1]
	if from < 0 || from > int64(len(x.Shape)) {
		return typed(x.Type)
	}
	return shaped(x.Type, slices.Concat(i.Shape[:len(i.Shape)-1], x.Shape[from:])...)
}

func gridSample(c *call) []Shaped {
	x, grid := c.input(0), c.input(1)
	if !x.Known || !grid.Known || len(x.Shape) < 3 || len(grid.Shape) != len(x.Shape) {
		return typed(x.Type)
	}
	return shaped(x.Type, slices.Concat(x.Shape[:2], grid.Shape[1:len(grid.Shape)-1])...)
}

func randomShape(c *call) []Shaped {
	kind := DataType(c.node.Int("dtype", int64(Float32)))
	if shape := c.node.Ints("shape"); shape != nil {
		return shaped(kind, slices.Clone(shape)...)
	}
	return typed(kind)
}

// orders of a Permute of ncnn: where width, height and channels come from.
var orders = []string{"whc", "hwc", "wch", "cwh", "hcw", "chw"}

// permuted is a Permute: matrices are turned by order 1, images by all.
func permuted(c *call) []Shaped {
	x, order := c.input(0), c.node.Int("order", 0)
	if !x.Known || len(x.Shape) < 3 || len(x.Shape) > 4 || order < 0 || order >= int64(len(orders)) {
		return typed(x.Type)
	}
	if len(x.Shape) == 3 {
		if order == 1 {
			return shaped(x.Type, x.Shape[0], x.Shape[2], x.Shape[1])
		}
		return []Shaped{x}
	}
	shape := slices.Clone(x.Shape)
	for to, from := range orders[order] {
		shape[3-to] = x.Shape[3-slices.Index([]rune("whc"), from)]
	}
	return shaped(x.Type, shape...)
}

// fusedMatMul is a product of matrices that may be transposed.
func fusedMatMul(c *call) []Shaped {
	turned := *c
	turned.inputs = slices.Clone(c.inputs)
	for i, name := range []string{"transA", "transB"} {
		if i < len(turned.inputs) && c.node.Int(name, 0) == 1 {
			turned.inputs[i] = swapped(turned.inputs[i])
		}
	}
	return matMul(&turned)
}

// swapped has the last two axes in the other order.
func swapped(s Shaped) Shaped {
	if n := len(s.Shape); s.Known && n > 1 {
		s.Shape = slices.Clone(s.Shape)
		s.Shape[n-1], s.Shape[n-2] = s.Shape[n-2], s.Shape[n-1]
	}
	return s
}

func matMulBits(c *call) []Shaped {
	x := c.input(0)
	if !x.Known || len(x.Shape) == 0 {
		return typed(x.Type)
	}
	return shaped(x.Type, append(slices.Clone(x.Shape[:len(x.Shape)-1]), c.node.Int("N", 0))...)
}

// embed has ids [batch, steps] and, as its third input, words [number, hidden].
func embed(c *call) []Shaped {
	ids, words := c.input(0), c.input(2)
	if !ids.Known || !words.Known || len(words.Shape) != 2 {
		return typed(words.Type)
	}
	return shaped(words.Type, append(slices.Clone(ids.Shape), words.Shape[1])...)
}

// attention has input [batch, steps, hidden] and weights [hidden, 3 x heads].
func attention(c *call) []Shaped {
	x, w := c.input(0), c.input(1)
	if !x.Known || !w.Known || len(x.Shape) != 3 || len(w.Shape) != 2 {
		return typed(x.Type)
	}
	return shaped(Float32, x.Shape[0], x.Shape[1], w.Shape[1]/3)
}

// multiHead has query [batch, steps, hidden] and value [batch, others, hidden].
func multiHead(c *call) []Shaped {
	q, v := c.input(0), c.input(2)
	if !q.Known || !v.Known || len(q.Shape) != 3 || len(v.Shape) != 3 {
		return typed(q.Type)
	}
	return shaped(q.Type, q.Shape[0], q.Shape[1], v.Shape[2])
}

// quantizedPair has each tensor followed by its scale and zero point.
func quantizedPair(c *call) []Shaped {
	shape, ok := broadcast(c.input(0), c.input(3))
	return []Shaped{{Type: c.input(0).Type, Known: ok, Shape: shape}}
}

func quantizedConcat(c *call) []Shaped {
	var tensors []Shaped
	for i := 2; i < len(c.inputs); i += 3 {
		tensors = append(tensors, c.inputs[i])
	}
	return joined(c, tensors)
}
