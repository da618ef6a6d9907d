package native

// split hands on parts of an axis; their lengths are those of the outputs.
func split(s site) (kernel, error) {
	from := s.in(0)
	at := axisOf(s, "axis", 0, len(from))
	outer, row := volume(from[:at]), volume(from[at:])
	kernel := func(in, out []array, _ *scratch) {
		offset := 0
		for _, y := range out {
			if y.data == nil {
				continue
			}
			n := len(y.data) / max(1, outer)
			for o := range outer {
				copy(y.data[o*n:][:n], in[0].data[o*row+offset:])
			}
			offset += n
		}
	}
	return s.checked(1, kernel, func(i, v int) bool { return i < len(s.cost.Outputs) && v == s.out(i)[at] }), nil
}

// expand repeats a tensor along axes of length 1.
func expand(s site) (kernel, error) {
	shape := s.out(0)
	steps := broadcastStrides(s.in(0), shape)
	kernel := func(in, out []array, _ *scratch) { gathered(in[0].data, out[0].data, shape, steps) }
	return s.checked(1, kernel, func(axis, v int) bool {
		axis += len(shape) - volume(s.in(1))
		return axis >= 0 && (v == shape[axis] || v == 1 && steps[axis] != 0)
	}), nil
}

// gathered copies values that lie some steps apart along each axis.
func gathered(x, y []float32, shape, steps []int) { gatheredFrom(0, x, y, shape, steps) }

// gatheredFrom is gathered of values from some place on; steps may lead back.
func gatheredFrom(begin int, x, y []float32, shape, steps []int) {
	walk(shape, steps, steps, func(i, at, _, n, step, _ int) {
		for k := range n {
			y[i+k] = x[begin+at+k*step]
		}
	})
}

// tile repeats a tensor along each axis.
func tile(s site) (kernel, error) {
	from, shape := s.in(0), s.out(0)
	kernel := func(in, out []array, _ *scratch) {
		own := strides(from)
		visit(shape, func(i int, index []int) {
			at := 0
			for axis, k := range index {
				at += k % from[axis] * own[axis]
			}
			out[0].data[i] = in[0].data[at]
		})
	}
	return s.checked(1, kernel, func(axis, v int) bool { return axis < len(shape) && v*from[axis] == shape[axis] }), nil
}

// visit calls f for every position of a shape.
func visit(shape []int, f func(i int, index []int)) {
	index := make([]int, len(shape))
	for i := range volume(shape) {
		f(i, index)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
}

// pad adds values around a tensor; how many is known ahead.
func pad(s site) (kernel, error) {
	from, shape := s.in(0), s.out(0)
	pads := s.node.Ints("pads")
	if s.given(1) {
		pads = s.values[1]
	}
	if pads == nil || len(pads) != 2*len(from) {
		return nil, unsupported("pads of some axes, or that depend on the data")
	}
	place, ok := places[s.node.Text("mode")]
	if !ok {
		return nil, unsupported("mode %s", s.node.Text("mode"))
	}
	own := strides(from)
	otherwise := s.float("value", 0)
	return func(in, out []array, _ *scratch) {
		value := otherwise
		if s.given(2) {
			value = in[2].data[0]
		}
		visit(shape, func(i int, index []int) {
			at := 0
			for axis, k := range index {
				k = place(k-int(pads[axis]), from[axis])
				if k < 0 {
					out[0].data[i] = value
					return
				}
				at += k * own[axis]
			}
			out[0].data[i] = in[0].data[at]
		})
	}, nil
}

// places say where a value around a tensor comes from, by a mode of Pad; -1 is
// from nowhere.
var places = map[string]func(at, length int) int{
	"": outside, "constant": outside,
	"edge": func(at, length int) int { return max(0, min(length-1, at)) },
	"reflect": func(at, length int) int {
		period := max(1, 2*(length-1))
		at = (at%period + period) % period
		return min(at, period-at)
	},
	"wrap": func(at, length int) int { return (at%length + length) % length },
}

func outside(at, length int) int {
	if at < 0 || at >= length {
		return -1
	}
	return at
}

// gather takes slices of an axis by their indices.
func gather(s site) (kernel, error) {
	from := s.in(0)
	at := axisOf(s, "axis", 0, len(from))
	outer, length, inner := volume(from[:at]), from[at], volume(from[at+1:])
	return func(in, out []array, _ *scratch) {
		x, indices, y := in[0].data, in[1].data, out[0].data
		for o := range outer {
			for i, v := range indices {
				k := int(v)
				if k < 0 {
					k += length
				}
				copy(y[(o*len(indices)+i)*inner:][:inner], x[(o*length+k)*inner:])
			}
		}
	}, nil
}

// blocks moves channels into the image (DepthToSpace) or blocks of it into channels.
func blocks(s site) (kernel, error) {
	from, block := s.in(0), int(s.node.Int("blocksize", 1))
	if len(from) != 4 {
		return nil, unsupported("rank %d", len(from))
	}
	c := from[1] / (block * block)
	split, order := []int{from[0], block, block, c, from[2], from[3]}, []int{0, 3, 4, 1, 5, 2}
	switch {
	case s.node.Op == "SpaceToDepth":
		split, order = []int{from[0], from[1], from[2] / block, block, from[3] / block, block}, []int{0, 3, 5, 1, 2, 4}
		if s.node.Text("mode") == "CRD" {
			order = []int{0, 1, 3, 5, 2, 4}
		}
	case s.node.Text("mode") == "CRD":
		split, order = []int{from[0], c, block, block, from[2], from[3]}, []int{0, 1, 4, 2, 5, 3}
	}
	own := strides(split)
	shape, steps := make([]int, 6), make([]int, 6)
	for i, axis := range order {
		shape[i], steps[i] = split[axis], own[axis]
	}
	return func(in, out []array, _ *scratch) { gathered(in[0].data, out[0].data, shape, steps) }, nil
}

// argument is the place of the largest value along an axis, or of the smallest.
func argument(s site) (kernel, error) {
	if s.node.Int("select_last_index", 0) != 0 {
		return nil, unsupported("the last of equal values")
	}
	from, largest := s.in(0), s.node.Op == "ArgMax"
	at := axisOf(s, "axis", 0, len(from))
	length, inner := from[at], volume(from[at+1:])
	return func(in, out []array, _ *scratch) {
		for i := range out[0].data {
			o, k := i/inner*length*inner, i%inner
			best := 0
			for j := range length {
				if v, b := in[0].data[o+j*inner+k], in[0].data[o+best*inner+k]; largest && v > b || !largest && v < b {
					best = j
				}
			}
			out[0].data[i] = float32(best)
		}
	}, nil
}
