package onnx

import (
	"math"
	"slices"
)

// elementwiseOperators compute each value of the result from one value of each input.
var elementwiseOperators = table{
	"Exp":                  {shape: first, class: ClassFunction, traits: elementwiseUnary},
	"Swish":                {shape: first, class: ClassFunction, effort: always(7), traits: elementwiseUnary},
	"Log Elu Selu Sin Cos": {shape: first, class: ClassFunction, effort: always(17), traits: elementwiseUnary},
	"Mish Softplus":        {shape: first, class: ClassFunction, effort: always(115), traits: elementwiseUnary},
	"Sigmoid Tanh":         {shape: first, class: ClassFunction, effort: always(aloneEffort), traits: activates | elementwiseUnary},
	"HardSwish":            {shape: first, class: ClassFunction, effort: always(3.5), traits: activates | elementwiseUnary},
	"com.microsoft.FastGelu com.microsoft.QuickGelu": {shape: first, class: ClassFunction, effort: always(5)},
	"Pow": {shape: elementwise, class: ClassFunction, effort: powerEffort},
	"Erf": {shape: first, class: ClassErf},
	"Gelu com.microsoft.Gelu com.microsoft.BiasGelu": {shape: first, class: ClassErf, effort: always(2.2)},
	"Relu HardSigmoid Clip":                          {shape: first, traits: activates | elementwiseUnary},
	"LeakyRelu":                                      {shape: first, effort: always(1.9), traits: activates | elementwiseUnary},
	"ThresholdedRelu Softsign":                       {shape: first},
	"PRelu":                                          {shape: first, effort: always(38)},
	"Celu":                                           {shape: first, effort: always(17)},
	"Tan Sinh Acosh":                                 {shape: first, effort: always(100)},
	"Asinh Atanh":                                    {shape: first, effort: always(150)},
	"Cosh":                                           {shape: first, effort: always(55)},
	"Asin Acos Atan":                                 {shape: first, effort: always(7)},
	"Abs Neg Not BitwiseNot Reciprocal":              {shape: first, traits: elementwiseUnary},
	"Ceil Floor Round Sqrt":                          {shape: first, effort: always(2), traits: elementwiseUnary},
	"Sign":                                           {shape: first, effort: always(6.5), traits: elementwiseUnary},
	"Hardmax":                                        {shape: first, effort: lastAxisEffort(3.5)},
	"Trilu com.microsoft.Trilu":                      {shape: first, traits: elementwiseUnary},
	"Shrink":                                         {shape: first, effort: always(28), traits: elementwiseUnary},
	"CumSum CumProd":                                 {shape: first, class: ClassNormalize, effort: always(unmet)},
	"EyeLike":                                        {shape: filledLike},
	"SwiGLU":                                         {shape: gatedShape, class: ClassFunction},
	"BitCast":                                        {shape: bitCast, class: ClassMove},
	"com.microsoft.BiasAdd":                          {shape: first},
	"com.microsoft.BiasSplitGelu":                    {shape: gatedShape, class: ClassErf},
	"com.microsoft.BiasDropout com.microsoft.BitmaskDropout": {shape: dropout, class: ClassMove},
	"RandomNormalLike":  {shape: filledLike, reads: nothing, effort: always(normalEffort), traits: random},
	"RandomUniformLike": {shape: filledLike, reads: nothing, effort: always(uniformEffort), traits: random},
	"Bernoulli":         {shape: filledLike, effort: always(uniformEffort / 2), traits: random},
	"Add":               {shape: elementwise, effort: broadcastEffort(1), opens: skipping},
	"Sub Mul":           {shape: elementwise, effort: broadcastEffort(1)},
	"Div":               {shape: elementwise, effort: realEffort(1.4)},
	"Max Min Sum":       {shape: elementwise, effort: broadcastEffort(1.4)},
	"Mod":               {shape: elementwise, effort: realEffort(40)},
	"Mean":              {shape: elementwise, effort: broadcastEffort(1.9)},
	"BitShift BitwiseAnd BitwiseOr BitwiseXor":                 {shape: elementwise, effort: broadcastEffort(2.4)},
	"And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual": {shape: comparison, effort: broadcastEffort(1.4)},
	"IsNaN IsInf": {shape: predicate},
	"Where":       {shape: where, effort: plainEffort(1.7)},
}

func first(c *call) []TensorInfo {
	x := c.input(0)
	switch c.node.Op {
	case "Identity":
	case "Floor", "Ceil", "Round", "Sqrt", "Neg", "Abs", "Relu", "Reciprocal":
		x.Real, x.Value = mapValues(x.Real, realOf[c.node.Op]), mapValues(x.Value, wholeOf[c.node.Op])
	case "Clip":
		x.Real, x.Value = clipValues(c, x.Real, func(s TensorInfo) []float64 { return s.Real }), clipValues(c, x.Value, func(s TensorInfo) []int64 { return s.Value })
	case "Not":
		x.Value = mapValues(x.Value, func(v int64) int64 { return 1 - v })
	default:
		x.Value, x.Real = nil, nil
	}
	return []TensorInfo{x}
}

var (
	realOf  = map[string]func(float64) float64{"Floor": math.Floor, "Ceil": math.Ceil, "Round": math.RoundToEven, "Sqrt": math.Sqrt, "Abs": math.Abs, "Reciprocal": func(v float64) float64 { return 1 / v }, "Neg": func(v float64) float64 { return -v }, "Relu": func(v float64) float64 { return max(v, 0) }}
	wholeOf = map[string]func(int64) int64{"Abs": func(v int64) int64 { return max(v, -v) }, "Neg": func(v int64) int64 { return -v }, "Relu": func(v int64) int64 { return max(v, 0) }}
)

// mapValues returns nil where there are no values, or nothing to do with them.
func mapValues[T any](values []T, f func(T) T) []T {
	if values == nil || f == nil {
		return nil
	}
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// clipValues applies the limits of Clip, its second and third input, to values; nil if a limit
// is not known.
func clipValues[T int64 | float64](c *call, values []T, known func(TensorInfo) []T) []T {
	if values == nil || c.node.Attribute("min") != nil || c.node.Attribute("max") != nil { // as in version 6
		return nil
	}
	out := slices.Clone(values)
	for i, limit := range []func(a, b T) T{func(a, b T) T { return max(a, b) }, func(a, b T) T { return min(a, b) }} {
		if !c.given(i + 1) {
			continue
		}
		v := known(c.input(i + 1))
		if len(v) != 1 {
			return nil
		}
		for k := range out {
			out[k] = limit(out[k], v[0])
		}
	}
	return out
}

func dropout(c *call) []TensorInfo {
	return append(first(c), as(c, Bool)...)
}

// as returns the first input's shape in a type.
func as(c *call, t DataType) []TensorInfo {
	x := c.input(0)
	return []TensorInfo{{Type: t, Known: x.Known, Shape: x.Shape}}
}

func predicate(c *call) []TensorInfo { return as(c, Bool) }

// broadcast joins shapes by NumPy's rule.
func broadcast(shapes ...TensorInfo) ([]int64, bool) {
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

// elementwise broadcasts, and computes with short values: exporters write shapes by them.
func elementwise(c *call) []TensorInfo {
	shape, ok := broadcast(c.inputs...)
	out := TensorInfo{Type: c.input(0).Type, Known: ok, Shape: shape}
	if ok && len(c.inputs) == 2 {
		a, b := c.input(0), c.input(1)
		out.Value = combineValues(a, b, out, a.Value, b.Value, whole[c.node.Op])
		out.Real = combineValues(a, b, out, a.Real, b.Real, realOperators[c.node.Op])
	}
	return []TensorInfo{out}
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
	realOperators = map[string]func(x, y float64) (float64, bool){
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

// combineValues applies an operation to values, broadcast to the shape of out; nil
// where it does not exist, values are unknown or are too many.
func combineValues[T any](a, b, out TensorInfo, x, y []T, f func(T, T) (T, bool)) []T {
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

// within returns the place in a tensor that a place in the tensor that it is broadcast
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

func comparison(c *call) []TensorInfo {
	out := elementwise(c)[0]
	out.Type = Bool
	return []TensorInfo{out}
}

func where(c *call) []TensorInfo {
	shape, ok := broadcast(c.inputs...)
	out := TensorInfo{Type: c.input(1).Type, Known: ok, Shape: shape}
	if condition := c.input(0); ok && condition.Value != nil {
		out.Value = chosen(condition, c.input(1), c.input(2), out, c.input(1).Value, c.input(2).Value)
		out.Real = chosen(condition, c.input(1), c.input(2), out, c.input(1).Real, c.input(2).Real)
	}
	return []TensorInfo{out}
}

func chosen[T any](condition, a, b, out TensorInfo, x, y []T) []T {
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

// filledLike has the first input's shape, and the type of an attribute if there is one.
func filledLike(c *call) []TensorInfo {
	return as(c, DataType(c.node.Int("dtype", int64(c.input(0).Type))))
}

// gatedShape multiplies one half of the last axis by a function of the other.
func gatedShape(c *call) []TensorInfo {
	x := c.input(0)
	if c.node.Op == "SwiGLU" && c.given(1) { // the halves are two inputs
		return as(c, x.Type)
	}
	at, ok := axis(c.node.Int("axis", -1), len(x.Shape))
	if !x.Known || !ok {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	shape[at] /= 2
	return withShape(x.Type, shape...)
}

func bitCast(c *call) []TensorInfo {
	x, to := c.input(0), DataType(c.node.Int("to", 0))
	from, wide := x.Type.Bits(), to.Bits()
	if !x.Known || from == 0 || wide == 0 || len(x.Shape) == 0 || from == wide {
		return as(c, to)
	}
	shape := slices.Clone(x.Shape)
	shape[len(shape)-1] = shape[len(shape)-1] * from / wide
	return withShape(to, shape...)
}

// realEffort returns the factor for operators that divide real numbers: processors divide no vectors of whole
// ones.
func realEffort(factor float64) effort {
	return func(c *Cost) float64 {
		switch inputs(c.Inputs).input(0).Type {
		case Float32, Float64, Float16, BFloat16:
			return broadcastEffort(factor)(c)
		}
		return unmet
	}
}
