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
		c.wrong = fmt.Errorf("%w: %s %q: axis %d is %d, want %d or more", ErrSize, c.node.Op, c.node.Name, axis, size, least)
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
