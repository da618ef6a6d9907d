package native

import (
	"cmp"
	"slices"
	"strings"
)

// wrapped is an index that may count from the end.
func wrapped(v float32, length int) int {
	if v < 0 {
		return int(v) + length
	}
	return int(v)
}

// scatters says whether a node puts values where its like takes them from.
func (s site) scatters() (bool, error) {
	if r := s.node.Text("reduction"); r != "" && r != "none" {
		return false, unsupported("reduction %s", r)
	}
	return strings.HasPrefix(s.node.Op, "Scatter"), nil
}

// elements takes for each place the value at that place, but along one axis at an
// index (GatherElements), or puts it there.
func elements(s site) (kernel, error) {
	scatters, err := s.scatters()
	whole, shape := s.in(0), s.in(1)
	at := axisOf(s, "axis", 0, len(whole))
	own := strides(whole)
	return func(in, out []array, _ *scratch) {
		if scatters {
			copy(out[0].data, in[0].data)
		}
		visit(shape, func(i int, index []int) {
			place := wrapped(in[1].data[i], whole[at]) * own[at]
			for k, v := range index {
				if k != at {
					place += v * own[k]
				}
			}
			if scatters {
				out[0].data[place] = in[2].data[i]
			} else {
				out[0].data[i] = in[0].data[place]
			}
		})
	}, err
}

// slicesND takes slices by the indices of their first axes (GatherND), or puts them
// there.
func slicesND(s site) (kernel, error) {
	scatters, err := s.scatters()
	whole, indices, batch := s.in(0), s.in(1), int(s.node.Int("batch_dims", 0))
	width := indices[len(indices)-1]
	places, size, own := volume(indices[:len(indices)-1]), volume(whole[batch+width:]), strides(whole)
	each := places / max(1, volume(whole[:batch]))
	return func(in, out []array, _ *scratch) {
		if scatters {
			copy(out[0].data, in[0].data)
		}
		for i := range places {
			at := i / each * volume(whole[batch:])
			for k := range width {
				at += wrapped(in[1].data[i*width+k], whole[batch+k]) * own[batch+k]
			}
			if scatters {
				copy(out[0].data[at:at+size], in[2].data[i*size:])
			} else {
				copy(out[0].data[i*size:][:size], in[0].data[at:])
			}
		}
	}, err
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
