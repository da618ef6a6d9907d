package native

import (
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Whole numbers of 8 bits and their sums are float32 as all else: sums are exact
// up to 2^24, and beyond that to one part in 2^24, as a product with a scale is.

// bounds are the least and the largest number of a quantized type.
func bounds(t onnx.DataType) (low, high float32, ok bool) {
	switch t {
	case onnx.Uint8:
		return 0, 255, true
	case onnx.Int8:
		return -128, 127, true
	case onnx.Uint16:
		return 0, 65535, true
	case onnx.Int16:
		return -32768, 32767, true
	}
	return 0, 0, false
}

// scaling is a scale and a zero point: of the whole tensor, or of each slice along
// an axis.
type scaling struct{ scale, zero []float32 }

// sliceScaling returns the scaling of a slice.
func (q scaling) sliceScaling(i int) (scale, zero float32) {
	scale = 1
	if len(q.scale) > 0 {
		scale = q.scale[i%len(q.scale)]
	}
	if len(q.zero) > 0 {
		zero = q.zero[i%len(q.zero)]
	}
	return scale, zero
}

// slices is the number of slices with a scale of their own.
func (q scaling) slices() int { return max(1, len(q.scale), len(q.zero)) }

// forEachRun calls f for runs of values of one slice, of which inner lie together.
func (q scaling) forEachRun(values, inner int, f func(from, to int, scale, zero float32)) {
	if q.slices() == 1 {
		inner = max(1, values)
	}
	for from := 0; from < values; from += inner {
		scale, zero := q.sliceScaling(from / inner)
		f(from, from+inner, scale, zero)
	}
}

// real converts quantized numbers.
func (q scaling) real(x, y []float32, inner int) {
	q.forEachRun(len(x), inner, func(from, to int, scale, zero float32) {
		for i := from; i < to; i++ {
			y[i] = (x[i] - zero) * scale
		}
	})
}

// quantized rounds to even and keeps to the type's bounds.
func (q scaling) quantized(x, y []float32, inner int, low, high float32) {
	q.forEachRun(len(x), inner, func(from, to int, scale, zero float32) {
		for i := from; i < to; i++ {
			y[i] = max(low, min(high, float32(math.RoundToEven(float64(x[i]/scale)))+zero))
		}
	})
}

// scaling returns the scaling in two of a node's inputs, the second of which may lack.
func (s site) scaling(in []array, scale, zero int) scaling {
	q := scaling{}
	if s.given(scale) {
		q.scale = in[scale].data
	}
	if s.given(zero) {
		q.zero = in[zero].data
	}
	return q
}

// inner returns the number of values that lie together in one slice along an axis with a scale
// of several values.
func (s site) inner(x, scale int) (int, error) {
	shape, of := s.in(x), s.in(scale)
	if volume(of) <= 1 {
		return max(1, volume(shape)), nil
	}
	at := axisOf(s, "axis", 1, len(shape))
	if len(of) != 1 || at < 0 || at >= len(shape) || of[0] != shape[at] {
		return 0, unsupported("scales of shape %v for %v along axis %d", of, shape, at)
	}
	return volume(shape[at+1:]), nil
}

func quantizeLinear(s site) (kernel, error) {
	low, high, ok := bounds(s.cost.Outputs[0].Type)
	if !ok {
		return nil, unsupported("quantizing to %v", s.cost.Outputs[0].Type)
	}
	inner, err := s.inner(0, 1)
	return func(in, out []array, _ *scratch) {
		s.scaling(in, 1, 2).quantized(in[0].data, out[0].data, inner, low, high)
	}, err
}

func dequantizeLinear(s site) (kernel, error) {
	inner, err := s.inner(0, 1)
	return func(in, out []array, _ *scratch) { s.scaling(in, 1, 2).real(in[0].data, out[0].data, inner) }, err
}

// dynamicQuantize finds the scale of 8 bits that holds all values and 0.
func dynamicQuantize(site) (kernel, error) {
	return func(in, out []array, _ *scratch) {
		low, high := float32(0), float32(0)
		for _, v := range in[0].data {
			low, high = min(low, v), max(high, v)
		}
		scale := (high - low) / 255
		if scale == 0 {
			scale = 1
		}
		zero := max(0, min(255, float32(math.RoundToEven(float64(-low/scale)))))
		out[1].data[0], out[2].data[0] = scale, zero
		scaling{[]float32{scale}, []float32{zero}}.quantized(in[0].data, out[0].data, 1, 0, 255)
	}, nil
}

// picked is a site of another operator with some of its inputs.
func (s site) picked(op string, inputs ...int) site {
	n := *s.node
	n.Op, n.Inputs = op, nil
	cost := s.cost
	cost.Inputs = nil
	values := [][]int64{}
	for _, i := range inputs {
		n.Inputs = append(n.Inputs, s.node.Inputs[i])
		cost.Inputs = append(cost.Inputs, s.cost.Inputs[i])
		values = append(values, nil)
	}
	s.node, s.cost, s.values = &n, cost, values
	return s
}

// product is a convolution or a product of matrices of whole numbers less their
// zero points, the weights' of each filter or column.
func (s site) product(x, w, xZero, wZero, bias int) (kernel, error) {
	inputs := []int{x, w}
	if s.given(bias) {
		inputs = append(inputs, bias)
	}
	of, op, inner := matMul, "MatMul", 1
	if s.node.Op == "ConvInteger" || s.node.Op == "QLinearConv" {
		of, op, inner = conv, "Conv", volume(s.in(w)[1:])
	} else if s.given(xZero) && volume(s.in(xZero)) > 1 {
		return nil, unsupported("zero points of rows")
	}
	kernel, err := of(s.picked(op, inputs...))
	if err != nil {
		return nil, err
	}
	return func(in, out []array, scratch *scratch) {
		shifted := []array{in[x], in[w]}
		for i, zero := range []int{xZero, wZero} {
			if q := (scaling{zero: s.scaling(in, none, zero).zero}); len(q.zero) > 0 {
				from := shifted[i]
				shifted[i].data = make([]float32, len(from.data))
				q.real(from.data, shifted[i].data, inner)
			}
		}
		if len(inputs) == 3 {
			shifted = append(shifted, in[bias])
		}
		kernel(shifted, out, scratch)
	}, nil
}

// none is no input of any node.
const none = 1 << 20

// wholeProduct is ConvInteger or MatMulInteger.
func wholeProduct(s site) (kernel, error) { return s.product(0, 1, 2, 3, none) }

// quantizedProduct is QLinearConv or QLinearMatMul: the sums of whole numbers are
// scaled and rounded once.
func quantizedProduct(s site) (kernel, error) {
	low, high, ok := bounds(s.cost.Outputs[0].Type)
	if !ok {
		return nil, unsupported("quantizing to %v", s.cost.Outputs[0].Type)
	}
	product, err := s.product(0, 3, 2, 5, 8)
	if err != nil {
		return nil, err
	}
	inner := 1
	if s.node.Op == "QLinearConv" {
		inner = volume(s.out(0)[2:])
	}
	return func(in, out []array, scratch *scratch) {
		product(in, out, scratch)
		x, _ := s.scaling(in, 1, none).sliceScaling(0)
		y, zero := s.scaling(in, 6, 7).sliceScaling(0)
		scales := slices.Clone(in[4].data)
		for i := range scales {
			scales[i] = y / (x * scales[i])
		}
		scaling{scales, []float32{zero}}.quantized(out[0].data, out[0].data, inner, low, high)
	}, nil
}

// asReals makes a kernel of an operator on real numbers one on quantized ones: each
// of the operands is followed by its scale and zero point, and the result's come
// after them all, or first.
func asReals(op string, operands int, resultFirst bool) func(site) (kernel, error) {
	return func(s site) (kernel, error) {
		first, result := 0, 3*operands
		if resultFirst {
			first, result, operands = 2, 0, (len(s.node.Inputs)-2)/3
		}
		low, high, ok := bounds(s.cost.Outputs[0].Type)
		if !ok || len(s.node.Inputs) < first+3*operands || s.node.Int("channels_last", 0) != 0 {
			return nil, unsupported("results of %v, %d inputs, or channels last", s.cost.Outputs[0].Type, len(s.node.Inputs))
		}
		var inputs []int
		for i := range operands {
			inputs = append(inputs, first+3*i)
		}
		kernel, err := kernels[op](s.picked(op, inputs...))
		if err != nil {
			return nil, err
		}
		return func(in, out []array, scratch *scratch) {
			var reals []array
			for _, i := range inputs {
				a := array{in[i].shape, make([]float32, len(in[i].data))}
				s.scaling(in, i+1, i+2).real(in[i].data, a.data, 1)
				reals = append(reals, a)
			}
			kernel(reals, out, scratch)
			s.scaling(in, result, result+1).quantized(out[0].data, out[0].data, 1, low, high)
		}, nil
	}
}
