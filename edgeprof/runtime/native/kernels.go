package native

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/runtime"
)

// site is a node with what is known of it before it runs.
type site struct {
	node   *onnx.Node
	cost   onnx.Cost
	values [][]int64 // contents of inputs of whole numbers
}

func (s site) in(i int) []int {
	if i < len(s.cost.Inputs) {
		return lengths(s.cost.Inputs[i].Shape)
	}
	return nil
}

func (s site) out(i int) []int { return lengths(s.cost.Outputs[i].Shape) }

func (s site) given(i int) bool { return i < len(s.node.Inputs) && s.node.Inputs[i] != "" }

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", runtime.ErrUnsupported, fmt.Sprintf(format, args...))
}

// kernels make an operator's kernel for a node.
var kernels = map[string]func(site) (kernel, error){
	"Conv": conv, "MaxPool": pooling, "AveragePool": pooling, "GlobalAveragePool": globalAverage,
	"Gemm": gemm, "MatMul": matMul, "LSTM": lstm,
	"BatchNormalization": batchNormalization, "LayerNormalization": layerNormalization, "Softmax": softmax, "ReduceMean": reduceMean, "LRN": localResponse,
	"Flatten": same, "Reshape": same, "Squeeze": same, "Unsqueeze": same, "Identity": same, "Dropout": same,
	"Transpose": transpose, "Concat": concat, "Slice": slice, "Constant": constant,
	"Relu":      each(func(x float32) float32 { return max(x, 0) }),
	"Sigmoid":   each(func(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }),
	"Tanh":      each(func(x float32) float32 { return float32(math.Tanh(float64(x))) }),
	"Erf":       each(func(x float32) float32 { return float32(math.Erf(float64(x))) }),
	"Sqrt":      each(func(x float32) float32 { return float32(math.Sqrt(float64(x))) }),
	"Exp":       each(func(x float32) float32 { return float32(math.Exp(float64(x))) }),
	"Neg":       each(func(x float32) float32 { return -x }),
	"LeakyRelu": leakyRelu, "Clip": clip,
	"Add": elementwise(func(a, b float32) float32 { return a + b }), "Sub": elementwise(func(a, b float32) float32 { return a - b }),
	"Mul": elementwise(func(a, b float32) float32 { return a * b }), "Div": elementwise(func(a, b float32) float32 { return a / b }),
	"Pow": elementwise(func(a, b float32) float32 { return float32(math.Pow(float64(a), float64(b))) }),
	"Max": elementwise(func(a, b float32) float32 { return max(a, b) }), "Min": elementwise(func(a, b float32) float32 { return min(a, b) }),
}

func each(f func(float32) float32) func(site) (kernel, error) {
	return func(site) (kernel, error) {
		return func(in, out []array, _ *scratch) {
			y := out[0].data
			for i, x := range in[0].data {
				y[i] = f(x)
			}
		}, nil
	}
}

func leakyRelu(s site) (kernel, error) {
	slope := float32(0.01)
	if a := s.node.Attribute("alpha"); a != nil {
		slope = a.Float
	}
	return each(func(x float32) float32 {
		if x < 0 {
			return slope * x
		}
		return x
	})(s)
}

// clip takes its bounds from inputs, or from attributes before opset 11.
func clip(s site) (kernel, error) {
	low, high := float32(-math.MaxFloat32), float32(math.MaxFloat32)
	if a := s.node.Attribute("min"); a != nil {
		low = a.Float
	}
	if a := s.node.Attribute("max"); a != nil {
		high = a.Float
	}
	return func(in, out []array, _ *scratch) {
		low, high := low, high
		if s.given(1) {
			low = in[1].data[0]
		}
		if s.given(2) {
			high = in[2].data[0]
		}
		y := out[0].data
		for i, x := range in[0].data {
			y[i] = min(max(x, low), high)
		}
	}, nil
}

// same copies: the elements keep their order.
func same(site) (kernel, error) {
	return func(in, out []array, _ *scratch) { copy(out[0].data, in[0].data) }, nil
}

func constant(s site) (kernel, error) {
	a := s.node.Attribute("value")
	if a == nil || a.Tensor == nil || a.Tensor.Type != onnx.Float32 || a.Tensor.Data == nil {
		return nil, unsupported("a constant that is not a short float32 tensor")
	}
	t := &Session{weights: map[string]array{}, constants: map[string]bool{}}
	if err := t.weight(a.Tensor, nil); err != nil {
		return nil, err
	}
	value := t.weights[a.Tensor.Name]
	return func(_, out []array, _ *scratch) { copy(out[0].data, value.data) }, nil
}

// strides of a row-major shape.
func strides(shape []int) []int {
	out := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = step
		step *= shape[i]
	}
	return out
}

// broadcastStrides are the strides of a shape seen as a larger one: 0 along the
// axes it is repeated over.
func broadcastStrides(shape, to []int) []int {
	own := strides(shape)
	out := make([]int, len(to))
	for i := range shape {
		if at := len(to) - len(shape) + i; shape[i] != 1 {
			out[at] = own[i]
		}
	}
	return out
}

// elementwise joins two tensors element by element, with broadcasting; inputs beyond
// the second (Max, Min) are joined in turn.
func elementwise(f func(a, b float32) float32) func(site) (kernel, error) {
	return func(s site) (kernel, error) {
		shape := s.out(0)
		if len(s.node.Inputs) != 2 {
			return nil, unsupported("%d inputs", len(s.node.Inputs))
		}
		sa, sb := broadcastStrides(s.in(0), shape), broadcastStrides(s.in(1), shape)
		equal := slices.Equal(s.in(0), shape) && slices.Equal(s.in(1), shape)
		single := slices.Equal(s.in(0), shape) && volume(s.in(1)) == 1
		return func(in, out []array, _ *scratch) {
			a, b, y := in[0].data, in[1].data, out[0].data
			switch {
			case equal:
				for i, x := range a {
					y[i] = f(x, b[i])
				}
			case single:
				other := b[0]
				for i, x := range a {
					y[i] = f(x, other)
				}
			default:
				walk(shape, sa, sb, func(i, ia, ib, n, da, db int) {
					for k := range n {
						y[i+k] = f(a[ia+k*da], b[ib+k*db])
					}
				})
			}
		}, nil
	}
}

// walk visits a shape row by row: run gets the position of a row in the result
// and in two operands, its length, and their steps along it.
func walk(shape, sa, sb []int, run func(i, ia, ib, n, da, db int)) {
	last := len(shape) - 1
	if last < 0 {
		run(0, 0, 0, 1, 0, 0)
		return
	}
	n := shape[last]
	index := make([]int, last)
	for i := 0; i < volume(shape); i += n {
		ia, ib := 0, 0
		for axis, at := range index {
			ia += at * sa[axis]
			ib += at * sb[axis]
		}
		run(i, ia, ib, n, sa[last], sb[last])
		for axis := last - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
}

func transpose(s site) (kernel, error) {
	from, shape := s.in(0), s.out(0)
	order := s.node.Ints("perm")
	own := strides(from)
	steps := make([]int, len(shape))
	for i := range steps {
		axis := len(shape) - 1 - i
		if len(order) == len(shape) {
			axis = int(order[i])
		}
		steps[i] = own[axis]
	}
	return func(in, out []array, _ *scratch) {
		x, y := in[0].data, out[0].data
		walk(shape, steps, steps, func(i, at, _, n, step, _ int) {
			for k := range n {
				y[i+k] = x[at+k*step]
			}
		})
	}, nil
}

func axisOf(s site, name string, otherwise int64, rank int) int {
	a := s.node.Int(name, otherwise)
	if a < 0 {
		a += int64(rank)
	}
	return int(a)
}

func concat(s site) (kernel, error) {
	shape := s.out(0)
	at := axisOf(s, "axis", 0, len(shape))
	outer := volume(shape[:at])
	return func(in, out []array, _ *scratch) {
		row := volume(shape[at:])
		offset := 0
		for _, x := range in {
			n := len(x.data) / outer
			for o := range outer {
				copy(out[0].data[o*row+offset:][:n], x.data[o*n:][:n])
			}
			offset += n
		}
	}, nil
}

// slice with positive steps; starts, ends and axes are known ahead.
func slice(s site) (kernel, error) {
	get := func(i int, name string) []int64 {
		if s.given(i) {
			return s.values[i]
		}
		return s.node.Ints(name)
	}
	from, shape := s.in(0), s.out(0)
	starts, axes, steps := get(1, "starts"), get(3, "axes"), get(4, "steps")
	if starts == nil {
		return nil, unsupported("bounds that depend on the data")
	}
	own := strides(from)
	begin := 0
	moves := slices.Clone(own)
	for i, start := range starts {
		axis, step := i, 1
		if i < len(axes) {
			axis = int(axes[i])
			if axis < 0 {
				axis += len(from)
			}
		}
		if i < len(steps) {
			step = int(steps[i])
		}
		if step < 1 {
			return nil, unsupported("a step of %d", step)
		}
		if start < 0 {
			start += int64(from[axis])
		}
		begin += int(min(max(start, 0), int64(from[axis]))) * own[axis]
		moves[axis] = own[axis] * step
	}
	return func(in, out []array, _ *scratch) {
		x, y := in[0].data, out[0].data
		walk(shape, moves, moves, func(i, at, _, n, step, _ int) {
			for k := range n {
				y[i+k] = x[begin+at+k*step]
			}
		})
	}, nil
}

// reduceMean over axes that stand next to each other.
func reduceMean(s site) (kernel, error) {
	from := s.in(0)
	axes := s.node.Ints("axes")
	if s.given(1) {
		axes = s.values[1]
	}
	if len(axes) == 0 {
		for i := range from {
			axes = append(axes, int64(i))
		}
	}
	reduced := make([]bool, len(from))
	for _, a := range axes {
		if a < 0 {
			a += int64(len(from))
		}
		reduced[a] = true
	}
	first := slices.Index(reduced, true)
	last := first
	for last < len(from) && reduced[last] {
		last++
	}
	if slices.Contains(reduced[last:], true) {
		return nil, unsupported("axes %v apart from each other", axes)
	}
	outer, middle, inner := volume(from[:first]), volume(from[first:last]), volume(from[last:])
	return func(in, out []array, _ *scratch) {
		x, y := in[0].data, out[0].data
		for o := range outer {
			row := y[o*inner:][:inner]
			clear(row)
			for m := range middle {
				for i, v := range x[(o*middle+m)*inner:][:inner] {
					row[i] += v
				}
			}
			for i := range row {
				row[i] /= float32(middle)
			}
		}
	}, nil
}

// batchNormalization at inference is one multiplication and addition a channel.
func batchNormalization(s site) (kernel, error) {
	epsilon := float32(1e-5)
	if a := s.node.Attribute("epsilon"); a != nil {
		epsilon = a.Float
	}
	if s.node.Int("training_mode", 0) != 0 {
		return nil, unsupported("training mode")
	}
	shape := s.in(0)
	if len(shape) < 2 {
		return nil, unsupported("rank %d", len(shape))
	}
	channels, plane := shape[1], volume(shape[2:])
	return func(in, out []array, _ *scratch) {
		scale, bias, mean, variance := in[1].data, in[2].data, in[3].data, in[4].data
		for i := range len(in[0].data) / plane {
			c := i % channels
			m := scale[c] / float32(math.Sqrt(float64(variance[c]+epsilon)))
			b := bias[c] - m*mean[c]
			x, y := in[0].data[i*plane:][:plane], out[0].data[i*plane:][:plane]
			for k, v := range x {
				y[k] = m*v + b
			}
		}
	}, nil
}

// layerNormalization gives, where asked, the mean and the inverse deviation too.
func layerNormalization(s site) (kernel, error) {
	epsilon := 1e-5
	if a := s.node.Attribute("epsilon"); a != nil {
		epsilon = float64(a.Float)
	}
	shape := s.in(0)
	n := volume(shape[axisOf(s, "axis", -1, len(shape)):])
	return func(in, out []array, _ *scratch) {
		for row := range len(in[0].data) / n {
			x, y := in[0].data[row*n:][:n], out[0].data[row*n:][:n]
			mean, inverse := moments(x, epsilon)
			for i, v := range x {
				y[i] = float32((float64(v)-mean)*inverse) * in[1].data[i]
			}
			if s.given(2) {
				for i, b := range in[2].data {
					y[i] += b
				}
			}
			for i, v := range []float64{mean, inverse} {
				if len(out) > i+1 && out[i+1].data != nil {
					out[i+1].data[row] = float32(v)
				}
			}
		}
	}, nil
}

// moments are the mean and one over the standard deviation.
func moments(x []float32, epsilon float64) (mean, inverse float64) {
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	square := 0.0
	for _, v := range x {
		d := float64(v) - mean
		square += d * d
	}
	return mean, 1 / math.Sqrt(square/float64(len(x))+epsilon)
}

// softmax along one axis.
func softmax(s site) (kernel, error) {
	shape := s.in(0)
	at := axisOf(s, "axis", -1, len(shape))
	n, inner := shape[at], volume(shape[at+1:])
	return func(in, out []array, _ *scratch) {
		x, y := in[0].data, out[0].data
		for o := 0; o < len(x); o += n * inner {
			for i := range inner {
				top := float32(math.Inf(-1))
				for k := range n {
					top = max(top, x[o+k*inner+i])
				}
				sum := 0.0
				for k := range n {
					e := math.Exp(float64(x[o+k*inner+i] - top))
					y[o+k*inner+i] = float32(e)
					sum += e
				}
				for k := range n {
					y[o+k*inner+i] = float32(float64(y[o+k*inner+i]) / sum)
				}
			}
		}
	}, nil
}

// float is an attribute's number.
func (s site) float(name string, otherwise float32) float32 {
	if a := s.node.Attribute(name); a != nil {
		return a.Float
	}
	return otherwise
}

// localResponse divides each value by a power of the squares of its neighbours
// among the channels.
func localResponse(s site) (kernel, error) {
	shape := s.in(0)
	if len(shape) < 3 {
		return nil, unsupported("rank %d", len(shape))
	}
	size := int(s.node.Int("size", 1))
	alpha, beta, bias := float64(s.float("alpha", 1e-4))/float64(size), float64(s.float("beta", 0.75)), float64(s.float("bias", 1))
	channels, plane := shape[1], volume(shape[2:])
	before, after := (size-1)/2, size/2
	return func(in, out []array, _ *scratch) {
		for image := 0; image < len(in[0].data); image += channels * plane {
			x, y := in[0].data[image:], out[0].data[image:]
			for c := range channels {
				for i := range plane {
					sum := 0.0
					for k := max(0, c-before); k <= min(channels-1, c+after); k++ {
						v := float64(x[k*plane+i])
						sum += v * v
					}
					y[c*plane+i] = float32(float64(x[c*plane+i]) / math.Pow(bias+alpha*sum, beta))
				}
			}
		}
	}, nil
}
