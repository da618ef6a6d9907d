package native

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

func general(data []float32, rows, columns int) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: max(1, columns), Data: data}
}

func transposed(yes bool) blas.Transpose {
	if yes {
		return blas.Trans
	}
	return blas.NoTrans
}

// gemm is alpha A' B' + beta C.
func gemm(s site) (kernel, error) {
	a, b, shape := s.in(0), s.in(1), s.out(0)
	ta, tb := s.node.Int("transA", 0) != 0, s.node.Int("transB", 0) != 0
	alpha, beta := float32(1), float32(1)
	if v := s.node.Attribute("alpha"); v != nil {
		alpha = v.Float
	}
	if v := s.node.Attribute("beta"); v != nil {
		beta = v.Float
	}
	var sc []int
	if s.given(2) {
		sc = broadcastStrides(s.in(2), shape)
	}
	return func(in, out []array, _ *scratch) {
		y := out[0].data
		keep := float32(0)
		if sc != nil {
			keep = beta
			walk(shape, sc, sc, func(i, at, _, n, step, _ int) {
				for k := range n {
					y[i+k] = in[2].data[at+k*step]
				}
			})
		}
		if shape[0] == 1 && !ta {
			// a matrix times a vector
			w := general(in[1].data, b[0], b[1])
			blas32.Gemv(transposed(!tb), alpha, w, blas32.Vector{N: a[1], Inc: 1, Data: in[0].data}, keep, blas32.Vector{N: shape[1], Inc: 1, Data: y})
			return
		}
		blas32.Gemm(transposed(ta), transposed(tb), alpha, general(in[0].data, a[0], a[1]), general(in[1].data, b[0], b[1]), keep, general(y, shape[0], shape[1]))
	}, nil
}

// matMul is NumPy's: the last two axes multiply, those before broadcast.
func matMul(s site) (kernel, error) {
	a, b, shape := s.in(0), s.in(1), s.out(0)
	if len(a) < 2 || len(b) < 2 {
		return nil, unsupported("vectors of shapes %v and %v", a, b)
	}
	m, k, n := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	batch := shape[:len(shape)-2]
	sa, sb := broadcastStrides(a[:len(a)-2], batch), broadcastStrides(b[:len(b)-2], batch)
	return func(in, out []array, _ *scratch) {
		if len(b) == 2 { // one matrix for all: one product
			rows := volume(batch) * m
			blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(in[0].data, rows, k), general(in[1].data, k, n), 0, general(out[0].data, rows, n))
			return
		}
		walk(batch, sa, sb, func(i, ia, ib, count, da, db int) {
			for c := range count {
				x, w := in[0].data[(ia+c*da)*m*k:], in[1].data[(ib+c*db)*k*n:]
				blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(x[:m*k], m, k), general(w[:k*n], k, n), 0, general(out[0].data[(i+c)*m*n:][:m*n], m, n))
			}
		})
	}, nil
}

// lstm is one forward layer in ONNX's layout 0: gates in the order input,
// output, forget, cell; sigmoid and tanh; no peepholes, no clipping.
func lstm(s site) (kernel, error) {
	if direction := s.node.Text("direction"); direction != "" && direction != "forward" {
		return nil, unsupported("direction %s", direction)
	}
	if s.given(4) || s.given(7) || s.node.Int("layout", 0) != 0 || s.node.Attribute("activations") != nil || s.node.Attribute("clip") != nil {
		return nil, unsupported("sequence lengths, peepholes, layout 1, clipping or other activations")
	}
	x := s.in(0)
	steps, batch, width, hidden := x[0], x[1], x[2], s.in(2)[2]
	return func(in, out []array, scratch *scratch) {
		gates := scratch.get(0, steps*batch*4*hidden)
		state := scratch.get(1, 2*batch*hidden)
		h, c := state[:batch*hidden], state[batch*hidden:]
		clear(state)
		if s.given(5) {
			copy(h, in[5].data)
		}
		if s.given(6) {
			copy(c, in[6].data)
		}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, general(in[0].data, steps*batch, width), general(in[1].data, 4*hidden, width), 0, general(gates, steps*batch, 4*hidden))
		if s.given(3) {
			bias := in[3].data
			for start := 0; start < len(gates); start += 4 * hidden {
				for i := range 4 * hidden {
					gates[start+i] += bias[i] + bias[4*hidden+i]
				}
			}
		}
		for t := range steps {
			g := gates[t*batch*4*hidden:][:batch*4*hidden]
			blas32.Gemm(blas.NoTrans, blas.Trans, 1, general(h, batch, hidden), general(in[2].data, 4*hidden, hidden), 1, general(g, batch, 4*hidden))
			for b := range batch {
				cell(g[b*4*hidden:][:4*hidden], h[b*hidden:][:hidden], c[b*hidden:][:hidden])
			}
			if out[0].data != nil {
				copy(out[0].data[t*batch*hidden:], h)
			}
		}
		for i, last := range [][]float32{h, c} {
			if len(out) > i+1 && out[i+1].data != nil {
				copy(out[i+1].data, last)
			}
		}
	}, nil
}

// cell advances one LSTM state by its summed gates.
func cell(g, h, c []float32) {
	n := len(h)
	sigmoid := func(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }
	for i := range n {
		keep := sigmoid(g[2*n+i])*float64(c[i]) + sigmoid(g[i])*math.Tanh(float64(g[3*n+i]))
		c[i] = float32(keep)
		h[i] = float32(sigmoid(g[n+i]) * math.Tanh(keep))
	}
}
