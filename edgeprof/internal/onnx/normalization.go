package onnx

import "slices"

// normalizationOperators compute statistics of their input.
var normalizationOperators = table{
	"Softmax LogSoftmax": {shape: first, class: ClassSoftmax, effort: lastAxisEffort(1)},
	"LRN":                {shape: first, class: ClassResponse},
	"BatchNormalization": {shape: batchNormalization, opens: activation},
	"MeanVarianceNormalization GroupNormalization":   {shape: first, class: ClassNormalize},
	"RMSNormalization InstanceNormalization":         {shape: first, class: ClassNormalize, effort: always(0.4)},
	"LpNormalization":                                {shape: first, class: ClassNormalize, effort: lastAxisEffort(0.8)},
	"LayerNormalization":                             {shape: layerNormalization, class: ClassNormalize},
	"com.microsoft.SkipLayerNormalization":           {shape: skipNormalization, class: ClassNormalize, effort: always(2.6)},
	"com.microsoft.SkipSimplifiedLayerNormalization": {shape: skipNormalization, class: ClassNormalize},
	"SimplifiedLayerNormalization com.microsoft.SimplifiedLayerNormalization com.microsoft.LayerNormalization":           {shape: layerNormalization, class: ClassNormalize},
	"ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare": {shape: reduction, class: ClassNormalize, effort: reductionEffort},
}

// batchNormalization gives the statistics of each channel too, when it trains.
func batchNormalization(c *call) []TensorInfo {
	x := first(c)[0]
	out := []TensorInfo{x}
	for range max(0, len(c.node.Outputs)-1) {
		out = append(out, TensorInfo{Type: c.input(3).Type, Known: c.input(3).Known, Shape: c.input(3).Shape})
	}
	return out
}

// skipNormalization normalises the sum of two tensors; it gives the mean and the deviation
// too, and the sum.
func skipNormalization(c *call) []TensorInfo {
	x := first(c)[0]
	statistics := withType(Float32)[0]
	if n := len(x.Shape); x.Known && n > 0 {
		statistics = TensorInfo{Type: Float32, Known: true, Shape: append(slices.Clone(x.Shape[:n-1]), 1)}
	}
	return []TensorInfo{x, statistics, statistics, x}
}

// layerNormalization gives the mean and the deviation too, one for each slice
// from the axis on.
func layerNormalization(c *call) []TensorInfo {
	x := first(c)[0]
	at, ok := axis(c.node.Int("axis", -1), len(x.Shape))
	if !ok || !x.Known {
		return []TensorInfo{x}
	}
	one := TensorInfo{Type: Float32, Known: true, Shape: slices.Clone(x.Shape)}
	for i := at; i < len(one.Shape); i++ {
		one.Shape[i] = 1
	}
	return []TensorInfo{x, one, one}
}

func reduction(c *call) []TensorInfo {
	x := c.input(0)
	reduced, ok := c.axes(len(x.Shape))
	if !x.Known || !ok {
		return withType(x.Type)
	}
	if len(reduced) == 0 && c.node.Int("noop_with_empty_axes", 0) == 1 {
		return []TensorInfo{{Type: x.Type, Known: true, Shape: x.Shape}}
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
	out := TensorInfo{Type: x.Type, Known: true, Shape: shape}
	if out.Elements() == 1 {
		out.Value, out.Real = foldValues(x.Value, wholeReductions[c.node.Op]), foldValues(x.Real, realReductions[c.node.Op])
	}
	return []TensorInfo{out}
}

// foldValues joins all values by an operation; nil if there are none or no operation.
func foldValues[T any](values []T, f func(a, b T) T) []T {
	if len(values) == 0 || f == nil {
		return nil
	}
	v := values[0]
	for _, next := range values[1:] {
		v = f(v, next)
	}
	return []T{v}
}

// The reductions that shapes are computed with.
var (
	wholeReductions = reductions[int64]()
	realReductions  = reductions[float64]()
)

func reductions[T int64 | float64]() map[string]func(a, b T) T {
	return map[string]func(a, b T) T{
		"ReduceProd": func(a, b T) T { return a * b }, "ReduceSum": func(a, b T) T { return a + b },
		"ReduceMax": func(a, b T) T { return max(a, b) }, "ReduceMin": func(a, b T) T { return min(a, b) },
	}
}
