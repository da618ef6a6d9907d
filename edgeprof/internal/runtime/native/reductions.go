package native

import (
	"math"
	"slices"
)

// fold is one way to reduce values to one.
type fold struct {
	start float64
	add   func(sum, v float64) float64
	end   func(sum float64, n int) float64
}

func asIs(sum float64, _ int) float64 { return sum }

// The reductions; greatest and least begin with the first value.
var (
	total        = fold{0, func(sum, v float64) float64 { return sum + v }, asIs}
	mean         = fold{0, total.add, func(sum float64, n int) float64 { return sum / float64(n) }}
	product      = fold{1, func(sum, v float64) float64 { return sum * v }, asIs}
	squares      = fold{0, func(sum, v float64) float64 { return sum + v*v }, asIs}
	length       = fold{0, squares.add, func(sum float64, _ int) float64 { return math.Sqrt(sum) }}
	absolute     = fold{0, func(sum, v float64) float64 { return sum + math.Abs(v) }, asIs}
	logarithm    = fold{0, total.add, func(sum float64, _ int) float64 { return math.Log(sum) }}
	exponentials = fold{0, func(sum, v float64) float64 { return sum + math.Exp(v) }, logarithm.end}
	greatest     = fold{math.Inf(-1), func(sum, v float64) float64 { return max(sum, v) }, asIs}
	least        = fold{math.Inf(1), func(sum, v float64) float64 { return min(sum, v) }, asIs}
)

// reduce reduces some axes, or all.
func reduce(f fold) func(site) (kernel, error) {
	return func(s site) (kernel, error) {
		from := s.in(0)
		axes := s.node.Ints("axes")
		if s.given(1) {
			if axes = s.values[1]; axes == nil {
				return nil, unsupported("axes that depend on the data")
			}
		}
		if len(axes) == 0 && s.node.Int("noop_with_empty_axes", 0) == 0 {
			for i := range from {
				axes = append(axes, int64(i))
			}
		}
		reduced := slices.Clone(from)
		for _, a := range axes {
			if a < 0 {
				a += int64(len(from))
			}
			reduced[a] = 1
		}
		into := broadcastStrides(reduced, from)
		n := volume(from) / max(1, volume(reduced))
		return func(in, out []array, _ *scratch) {
			sums := make([]float64, volume(reduced))
			for i := range sums {
				sums[i] = f.start
			}
			x := in[0].data
			walk(from, into, into, func(i, at, _, n, step, _ int) {
				for k := range n {
					sums[at+k*step] = f.add(sums[at+k*step], float64(x[i+k]))
				}
			})
			for i, sum := range sums {
				out[0].data[i] = float32(f.end(sum, n))
			}
		}, nil
	}
}
