package onnx

import (
	"math"
	"slices"
)

// sourceOperators make a tensor from a shape, a setting or nothing.
var sourceOperators = table{
	"Constant":        {shape: constantNode, class: ClassMove},
	"ConstantOfShape": {shape: constantOfShape, class: ClassMove},
	"Shape":           {shape: shapeOf, class: ClassMove},
	"Size":            {shape: sizeOf, class: ClassMove},
	"Range":           {shape: rangeOf},
	"RandomNormal":    {shape: randomShape, effort: always(normalEffort), traits: random},
	"RandomUniform":   {shape: randomShape, effort: always(uniformEffort), traits: random},
	"Multinomial":     {shape: multinomial, effort: always(unmet), traits: random},
}

// Efforts of random numbers, for each byte of the result: ONNX Runtime draws one at a time.
const (
	normalEffort  = 168
	uniformEffort = 84
)

// nothing returns the bytes that an operator reads which uses the shape of its input only: 0.
func nothing(*Node, inputs, TensorInfo) []int64 { return []int64{0} }

func shapeOf(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known {
		return withType(Int64)
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
	return []TensorInfo{{Type: Int64, Known: true, Shape: []int64{int64(len(value))}, Value: value}}
}

func sizeOf(c *call) []TensorInfo {
	out := TensorInfo{Type: Int64, Known: true, Shape: []int64{}}
	if n := c.input(0).Elements(); n >= 0 {
		out.Value = []int64{n}
	}
	return []TensorInfo{out}
}

func constantNode(c *call) []TensorInfo {
	for _, a := range c.node.Attributes {
		switch {
		case a.Name == "value" && a.Tensor != nil:
			return []TensorInfo{constant(a.Tensor)}
		case a.Name == "value_int":
			return []TensorInfo{{Type: Int64, Known: true, Shape: []int64{}, Value: []int64{a.Int}}}
		case a.Name == "value_ints":
			return []TensorInfo{{Type: Int64, Known: true, Shape: []int64{int64(len(a.Ints))}, Value: a.Ints}}
		case a.Name == "value_float":
			return []TensorInfo{{Type: Float32, Known: true, Shape: []int64{}, Real: []float64{float64(a.Float)}}}
		case a.Name == "value_floats":
			s := TensorInfo{Type: Float32, Known: true, Shape: []int64{int64(len(a.Floats))}}
			for _, v := range a.Floats {
				s.Real = append(s.Real, float64(v))
			}
			return []TensorInfo{s}
		case a.Name == "value_string":
			return withShape(String)
		}
	}
	return nil
}

func constantOfShape(c *call) []TensorInfo {
	kind := Float32
	var fill []int64
	reals := []float64{0}
	if a := c.node.Attribute("value"); a != nil && a.Tensor != nil {
		kind = a.Tensor.Type
		fill, reals = wholeNumbers(a.Tensor, 1), realNumbers(a.Tensor, 1)
	}
	to := c.input(0).Value
	if to == nil {
		return withType(kind)
	}
	out := TensorInfo{Type: kind, Known: true, Shape: slices.Clone(to)}
	if n, ok := product(to); ok && n <= short {
		if len(fill) == 1 {
			out.Value = slices.Repeat(fill, int(n))
		}
		if len(reals) == 1 {
			out.Real = slices.Repeat(reals, int(n))
		}
	}
	return []TensorInfo{out}
}

func rangeOf(c *call) []TensorInfo {
	from := c.input(0)
	to := c.input(1)
	by := c.input(2)
	if len(from.Real) == 1 && len(to.Real) == 1 && len(by.Real) == 1 && by.Real[0] != 0 {
		return withShape(from.Type, int64(max(0, math.Ceil((to.Real[0]-from.Real[0])/by.Real[0]))))
	}
	if len(from.Value) != 1 || len(to.Value) != 1 || len(by.Value) != 1 || by.Value[0] == 0 {
		return withType(from.Type)
	}
	start, delta := from.Value[0], by.Value[0]
	n := max(0, int64(math.Ceil(float64(to.Value[0]-start)/float64(delta))))
	out := TensorInfo{Type: from.Type, Known: true, Shape: []int64{n}}
	if n <= short {
		out.Value = []int64{}
		for i := range n {
			out.Value = append(out.Value, start+i*delta)
		}
	}
	return []TensorInfo{out}
}

func randomShape(c *call) []TensorInfo {
	kind := DataType(c.node.Int("dtype", int64(Float32)))
	if shape := c.node.Ints("shape"); shape != nil {
		return withShape(kind, slices.Clone(shape)...)
	}
	return withType(kind)
}

// multinomial draws so many classes from each row of probabilities.
func multinomial(c *call) []TensorInfo {
	kind := DataType(c.node.Int("dtype", int64(Int32)))
	if x := c.input(0); x.Known && len(x.Shape) == 2 {
		return withShape(kind, x.Shape[0], c.node.Int("sample_size", 1))
	}
	return withType(kind)
}
