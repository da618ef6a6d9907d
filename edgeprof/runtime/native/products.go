package native

import (
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
