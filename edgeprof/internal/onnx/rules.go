package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// otherOperators are the rest of ONNX's own. The sizes of what the last of them find are
// decided by the values of their inputs, and so is the time of NonMaxSuppression.
var otherOperators = table{
	"ArgMax ArgMin":     {shape: argument, effort: always(10)},
	"TopK":              {shape: topK, class: ClassNormalize, effort: always(unmet)},
	"OneHot":            {shape: oneHot, class: ClassMove, effort: always(unmet)},
	"Det":               {shape: determinant, class: ClassNormalize, effort: always(unmet)},
	"NonZero":           {shape: nonZero, class: ClassNormalize, effort: always(40)},
	"NonMaxSuppression": {shape: unknown, class: ClassNormalize, traits: byValues},
	"Unique":            {shape: unique, class: ClassNormalize},
	"Compress":          {shape: compress, class: ClassMove},
}

// call is one node with what is known of its inputs.
type call struct {
	in     *inference
	node   *Node
	inputs []TensorInfo
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
type rule func(*call) []TensorInfo

// input returns the i-th input; unknown where the node has none.
func (c *call) input(i int) TensorInfo {
	if i < len(c.inputs) && c.node.Inputs[i] != "" {
		return c.inputs[i]
	}
	return TensorInfo{}
}

func (c *call) given(i int) bool { return i < len(c.node.Inputs) && c.node.Inputs[i] != "" }

func withShape(t DataType, shape ...int64) []TensorInfo {
	return []TensorInfo{{Type: t, Known: true, Shape: append([]int64{}, shape...)}}
}

func withType(t DataType) []TensorInfo { return []TensorInfo{{Type: t}} }

// axis turns a negative axis into one from the front; false when out of range.
func axis(a int64, rank int) (int, bool) {
	if a < 0 {
		a += int64(rank)
	}
	return int(a), a >= 0 && a < int64(rank)
}

func unknown(*call) []TensorInfo { return nil }

func typeOnly(c *call) []TensorInfo { return withType(c.input(0).Type) }

// compress keeps the slices whose condition is true; how many is the value of an input.
func compress(c *call) []TensorInfo {
	x, kept := c.input(0), int64(0)
	if !x.Known || c.input(1).Value == nil {
		return withType(x.Type)
	}
	for _, v := range c.input(1).Value {
		kept += truth(v != 0)
	}
	if c.node.Attribute("axis") == nil {
		return withShape(x.Type, kept)
	}
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	shape[at] = kept
	return withShape(x.Type, shape...)
}

// unique returns the different elements, or slices along an axis, of values that are
// known, and three vectors about them.
func unique(c *call) []TensorInfo {
	x := c.input(0)
	n := x.Elements()
	if n < 0 || x.Value == nil && x.Real == nil {
		return []TensorInfo{{Type: x.Type}, {Type: Int64}, {Type: Int64}, {Type: Int64}}
	}
	shape := []int64{n}
	count := n
	inner := int64(1)
	at := 0
	if c.node.Attribute("axis") != nil {
		var ok bool
		if at, ok = axis(c.node.Int("axis", 0), len(x.Shape)); !ok {
			return nil
		}
		shape, count = slices.Clone(x.Shape), x.Shape[at]
		inner, _ = product(x.Shape[at+1:])
	}
	slicesOf := map[string]bool{}
	for i := range count {
		var key strings.Builder
		for k := range n {
			if k/inner%count != i {
			} else if x.Real != nil {
				fmt.Fprint(&key, x.Real[k], " ")
			} else {
				fmt.Fprint(&key, x.Value[k], " ")
			}
		}
		slicesOf[key.String()] = true
	}
	different := int64(len(slicesOf))
	shape[at] = different
	vector := func(n int64) TensorInfo { return TensorInfo{Type: Int64, Known: true, Shape: []int64{n}} }
	return []TensorInfo{withShape(x.Type, shape...)[0], vector(different), vector(count), vector(different)}
}

func argument(c *call) []TensorInfo {
	x := c.input(0)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known {
		return withType(Int64)
	}
	shape := slices.Clone(x.Shape)
	if c.node.Int("keepdims", 1) == 1 {
		shape[at] = 1
	} else {
		shape = slices.Delete(shape, at, at+1)
	}
	return withShape(Int64, shape...)
}

func topK(c *call) []TensorInfo {
	x, k := c.input(0), c.input(1).Value
	if !c.given(1) {
		k = []int64{c.node.Int("k", 0)}
	}
	at, ok := axis(c.node.Int("axis", -1), len(x.Shape))
	if !ok || !x.Known || len(k) != 1 {
		return append(withType(x.Type), withType(Int64)...)
	}
	shape := slices.Clone(x.Shape)
	shape[at] = k[0]
	return append(withShape(x.Type, shape...), withShape(Int64, shape...)...)
}

// likeSecond has the first input's type and the second's shape.
func likeSecond(c *call) []TensorInfo {
	i := c.input(1)
	return []TensorInfo{{Type: c.input(0).Type, Known: i.Known, Shape: i.Shape}}
}

func gatherND(c *call) []TensorInfo {
	x := c.input(0)
	i := c.input(1)
	batch := c.node.Int("batch_dims", 0)
	if !x.Known || !i.Known || len(i.Shape) == 0 {
		return withType(x.Type)
	}
	from := batch + i.Shape[len(i.Shape)-1]
	if from < 0 || from > int64(len(x.Shape)) {
		return withType(x.Type)
	}
	return withShape(x.Type, slices.Concat(i.Shape[:len(i.Shape)-1], x.Shape[from:])...)
}

func oneHot(c *call) []TensorInfo {
	x := c.input(0)
	depth := c.input(1).Value
	kind := c.input(2).Type
	if number := c.input(1).Real; len(number) == 1 {
		depth = []int64{int64(number[0])}
	}
	at, ok := axis(c.node.Int("axis", -1), len(x.Shape)+1)
	if !x.Known || !ok || len(depth) != 1 {
		return withType(kind)
	}
	return withShape(kind, slices.Insert(slices.Clone(x.Shape), at, depth[0])...)
}

func determinant(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known || len(x.Shape) < 2 {
		return withType(x.Type)
	}
	return withShape(x.Type, x.Shape[:len(x.Shape)-2]...)
}

// nonZero finds so many places as there are values, where these are known.
func nonZero(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known || x.Value == nil && x.Real == nil {
		return withType(Int64)
	}
	found := int64(0)
	for _, v := range x.Real {
		found += truth(v != 0)
	}
	for _, v := range x.Value {
		found += truth(v != 0)
	}
	return withShape(Int64, int64(len(x.Shape)), found)
}
