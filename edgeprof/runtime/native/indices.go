package native

import (
	"cmp"
	"slices"
)

// wrapped is an index that may count from the end.
func wrapped(v float32, length int) int {
	if v < 0 {
		return int(v) + length
	}
	return int(v)
}

// gatherElements takes for each place the value at that place, but along one axis
// at an index.
func gatherElements(s site) (kernel, error) {
	from, shape := s.in(0), s.out(0)
	at := axisOf(s, "axis", 0, len(from))
	own := strides(from)
	return func(in, out []array, _ *scratch) {
		visit(shape, func(i int, index []int) {
			out[0].data[i] = in[0].data[moved(index, own, at, wrapped(in[1].data[i], from[at]))]
		})
	}, nil
}

// moved is the place of an index of which one axis is replaced.
func moved(index, own []int, axis, by int) int {
	place := by * own[axis]
	for k, v := range index {
		if k != axis {
			place += v * own[k]
		}
	}
	return place
}

// scatterElements puts values where gatherElements would take them from.
func scatterElements(s site) (kernel, error) {
	if r := s.node.Text("reduction"); r != "" && r != "none" {
		return nil, unsupported("reduction %s", r)
	}
	to, shape := s.in(0), s.in(1)
	at := axisOf(s, "axis", 0, len(to))
	own := strides(to)
	return func(in, out []array, _ *scratch) {
		copy(out[0].data, in[0].data)
		visit(shape, func(i int, index []int) {
			out[0].data[moved(index, own, at, wrapped(in[1].data[i], to[at]))] = in[2].data[i]
		})
	}, nil
}

// gatherND takes slices by the indices of their first axes.
func gatherND(s site) (kernel, error) {
	from, indices, batch := s.in(0), s.in(1), int(s.node.Int("batch_dims", 0))
	width := indices[len(indices)-1]
	places, size, own := max(1, volume(indices)/max(1, width)), volume(from[batch+width:]), strides(from)
	each := places / max(1, volume(from[:batch]))
	return func(in, out []array, _ *scratch) {
		for i := range places {
			at := i / each * volume(from[batch:])
			for k := range width {
				at += wrapped(in[1].data[i*width+k], from[batch+k]) * own[batch+k]
			}
			copy(out[0].data[i*size:][:size], in[0].data[at:])
		}
	}, nil
}

// scatterND puts slices where gatherND would take them from.
func scatterND(s site) (kernel, error) {
	if r := s.node.Text("reduction"); r != "" && r != "none" {
		return nil, unsupported("reduction %s", r)
	}
	to, indices := s.in(0), s.in(1)
	width := indices[len(indices)-1]
	places, size, own := volume(indices)/max(1, width), volume(to[width:]), strides(to)
	return func(in, out []array, _ *scratch) {
		copy(out[0].data, in[0].data)
		for i := range places {
			at := 0
			for k := range width {
				at += wrapped(in[1].data[i*width+k], to[k]) * own[k]
			}
			copy(out[0].data[at:at+size], in[2].data[i*size:])
		}
	}, nil
}

// topK are the largest values along an axis, or the smallest, in order, with their
// places: of equal values the first comes first.
func topK(s site) (kernel, error) {
	from, shape := s.in(0), s.out(0)
	at := axisOf(s, "axis", -1, len(from))
	largest := s.node.Int("largest", 1) != 0
	length, inner, k := from[at], volume(from[at+1:]), shape[at]
	kernel := func(in, out []array, _ *scratch) {
		places := make([]int, length)
		for o := range volume(from[:at]) {
			for i := range inner {
				x := in[0].data[o*length*inner+i:]
				for j := range places {
					places[j] = j
				}
				slices.SortStableFunc(places, func(a, b int) int {
					if largest {
						return cmp.Compare(x[b*inner], x[a*inner])
					}
					return cmp.Compare(x[a*inner], x[b*inner])
				})
				for j, place := range places[:k] {
					to := (o*k+j)*inner + i
					if out[0].data != nil {
						out[0].data[to] = x[place*inner]
					}
					if len(out) > 1 && out[1].data != nil {
						out[1].data[to] = float32(place)
					}
				}
			}
		}
	}
	return s.checked(1, kernel, func(_, v int) bool { return v == k }), nil
}

// cumulative sums along an axis.
func cumulative(s site) (kernel, error) {
	from := s.in(0)
	exclusive, reverse := s.node.Int("exclusive", 0) != 0, s.node.Int("reverse", 0) != 0
	return func(in, out []array, _ *scratch) {
		at := wrapped(in[1].data[0], len(from))
		length, inner := from[at], volume(from[at+1:])
		for o := range volume(from[:at]) {
			for i := range inner {
				sum := float32(0)
				for j := range length {
					if reverse {
						j = length - 1 - j
					}
					place := (o*length+j)*inner + i
					before := sum
					sum += in[0].data[place]
					out[0].data[place] = sum
					if exclusive {
						out[0].data[place] = before
					}
				}
			}
		}
	}, nil
}

// triangle keeps a matrix's upper or lower part.
func triangle(s site) (kernel, error) {
	shape, upper := s.in(0), s.node.Int("upper", 1) != 0
	if len(shape) < 2 {
		return nil, unsupported("rank %d", len(shape))
	}
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	return func(in, out []array, _ *scratch) {
		k := 0
		if s.given(1) {
			k = int(in[1].data[0])
		}
		for i, v := range in[0].data {
			row, column := i/columns%rows, i%columns
			if out[0].data[i] = 0; upper && column-row >= k || !upper && column-row <= k {
				out[0].data[i] = v
			}
		}
	}, nil
}

// spaceToDepth moves blocks of the image into channels.
func spaceToDepth(s site) (kernel, error) {
	from, block := s.in(0), int(s.node.Int("blocksize", 1))
	if len(from) != 4 {
		return nil, unsupported("rank %d", len(from))
	}
	split := []int{from[0], from[1], from[2] / block, block, from[3] / block, block}
	own := strides(split)
	shape, steps := make([]int, 6), make([]int, 6)
	for i, axis := range []int{0, 3, 5, 1, 2, 4} {
		shape[i], steps[i] = split[axis], own[axis]
	}
	return func(in, out []array, _ *scratch) { gathered(in[0].data, out[0].data, shape, steps) }, nil
}
