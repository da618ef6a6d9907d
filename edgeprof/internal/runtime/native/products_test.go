package native

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Products of any size, transposed or not, with what stood there before, are
// gonum's to 1e-5 of what they add up.
func TestProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(rng.NormFloat64())
		}
		return data
	}
	var s scratch
	for _, size := range [][3]int{{3, 5, 7}, {200, 300, 100}, {65, 1031, 129}, {1, 2048, 2500}} {
		m, k, n := size[0], size[1], size[2]
		for which := range 4 {
			a, b := matrix{random(m * k), m, k, which&1 != 0}, matrix{random(k * n), k, n, which&2 != 0}
			if a.transposed {
				a.rows, a.columns = k, m
			}
			if b.transposed {
				b.rows, b.columns = n, k
			}
			for _, factors := range [][2]float32{{1, 0}, {1, 1}, {0.5, -2}} {
				got := random(m * n)
				want := append([]float32(nil), got...)
				s.product(a, b, factors[0], factors[1], got)
				blas32.Gemm(transposed(a.transposed), transposed(b.transposed), factors[0], a.general(), b.general(), factors[1], general(want, m, n))
				for i := range want {
					if d := got[i] - want[i]; d > 1e-5*float32(k) || d < -1e-5*float32(k) {
						t.Fatalf("%v, transposed %v and %v, factors %v: value %d is %v, want %v", size, a.transposed, b.transposed, factors, i, got[i], want[i])
					}
				}
			}
		}
	}
}
