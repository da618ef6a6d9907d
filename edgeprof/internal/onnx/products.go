package onnx

func gemm(c *call) []Shaped {
	i, j := factors(c.node.Op)
	a, b := c.input(i), c.input(j)
	if !a.Known || !b.Known || len(a.Shape) != 2 || len(b.Shape) != 2 {
		return typed(a.Type)
	}
	m, n := a.Shape[0], b.Shape[1]
	if c.node.Int("transA", 0) != 0 {
		m = a.Shape[1]
	}
	if c.node.Int("transB", 0) != 0 {
		n = b.Shape[0]
	}
	return shaped(a.Type, m, n)
}

// factors are the two matrices of a product among its inputs.
func factors(op string) (int, int) {
	if op == "QLinearMatMul" || op == "QGemm" {
		return 0, 3
	}
	return 0, 1
}

func matMul(c *call) []Shaped {
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
		return typed(kind)
	}
	x, y := a.Shape, b.Shape
	row, column := len(x) > 1, len(y) > 1
	if !row {
		x = []int64{1, x[0]}
	}
	if !column {
		y = []int64{y[0], 1}
	}
	batch, ok := broadcast(Shaped{Known: true, Shape: x[:len(x)-2]}, Shaped{Known: true, Shape: y[:len(y)-2]})
	if !ok {
		return typed(kind)
	}
	shape := batch
	if row {
		shape = append(shape, x[len(x)-2])
	}
	if column {
		shape = append(shape, y[len(y)-1])
	}
	return shaped(kind, shape...)
}
