package native

// strides of a row-major shape.
func strides(shape []int) []int {
	out := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = step
		step *= shape[i]
	}
	return out
}

// broadcastStrides are the strides of a shape seen as a larger one: 0 along the
// axes it is repeated over.
func broadcastStrides(shape, to []int) []int {
	own := strides(shape)
	out := make([]int, len(to))
	for i := range shape {
		if at := len(to) - len(shape) + i; shape[i] != 1 {
			out[at] = own[i]
		}
	}
	return out
}

// elementwise joins two tensors element by element, with broadcasting; inputs beyond
// the second (Max, Min) are joined in turn.
func elementwise(f func(a, b float32) float32) func(site) (kernel, error) {
	return rowwise(f, func(y, a, b []float32, da, db int) {
		for i := range y {
			y[i] = f(a[i*da], b[i*db])
		}
	})
}

// rowwise is elementwise with the loop over a row given, whose operands move by
// steps: a loop of its own spares an operator a call for each value.
func rowwise(f func(a, b float32) float32, row func(y, a, b []float32, da, db int)) func(site) (kernel, error) {
	return func(s site) (kernel, error) {
		if len(s.node.Inputs) != 2 {
			return many(s, f), nil
		}
		shape := s.out(0)
		shape, sa, sb := merged(shape, broadcastStrides(s.in(0), shape), broadcastStrides(s.in(1), shape))
		return func(in, out []array, _ *scratch) {
			walk(shape, sa, sb, func(i, ia, ib, n, da, db int) {
				row(out[0].data[i:][:n], in[0].data[ia:], in[1].data[ib:], da, db)
			})
		}, nil
	}
}

// merged joins neighbouring axes along which both operands move as along one.
func merged(shape, sa, sb []int) (axes, da, db []int) {
	for i, n := range shape {
		if last := len(axes) - 1; last >= 0 && da[last] == sa[i]*n && db[last] == sb[i]*n {
			axes[last], da[last], db[last] = axes[last]*n, sa[i], sb[i]
			continue
		}
		axes, da, db = append(axes, n), append(da, sa[i]), append(db, sb[i])
	}
	return axes, da, db
}

func sumRow(y, a, b []float32, da, db int) {
	if da == 1 && db == 1 {
		for i, x := range a[:len(y)] {
			y[i] = x + b[i]
		}
		return
	}
	for i := range y {
		y[i] = a[i*da] + b[i*db]
	}
}

func productRow(y, a, b []float32, da, db int) {
	if da == 1 && db == 1 {
		for i, x := range a[:len(y)] {
			y[i] = x * b[i]
		}
		return
	}
	for i := range y {
		y[i] = a[i*da] * b[i*db]
	}
}

// many joins one tensor or several, the first with each other in turn.
func many(s site, f func(a, b float32) float32) kernel {
	shape := s.out(0)
	var steps [][]int
	for i := range s.node.Inputs {
		steps = append(steps, broadcastStrides(s.in(i), shape))
	}
	return func(in, out []array, _ *scratch) {
		y := out[0].data
		for j := range in {
			x := in[j].data
			if j == 0 {
				gathered(x, y, shape, steps[j])
				continue
			}
			walk(shape, steps[j], steps[j], func(i, at, _, n, step, _ int) {
				for k := range n {
					y[i+k] = f(y[i+k], x[at+k*step])
				}
			})
		}
	}
}

// walk visits a shape row by row: run gets the position of a row in the result
// and in two operands, its length, and their steps along it.
func walk(shape, sa, sb []int, run func(i, ia, ib, n, da, db int)) {
	last := len(shape) - 1
	if last < 0 {
		run(0, 0, 0, 1, 0, 0)
		return
	}
	n := shape[last]
	index := make([]int, last)
	for i := 0; i < volume(shape); i += n {
		ia, ib := 0, 0
		for axis, at := range index {
			ia += at * sa[axis]
			ib += at * sb[axis]
		}
		run(i, ia, ib, n, sa[last], sb[last])
		for axis := last - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
}
