package native

import (
	"math"
	"slices"
)

// batchNormalization at inference is one multiplication and addition a channel.
func batchNormalization(s site) (kernel, error) {
	epsilon := s.float("epsilon", 1e-5)
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
	epsilon := float64(s.float("epsilon", 1e-5))
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

// softmax along one axis; before opset 13 along all from the axis on.
func softmax(s site) (kernel, error) {
	shape := s.in(0)
	logarithm := s.node.Op == "LogSoftmax"
	at := axisOf(s, "axis", -1, len(shape))
	if s.opset < 13 {
		at = axisOf(s, "axis", 1, len(shape))
		shape = append(slices.Clone(shape[:at]), volume(shape[at:]))
	}
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
					at := o + k*inner + i
					if y[at] = float32(float64(y[at]) / sum); logarithm {
						y[at] = float32(float64(x[at]-top) - math.Log(sum))
					}
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
