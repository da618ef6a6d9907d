//go:build goexperiment.simd && amd64

package native

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
)

// ProductImplementation names the implementation of matrix products.
const ProductImplementation = "simd"

// PackedThreshold is the number of multiplications from which gomlx packs its operands; below,
// its plain loop and the call, some 40 us, cost more than gonum.
const PackedThreshold = 1 << 22

// products are prepared by sizes.
type products map[sizes]*prepared

type sizes struct{ a, b [2]int }

// prepared is a product of matrices of some sizes, with their memory.
type prepared struct {
	run    compute.Executable
	inputs []compute.Buffer
	a, b   []float32
}

// vector does what product promises, or nothing where it answers false.
func (p *products) vector(a, b matrix, alpha, beta float32, c []float32) bool {
	key := sizes{[2]int{a.rows, a.columns}, [2]int{b.rows, b.columns}}
	if a.transposed {
		key.a[0] = -key.a[0]
	}
	if b.transposed {
		key.b[0] = -key.b[0]
	}
	if *p == nil {
		*p = products{}
	}
	ready, ok := (*p)[key]
	if !ok {
		ready = prepare(a, b)
		(*p)[key] = ready
	}
	if ready == nil {
		return false
	}
	copy(ready.a, a.data)
	copy(ready.b, b.data)
	out, err := ready.run.Execute(ready.inputs, nil, 0)
	if err != nil {
		return false
	}
	flat, err := out[0].Data()
	if err != nil {
		return false
	}
	if alpha == 1 && beta == 0 {
		copy(c, flat.([]float32))
	} else {
		for i, v := range flat.([]float32) {
			c[i] = alpha*v + beta*c[i]
		}
	}
	return out[0].Finalize() == nil
}

// prepare compiles a product; nil where the backend will not.
func prepare(a, b matrix) *prepared {
	backend := gobackend.GetBackend()
	builder := backend.Builder("product")
	main := builder.Main()
	shape := func(m matrix) shapes.Shape { return shapes.Make(dtypes.Float32, m.rows, m.columns) }
	x, err := main.Parameter("a", shape(a), nil)
	if err != nil {
		return nil
	}
	y, err := main.Parameter("b", shape(b), nil)
	if err != nil {
		return nil
	}
	axis := func(transposed bool) []int {
		if transposed {
			return []int{0}
		}
		return []int{1}
	}
	z, err := main.DotGeneral(x, axis(a.transposed), nil, y, axis(!b.transposed), nil, compute.DotGeneralConfig{})
	if err != nil {
		return nil
	}
	if err := main.Return([]compute.Value{z}, nil); err != nil {
		return nil
	}
	run, err := builder.Compile()
	if err != nil {
		return nil
	}
	ready := &prepared{run: run}
	for _, m := range []struct {
		of   matrix
		flat *[]float32
	}{{a, &ready.a}, {b, &ready.b}} {
		buffer, flat, err := backend.NewSharedBuffer(0, shape(m.of))
		if err != nil {
			return nil
		}
		ready.inputs, *m.flat = append(ready.inputs, buffer), flat.([]float32)
	}
	return ready
}
