//go:build !(goexperiment.simd && amd64)

package native

// ProductImplementation names the implementation of matrix products.
const ProductImplementation = "gonum"

// PackedThreshold is above the multiplications of any product: none is packed.
const PackedThreshold = 1 << 62

type products struct{}

func (*products) vector(_, _ matrix, _, _ float32, _ []float32) bool { return false }
