package onnx

import (
	"fmt"
	"math"
	"slices"
)

// moveOperators move data, or work out a shape.
var moveOperators = table{
	"Concat":                  {shape: concat, class: ClassMove, effort: partEffort},
	"Split":                   {shape: splitUp, class: ClassMove, effort: partEffort},
	"Slice":                   {shape: slice, class: ClassMove, effort: sliceEffort, traits: hands},
	"Gather":                  {shape: gather, class: ClassMove, effort: gatherEffort},
	"GatherElements":          {shape: likeSecond, class: ClassMove, effort: always(unmet)},
	"GatherND":                {shape: gatherND, class: ClassMove, effort: pointEffort(2.4)},
	"Transpose":               {shape: transpose, class: ClassMove, effort: transposeEffort, traits: hands},
	"Reshape":                 {shape: reshape, class: ClassMove, traits: hands},
	"Flatten":                 {shape: flatten, class: ClassMove, traits: hands},
	"Squeeze":                 {shape: squeeze, class: ClassMove, traits: hands},
	"Unsqueeze":               {shape: unsqueeze, class: ClassMove, traits: hands},
	"Dropout":                 {shape: dropout, class: ClassMove},
	"Pad":                     {shape: pad, class: ClassMove, effort: always(2)},
	"Expand":                  {shape: expand, class: ClassMove, effort: repeatEffort(2), traits: hands},
	"Tile":                    {shape: tile, class: ClassMove, effort: repeatEffort(2)},
	"Identity":                {shape: first, class: ClassMove, traits: passes | hands | elementwiseUnary},
	"ScatterElements Scatter": {shape: first, class: ClassMove, effort: always(unmet)},
	"ScatterND":               {shape: first, class: ClassMove, effort: pointEffort(2)},
	"ReverseSequence":         {shape: first, class: ClassMove, effort: always(unmet)},
	"Cast":                    {shape: cast, traits: passes | hands | elementwiseUnary},
	"CastLike":                {shape: cast, traits: elementwiseUnary},
}

func flatten(c *call) []TensorInfo {
	x := c.input(0)
	a := c.node.Int("axis", 1)
	if a < 0 {
		a += int64(len(x.Shape))
	}
	if !x.Known || a < 0 || a > int64(len(x.Shape)) {
		return withType(x.Type)
	}
	outer, ok1 := product(x.Shape[:a])
	inner, ok2 := product(x.Shape[a:])
	if !ok1 || !ok2 {
		return withType(x.Type)
	}
	return withShape(x.Type, outer, inner)
}

// target returns a shape given as a second input or, in old versions, an attribute.
func (c *call) target(i int, attribute string) []int64 {
	if c.given(i) {
		return c.input(i).Value
	}
	return c.node.Ints(attribute)
}

func reshape(c *call) []TensorInfo {
	x, to := c.input(0), slices.Clone(c.target(1, "shape"))
	if to == nil || !x.Known {
		return withType(x.Type)
	}
	open, known := -1, int64(1)
	for i, n := range to {
		switch {
		case n == 0 && c.node.Int("allowzero", 0) == 0:
			if i >= len(x.Shape) {
				return withType(x.Type)
			}
			to[i] = x.Shape[i]
		case n == -1 && open < 0:
			open = i
			continue
		case n < 0:
			return withType(x.Type)
		}
		known *= to[i]
	}
	n := x.Elements()
	if open < 0 && n > 0 && known != n || open >= 0 && n > 0 && known > 0 && n%known != 0 {
		c.wrong = fmt.Errorf("%w: %s %q: %d elements of shape %v do not fit shape %v", ErrSize, c.node.Op, c.node.Name, n, x.Shape, c.target(1, "shape"))
	}
	if open >= 0 {
		if n < 0 || known <= 0 || n%known != 0 {
			return withType(x.Type)
		}
		to[open] = n / known
	}
	return []TensorInfo{{Type: x.Type, Known: true, Shape: to, Value: x.Value, Real: x.Real}}
}

// order returns the order of so many axes that a transpose makes: the reverse if it states none.
func (n *Node) order(axes int) []int64 {
	order := n.Ints("perm")
	if len(order) != axes {
		order = axesOf(make([]int64, axes))
		slices.Reverse(order)
	}
	return order
}

func transpose(c *call) []TensorInfo {
	x := c.input(0)
	order := c.node.order(len(x.Shape))
	if !x.Known || slices.ContainsFunc(order, func(a int64) bool { return a < 0 || a >= int64(len(order)) }) {
		return withType(x.Type)
	}
	out := TensorInfo{Type: x.Type, Known: true, Shape: make([]int64, len(order))}
	for i, from := range order {
		out.Shape[i] = x.Shape[from]
	}
	source := func(at []int64) []int64 {
		from := make([]int64, len(at))
		for i := range at {
			from[order[i]] = at[i]
		}
		return from
	}
	out.Value, out.Real = pickValues(x, out, x.Value, source), pickValues(x, out, x.Real, source)
	return []TensorInfo{out}
}

// pickValues returns the values of a tensor each of which comes from a place in another.
func pickValues[T any](x, out TensorInfo, values []T, source func(at []int64) []int64) []T {
	n := out.Elements()
	if values == nil || n < 0 || n > short {
		return nil
	}
	result := make([]T, n)
	for i := range result {
		at, rest := make([]int64, len(out.Shape)), int64(i)
		for k := len(at) - 1; k >= 0; k-- {
			at[k] = rest % out.Shape[k]
			rest /= out.Shape[k]
		}
		place := int64(0)
		for k, v := range source(at) {
			if v < 0 || v >= x.Shape[k] {
				return nil
			}
			place = place*x.Shape[k] + v
		}
		result[i] = values[place]
	}
	return result
}

func concat(c *call) []TensorInfo { return joinTensors(c, c.inputs) }

// joinTensors returns the concatenation of some of a call's inputs.
func joinTensors(c *call, inputs []TensorInfo) []TensorInfo {
	if len(inputs) == 0 {
		return nil
	}
	x := inputs[0]
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known {
		return withType(x.Type)
	}
	out := TensorInfo{Type: x.Type, Known: true, Shape: slices.Clone(x.Shape)}
	for _, y := range inputs[1:] {
		if !y.Known || len(y.Shape) != len(out.Shape) {
			return withType(x.Type)
		}
		out.Shape[at] += y.Shape[at]
	}
	out.Value = strung(inputs, at, func(s TensorInfo) []int64 { return s.Value })
	out.Real = strung(inputs, at, func(s TensorInfo) []float64 { return s.Real })
	return []TensorInfo{out}
}

// strung returns the values of tensors joined along an axis; nil when some are
// unknown.
func strung[T any](inputs []TensorInfo, at int, values func(TensorInfo) []T) []T {
	outer, ok := product(inputs[0].Shape[:at])
	if !ok || outer > short {
		return nil
	}
	out := []T{}
	for row := range outer {
		for _, x := range inputs {
			v := values(x)
			if int64(len(v)) != x.Elements() || v == nil {
				return nil
			}
			size := int64(len(v)) / max(1, outer)
			out = append(out, v[row*size:(row+1)*size]...)
		}
	}
	return out
}

// axes returns the axes in a second input or an attribute; false if one is outside of the rank,
// or they are unknown.
func (c *call) axes(rank int) (map[int]bool, bool) {
	named := c.target(1, "axes")
	if c.given(1) && named == nil {
		return nil, false
	}
	all := map[int]bool{}
	for _, a := range named {
		at, ok := axis(a, rank)
		if !ok {
			return nil, false
		}
		all[at] = true
	}
	return all, true
}

func squeeze(c *call) []TensorInfo {
	x := c.input(0)
	drop, ok := c.axes(len(x.Shape))
	if !x.Known || !ok {
		return withType(x.Type)
	}
	shape := []int64{}
	for i, n := range x.Shape {
		if drop[i] || c.target(1, "axes") == nil && n == 1 {
			continue
		}
		shape = append(shape, n)
	}
	return []TensorInfo{{Type: x.Type, Known: true, Shape: shape, Value: x.Value, Real: x.Real}}
}

func unsqueeze(c *call) []TensorInfo {
	x, axes := c.input(0), c.target(1, "axes")
	rank := len(x.Shape) + len(axes)
	added, ok := c.axes(rank)
	if !x.Known || axes == nil || !ok || len(added) != len(axes) {
		return withType(x.Type)
	}
	shape := make([]int64, 0, rank)
	next := 0
	for i := range rank {
		if added[i] {
			shape = append(shape, 1)
			continue
		}
		shape = append(shape, x.Shape[next])
		next++
	}
	return []TensorInfo{{Type: x.Type, Known: true, Shape: shape, Value: x.Value, Real: x.Real}}
}

func cast(c *call) []TensorInfo {
	x, to := c.input(0), DataType(c.node.Int("to", 0))
	if c.node.Op == "CastLike" {
		to = c.input(1).Type
	}
	out := TensorInfo{Type: to, Known: x.Known, Shape: x.Shape}
	switch to {
	case Int64, Int32, Bool:
		out.Value = x.Value
		for _, v := range x.Real {
			out.Value = append(out.Value, int64(v))
		}
		if to == Bool {
			out.Value = mapValues(out.Value, func(v int64) int64 { return truth(v != 0) })
		}
	case Float32, Float64, Float16, BFloat16:
		out.Real = x.Real
		for _, v := range x.Value {
			out.Real = append(out.Real, float64(v))
		}
	}
	return []TensorInfo{out}
}

func gather(c *call) []TensorInfo {
	x, indices := c.input(0), c.input(1)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known || !indices.Known {
		return withType(x.Type)
	}
	shape := slices.Concat(x.Shape[:at], indices.Shape, x.Shape[at+1:])
	out := TensorInfo{Type: x.Type, Known: true, Shape: shape}
	if indices.Value != nil {
		source := func(place []int64) []int64 {
			k := int64(0)
			for i, n := range indices.Shape {
				k = k*n + place[at+i]
			}
			index := indices.Value[k]
			if index < 0 {
				index += x.Shape[at]
			}
			return slices.Concat(place[:at], []int64{index}, place[at+len(indices.Shape):])
		}
		out.Value, out.Real = pickValues(x, out, x.Value, source), pickValues(x, out, x.Real, source)
	}
	return []TensorInfo{out}
}

func slice(c *call) []TensorInfo {
	x := c.input(0)
	starts, ends := c.target(1, "starts"), c.target(2, "ends")
	axes, steps := c.target(3, "axes"), c.target(4, "steps")
	if !x.Known || starts == nil || len(ends) != len(starts) || c.given(3) && axes == nil || c.given(4) && steps == nil {
		return withType(x.Type)
	}
	out := TensorInfo{Type: x.Type, Known: true, Shape: slices.Clone(x.Shape)}
	spans := map[int]span{}
	for i := range starts {
		a, step := int64(i), int64(1)
		if i < len(axes) {
			a = axes[i]
		}
		if i < len(steps) {
			step = steps[i]
		}
		at, ok := axis(a, len(x.Shape))
		if !ok || step == 0 {
			return withType(x.Type)
		}
		spans[at] = between(starts[i], ends[i], step, x.Shape[at])
		out.Shape[at] = spans[at].count
	}
	source := func(place []int64) []int64 {
		for at, s := range spans {
			place[at] = s.start + place[at]*s.step
		}
		return place
	}
	out.Value, out.Real = pickValues(x, out, x.Value, source), pickValues(x, out, x.Real, source)
	return []TensorInfo{out}
}

// span is the indices start, start+step, ... of a slice.
type span struct{ start, step, count int64 }

func between(start, end, step, size int64) span {
	clamp := func(v, low, high int64) int64 {
		if v < 0 {
			v += size
		}
		return min(max(v, low), high)
	}
	s := span{step: step}
	if step > 0 {
		s.start = clamp(start, 0, size)
		if end = clamp(end, 0, size); end > s.start {
			s.count = (end - s.start + step - 1) / step
		}
		return s
	}
	if step == math.MinInt64 {
		step++
	}
	s.start = clamp(start, 0, size-1)
	if end = clamp(end, -1, size-1); end < s.start {
		s.count = (s.start - end - step - 1) / -step
	}
	return s
}

func splitUp(c *call) []TensorInfo {
	x := c.input(0)
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	n := int64(len(c.node.Outputs))
	out := make([]TensorInfo, n)
	sizes, before := c.target(1, "split"), int64(0)
	for i := range out {
		out[i].Type = x.Type
		if !ok || !x.Known || c.given(1) && sizes == nil {
			continue
		}
		size := (x.Shape[at] + n - 1) / n
		size = min(size, max(0, x.Shape[at]-int64(i)*size))
		if i < len(sizes) {
			size = sizes[i]
		}
		out[i].Known, out[i].Shape = true, slices.Clone(x.Shape)
		out[i].Shape[at] = size
		start := before
		source := func(place []int64) []int64 { place[at] += start; return place }
		out[i].Value, out[i].Real = pickValues(x, out[i], x.Value, source), pickValues(x, out[i], x.Real, source)
		before += size
	}
	return out
}

func expand(c *call) []TensorInfo {
	x, to := c.input(0), c.input(1).Value
	if to == nil {
		return withType(x.Type)
	}
	shape, ok := broadcast(x, TensorInfo{Known: true, Shape: to})
	out := TensorInfo{Type: x.Type, Known: ok, Shape: shape}
	if n := out.Elements(); x.Value != nil && n >= 0 && n <= short {
		for i := range n {
			out.Value = append(out.Value, x.Value[within(x.Shape, shape, i)])
		}
	}
	return []TensorInfo{out}
}

func tile(c *call) []TensorInfo {
	x, times := c.input(0), c.target(1, "scales") // an attribute of images in blocks
	if !x.Known || len(times) != len(x.Shape) {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i, n := range times {
		shape[i] = multiplyCounts(shape[i], n)
	}
	return withShape(x.Type, shape...)
}

// axesOf returns all axes of a shape.
func axesOf(shape []int64) []int64 {
	axes := make([]int64, len(shape))
	for i := range axes {
		axes[i] = int64(i)
	}
	return axes
}

func pad(c *call) []TensorInfo {
	x := c.input(0)
	pads := c.target(1, "pads")
	axes := c.target(3, "")
	if !c.given(3) {
		axes = axesOf(x.Shape)
	}
	if !x.Known || pads == nil || c.given(3) && axes == nil || len(pads) != 2*len(axes) {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i, a := range axes {
		at, ok := axis(a, len(shape))
		if !ok {
			return withType(x.Type)
		}
		if c.node.Text("mode") == "reflect" {
			c.atLeast(at, shape[at], 1+max(pads[i], pads[len(axes)+i]))
		}
		shape[at] += pads[i] + pads[len(axes)+i]
	}
	return withShape(x.Type, shape...)
}
