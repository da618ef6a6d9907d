package onnx

import "slices"

// productOperators multiply matrices.
var productOperators = table{
	"Gemm":                          {shape: gemm, work: gemmWork, effort: productEffort, layer: denseLayer, opens: activation},
	"com.microsoft.FusedGemm":       {shape: gemm, work: gemmWork, layer: denseLayer},
	"com.microsoft.QGemm":           {shape: gemm, work: gemmWork, layer: denseLayer, traits: quantizes},
	"MatMul":                        {shape: matMul, work: matMulWork, effort: productEffort, layer: productLayer, opens: bias},
	"MatMulInteger QLinearMatMul":   {shape: matMul, work: matMulWork, layer: productLayer, traits: quantizes},
	"com.microsoft.FusedMatMul":     {shape: fusedMatMul, work: matMulWork, layer: productLayer},
	"com.microsoft.TransposeMatMul": {shape: fusedMatMul, work: matMulWork},
	"com.microsoft.MatMulIntegerToFloat com.microsoft.DynamicQuantizeMatMul": {shape: matMul, work: matMulWork, layer: productLayer, traits: quantizes},
	"com.microsoft.MatMulNBits": {shape: matMulBits, work: matMulBitsWork, effort: always(unmet), layer: productLayer},
	"Einsum":                    {shape: einsum, work: einsumWork, effort: always(unmet)},
}

func gemm(c *call) []TensorInfo {
	i, j := factors(c.node.Op)
	a, b := c.input(i), c.input(j)
	if !a.Known || !b.Known || len(a.Shape) != 2 || len(b.Shape) != 2 {
		return withType(a.Type)
	}
	m := a.Shape[0]
	n := b.Shape[1]
	columns := a.Shape[1]
	rows := b.Shape[0]
	if c.node.Int("transA", 0) != 0 {
		m, columns = columns, m
	}
	if c.node.Int("transB", 0) != 0 {
		n, rows = rows, n
	}
	c.checkInner(columns, rows)
	return withShape(a.Type, m, n)
}

// factors returns the two matrices of a product among its inputs.
func factors(op string) (int, int) {
	if op == "QLinearMatMul" || op == "QGemm" {
		return 0, 3
	}
	return 0, 1
}

func matMul(c *call) []TensorInfo {
	i, j := factors(c.node.Op)
	a, b := c.input(i), c.input(j)
	kind := a.Type
	switch c.node.Op {
	case "MatMulInteger":
		kind = Int32
	case "QLinearMatMul":
		kind = c.input(7).Type
	case "MatMulIntegerToFloat", "DynamicQuantizeMatMul":
		kind = Float32
	}
	if !a.Known || !b.Known || len(a.Shape) == 0 || len(b.Shape) == 0 {
		return withType(kind)
	}
	x, y := a.Shape, b.Shape
	row, column := len(x) > 1, len(y) > 1
	if !row {
		x = []int64{1, x[0]}
	}
	if !column {
		y = []int64{y[0], 1}
	}
	c.checkInner(x[len(x)-1], y[len(y)-2])
	batch, ok := broadcast(TensorInfo{Known: true, Shape: x[:len(x)-2]}, TensorInfo{Known: true, Shape: y[:len(y)-2]})
	if !ok {
		return withType(kind)
	}
	shape := batch
	if row {
		shape = append(shape, x[len(x)-2])
	}
	if column {
		shape = append(shape, y[len(y)-1])
	}
	return withShape(kind, shape...)
}

// fusedMatMul returns a product of matrices that may be transposed.
func fusedMatMul(c *call) []TensorInfo {
	turned := *c
	turned.inputs = slices.Clone(c.inputs)
	for i, name := range []string{"transA", "transB"} {
		if i < len(turned.inputs) && c.node.Int(name, 0) == 1 {
			turned.inputs[i] = swapAxes(turned.inputs[i])
		}
	}
	return matMul(&turned)
}

// swapAxes has the last two axes in the other order.
func swapAxes(s TensorInfo) TensorInfo {
	if n := len(s.Shape); s.Known && n > 1 {
		s.Shape = slices.Clone(s.Shape)
		s.Shape[n-1], s.Shape[n-2] = s.Shape[n-2], s.Shape[n-1]
	}
	return s
}

func matMulBits(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known || len(x.Shape) == 0 {
		return withType(x.Type)
	}
	return withShape(x.Type, append(slices.Clone(x.Shape[:len(x.Shape)-1]), c.node.Int("N", 0))...)
}

// products distinguishes a product of two matrices, summed over so many values, from one of
// a matrix and a vector.
func products(depth int64, out TensorInfo) (Class, []int64) {
	class := ClassDense
	if n := len(out.Shape); out.Known && n > 0 && out.Elements() == out.Shape[n-1] {
		class = ClassVector
	}
	return class, []int64{depth, out.Elements()}
}

func gemmWork(n *Node, in inputs, out TensorInfo) (Class, []int64) {
	a := in.shape(0)
	if len(a) != 2 {
		return products(-1, out)
	}
	if n.Int("transA", 0) != 0 {
		return products(a[0], out)
	}
	return products(a[1], out)
}

func matMulWork(n *Node, in inputs, out TensorInfo) (Class, []int64) {
	a := in.shape(0)
	switch {
	case len(a) == 0:
		return products(-1, out)
	case len(a) > 1 && n.Int("transA", 0) == 1:
		return products(a[len(a)-2], out)
	}
	return products(a[len(a)-1], out)
}

func matMulBitsWork(n *Node, _ inputs, out TensorInfo) (Class, []int64) {
	return products(n.Int("K", 0), out)
}
