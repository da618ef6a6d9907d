//go:build !(goexperiment.simd && amd64)

package native

// ProductImplementation names what multiplies matrices.
const ProductImplementation = "gonum"

// PackedThreshold is more multiplications than any product has.
const PackedThreshold = 1 << 62

type products struct{}

func (*products) vector(_, _ matrix, _, _ float32, _ []float32) bool { return false }
