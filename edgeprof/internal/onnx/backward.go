package onnx

import "slices"

// backward returns shapes of tensors that no rule finds from the inputs, but that follow
// from the results that the file states: a function of each element has the shape of its
// result, and so has the other input of arithmetic with a single number.
func (in *inference) backward(g *Graph) map[string]Value {
	found := map[string]Value{}
	known := func(name string) bool {
		_, ok := found[name]
		return ok || in.lookup(name).Known
	}
	for _, i := range slices.Backward(in.order) {
		n := &g.Nodes[i]
		if len(n.Outputs) != 1 || !known(n.Outputs[0]) {
			continue
		}
		from := -1
		switch s := (inputs)(nil); {
		case n.is(elementwiseUnary) && len(n.Inputs) > 0:
			from = 0
		case n.standard() && slices.Contains([]string{"Add", "Sub", "Mul", "Div", "Pow"}, n.Op) && len(n.Inputs) == 2:
			for _, name := range n.Inputs {
				s = append(s, in.lookup(name))
			}
			from = slices.IndexFunc(s, func(s TensorInfo) bool { return !s.Known && !s.sequence() })
			if from >= 0 && (!s[1-from].Known || len(s[1-from].Shape) > 0) {
				from = -1
			}
		}
		if from < 0 || n.Inputs[from] == "" || known(n.Inputs[from]) || in.lookup(n.Inputs[from]).sequence() {
			continue
		}
		v, ok := found[n.Outputs[0]]
		if !ok {
			for _, size := range in.lookup(n.Outputs[0]).Shape {
				v.Shape = append(v.Shape, Dim{Size: size})
			}
		}
		found[n.Inputs[from]] = Value{Known: true, Shape: v.Shape}
	}
	return found
}
