//go:build !(goexperiment.simd && amd64)

package native

// Products names what multiplies matrices.
const Products = "gonum"

// Packed is more multiplications than any product has.
const Packed = 1 << 62

type products struct{}

func (*products) vector(_, _ matrix, _, _ float32, _ []float32) bool { return false }
