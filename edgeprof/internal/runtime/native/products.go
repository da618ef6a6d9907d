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

// matrix is one by rows, to be read as it stands or transposed.
type matrix struct {
	data          []float32
	rows, columns int
	transposed    bool
}

func (m matrix) general() blas32.General { return general(m.data, m.rows, m.columns) }

// sizes are the rows and columns that it is read with.
func (m matrix) sizes() (rows, columns int) {
	if m.transposed {
		return m.columns, m.rows
	}
	return m.rows, m.columns
}

// product writes alpha a b + beta c to c: by vector instructions where the build
// and the processor have them and the product is worth the call, else by gonum.
func (s *scratch) product(a, b matrix, alpha, beta float32, c []float32) {
	m, _ := a.sizes()
	k, n := b.sizes()
	if m == 1 && k > 0 && n > 0 { // a vector times a matrix, which is read once
		blas32.Gemv(transposed(!b.transposed), alpha, b.general(), blas32.Vector{N: k, Inc: 1, Data: a.data}, beta, blas32.Vector{N: n, Inc: 1, Data: c})
		return
	}
	if m*k*n >= PackedThreshold && s.products.vector(a, b, alpha, beta, c[:m*n]) {
		return
	}
	blas32.Gemm(transposed(a.transposed), transposed(b.transposed), alpha, a.general(), b.general(), beta, general(c[:m*n], m, n))
}

// gemm is alpha A' B' + beta C.
func gemm(s site) (kernel, error) {
	a, b, shape := s.in(0), s.in(1), s.out(0)
	ta, tb := s.node.Int("transA", 0) != 0, s.node.Int("transB", 0) != 0
	alpha, beta := s.float("alpha", 1), s.float("beta", 1)
	var sc []int
	if s.given(2) {
		sc = broadcastStrides(s.in(2), shape)
	}
	return func(in, out []array, scratch *scratch) {
		y := out[0].data
		keep := float32(0)
		if sc != nil {
			keep = beta
			gathered(in[2].data, y, shape, sc)
		}
		scratch.product(matrix{in[0].data, a[0], a[1], ta}, matrix{in[1].data, b[0], b[1], tb}, alpha, keep, y)
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
	return func(in, out []array, scratch *scratch) {
		if len(b) == 2 { // one matrix for all: one product
			rows := volume(batch) * m
			scratch.product(matrix{in[0].data, rows, k, false}, matrix{in[1].data, k, n, false}, 1, 0, out[0].data)
			return
		}
		walk(batch, sa, sb, func(i, ia, ib, count, da, db int) {
			for c := range count {
				x, w := in[0].data[(ia+c*da)*m*k:], in[1].data[(ib+c*db)*k*n:]
				scratch.product(matrix{x, m, k, false}, matrix{w, k, n, false}, 1, 0, out[0].data[(i+c)*m*n:])
			}
		})
	}, nil
}
