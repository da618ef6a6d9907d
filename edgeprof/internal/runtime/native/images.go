package native

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// instanceNormalization normalises each channel of each image by itself.
func instanceNormalization(s site) (kernel, error) {
	epsilon := float64(s.float("epsilon", 1e-5))
	shape := s.in(0)
	channels, n := shape[1], volume(shape[2:])
	return func(in, out []array, _ *scratch) {
		for i := range len(in[0].data) / n {
			x, y := in[0].data[i*n:][:n], out[0].data[i*n:][:n]
			mean, inverse := moments(x, epsilon)
			scale, bias := in[1].data[i%channels], in[2].data[i%channels]
			for k, v := range x {
				y[k] = float32((float64(v)-mean)*inverse)*scale + bias
			}
		}
	}, nil
}

// convTranspose adds each value of the image, times the filters, to the window
// of the result that it belongs to.
func convTranspose(s site) (kernel, error) {
	x, w, shape := s.in(0), s.in(1), s.out(0)
	p, err := blockOf(s, w[2:])
	if err != nil {
		return nil, err
	}
	if len(x) > 4 {
		return nil, unsupported("rank %d", len(x))
	}
	// The window is a convolution's from the result to the image.
	p.height, p.width, p.outHeight, p.outWidth = p.outHeight, p.outWidth, p.height, p.width
	if auto := s.node.Text("auto_pad"); auto != "" && auto != "NOTSET" || s.node.Ints("output_shape") != nil {
		return nil, unsupported("padding by the result's shape")
	}
	groups := int(s.node.Int("group", 1))
	channels, filters := x[1]/groups, w[1]
	size, outSize := volume(x[2:]), volume(shape[2:])
	return func(in, out []array, _ *scratch) {
		var bias []float32
		if s.given(2) {
			bias = in[2].data
		}
		for image := range x[0] {
			spread(out[0].data[image*shape[1]*outSize:][:shape[1]*outSize], bias, outSize)
			for c := range x[1] {
				src := in[0].data[(image*x[1]+c)*size:][:size]
				for f := range filters {
					dst := out[0].data[(image*shape[1]+c/channels*filters+f)*outSize:][:outSize]
					p.backward(src, in[1].data[(c*filters+f)*p.kh*p.kw:][:p.kh*p.kw], dst)
				}
			}
		}
	}, nil
}

// backward adds, to each value under the window, the window's value times the
// filter's.
func (p plane) backward(src, weights, dst []float32) {
	for kh := range p.kh {
		firstY, lastY := span(kh*p.dh-p.top, p.sh, p.height, p.outHeight)
		for kw := range p.kw {
			firstX, lastX := span(kw*p.dw-p.left, p.sw, p.width, p.outWidth)
			w := weights[kh*p.kw+kw]
			for y := firstY; y < lastY && firstX < lastX; y++ {
				to := dst[(y*p.sh+kh*p.dh-p.top)*p.width:][:p.width]
				blas32.Axpy(w, blas32.Vector{N: lastX - firstX, Inc: 1, Data: src[y*p.outWidth+firstX:]}, blas32.Vector{N: lastX - firstX, Inc: p.sw, Data: to[firstX*p.sw+kw*p.dw-p.left:]})
			}
		}
	}
}

// resize takes the nearest value, or a mean of the two nearest along each axis
// (the ONNX operator Resize, coordinate_transformation_mode and nearest_mode).
func resize(s site) (kernel, error) {
	from, shape := s.in(0), s.out(0)
	mode := s.node.Text("mode")
	if mode != "linear" && mode != "nearest" && mode != "" {
		return nil, unsupported("mode %s", mode)
	}
	if s.node.Int("antialias", 0) != 0 || s.node.Int("exclude_outside", 0) != 0 {
		return nil, unsupported("antialiasing, or values outside left out")
	}
	scales, err := s.scales()
	if err != nil {
		return nil, err
	}
	axes := make([][]mix, len(shape))
	for axis := range shape {
		scale := float64(shape[axis]) / float64(from[axis])
		if scales != nil {
			scale = scales[axis]
		}
		for k := range shape[axis] {
			at, err := s.original(float64(k), scale, from[axis], shape[axis])
			if err != nil {
				return nil, err
			}
			m := mix{low: s.nearest(at, scale)}
			if m.high = m.low; mode == "linear" {
				m.low = int(math.Floor(at))
				m.high, m.part = m.low+1, float32(at-math.Floor(at))
			}
			m.low, m.high = max(0, min(from[axis]-1, m.low)), max(0, min(from[axis]-1, m.high))
			axes[axis] = append(axes[axis], m)
		}
	}
	kernel := func(in, out []array, _ *scratch) { resized(in[0].data, out[0].data, from, axes) }
	return s.checked(3, kernel, func(axis, v int) bool { return axis < len(shape) && v == shape[axis] }), nil
}

// mix lists the values that one place of an axis is made of, with their weights.
type mix struct {
	low, high int
	part      float32 // of high
}

// resized works along one axis after the other.
func resized(x, y []float32, from []int, axes [][]mix) {
	shape := append([]int{}, from...)
	for axis, places := range axes {
		if len(places) == shape[axis] && untouched(places) {
			continue
		}
		outer, length, inner := volume(shape[:axis]), shape[axis], volume(shape[axis+1:])
		next := make([]float32, outer*len(places)*inner)
		for o := range outer {
			for k, m := range places {
				low, high := x[(o*length+m.low)*inner:][:inner], x[(o*length+m.high)*inner:][:inner]
				to := next[(o*len(places)+k)*inner:][:inner]
				for i := range to {
					to[i] = low[i] + m.part*(high[i]-low[i])
				}
			}
		}
		x, shape[axis] = next, len(places)
	}
	copy(y, x)
}

// untouched says that every place stays what it is.
func untouched(places []mix) bool {
	for k, m := range places {
		if m.low != k || m.part != 0 {
			return false
		}
	}
	return true
}

// scales returns the node's scales; nil if it gives sizes.
func (s site) scales() ([]float64, error) {
	at := 2
	if s.node.Op == "Upsample" || s.opset < 11 {
		at = 1
	}
	if !s.given(at) || volume(s.in(at)) == 0 {
		return nil, nil
	}
	if given := s.cost.Inputs[at].Real; len(given) == len(s.in(0)) {
		return given, nil
	}
	return nil, unsupported("scales that depend on the data, or of some axes")
}

// original returns the place in the image of a place in the result.
func (s site) original(k, scale float64, from, to int) (float64, error) {
	mode := s.node.Text("coordinate_transformation_mode")
	if s.node.Op == "Upsample" || s.opset < 11 {
		mode = "asymmetric"
	}
	switch mode {
	case "", "half_pixel":
		return (k+0.5)/scale - 0.5, nil
	case "pytorch_half_pixel":
		if to > 1 {
			return (k+0.5)/scale - 0.5, nil
		}
		return 0, nil
	case "asymmetric":
		return k / scale, nil
	case "align_corners":
		if to > 1 {
			return k * float64(from-1) / float64(to-1), nil
		}
		return 0, nil
	}
	return 0, unsupported("coordinates %s", mode)
}

// nearest rounds a place.
func (s site) nearest(at, scale float64) int {
	mode := s.node.Text("nearest_mode")
	if s.node.Op == "Upsample" || s.opset < 11 {
		mode = "floor"
		if scale < 1 {
			mode = "ceil"
		}
	}
	switch mode {
	case "floor":
		return int(math.Floor(at))
	case "ceil":
		return int(math.Ceil(at))
	case "round_prefer_ceil":
		return int(math.Floor(at + 0.5))
	}
	return int(math.Ceil(at - 0.5))
}
