package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// inference walks a graph in topological order. That of a body of control flow
// sees the tensors of the graphs around it.
type inference struct {
	*common
	outer   *inference
	tensors map[string]TensorInfo
	declare map[string]Value // what the file states of tensors
	order   []int
	costs   []Cost // in order
}

// common holds the state that the graph and its bodies share.
type common struct {
	dims     *dimensions
	opset    int64
	external int
	bodies   int            // graphs that are not counted
	custom   map[string]int // nodes of operators without a cost, by name
	doubts   []error        // about loops and branches
	// sources are the inputs of the model that the values of a short tensor follow from.
	sources  map[string][]string
	unshaped map[string]int // nodes whose results' shapes do not follow from their inputs', by name
	deciding []string       // inputs whose values decide sizes
	ends     []string       // outputs of bodies
	depth    int            // of bodies
	computed int            // nodes of loops' conditions
}

// infer infers the tensors of a graph as far as possible, forward and, if that leaves
// shapes unknown, once more with those that the stated results imply. In the order of the
// nodes each comes after those it needs.
func infer(m *Model, s Settings) (*inference, error) {
	in, err := inferWith(m, s, nil)
	if err == nil && len(in.unshaped) > 0 {
		if implied := in.backward(&m.Graph); len(implied) > 0 {
			return inferWith(m, s, implied)
		}
	}
	return in, err
}

// inferWith infers once. The implied shapes add to those that the file states.
func inferWith(m *Model, s Settings, implied map[string]Value) (*inference, error) {
	g := &m.Graph
	given := map[string]bool{}
	for i := range g.Initializers {
		given[g.Initializers[i].Name] = true
	}
	inputs := slices.DeleteFunc(slices.Clone(g.Inputs), func(v Value) bool { return given[v.Name] })
	in := &inference{common: &common{dims: newDimensions(inputs, s.Sizes, m.ImageSize), opset: m.Opsets[""], custom: map[string]int{}, sources: map[string][]string{}, unshaped: map[string]int{}}}
	in.prepare(g)
	maps.Copy(in.declare, implied)
	used := 0
	for _, v := range inputs {
		t, err := s.withValue(v, in.resolve(v))
		if err != nil {
			return nil, err
		}
		if _, ok := s.Values[v.Name]; ok {
			used++
		} else if n := t.Elements(); n >= 0 && n <= short && len(t.Shape) < 2 {
			in.sources[v.Name] = []string{v.Name}
		}
		if err := t.checkSize(v.Name); err != nil {
			return nil, err
		}
		in.tensors[v.Name] = t
	}
	if used < len(s.Values) {
		return nil, fmt.Errorf("%w: %q; the inputs are %q", ErrValue, slices.Sorted(maps.Keys(s.Values)), names(inputs))
	}
	err := in.walk(g)
	if err != nil && !errors.Is(err, ErrSize) {
		return nil, err
	}
	if wrong := in.dims.check(); wrong != nil || err == nil {
		return in, wrong
	}
	return nil, fmt.Errorf("%w; open dimensions: %s", err, in.dims)
}

func (in *inference) prepare(g *Graph) {
	in.tensors, in.declare = map[string]TensorInfo{}, map[string]Value{}
	for _, v := range append(slices.Clone(g.Values), g.Outputs...) {
		in.declare[v.Name] = v
	}
}

// walk infers the graph's nodes in order.
func (in *inference) walk(g *Graph) error {
	for i := range g.Initializers {
		t := &g.Initializers[i]
		if _, ok := product(t.Dims); !ok {
			return fmt.Errorf("%w: initializer %q: impossible dimensions %v", ErrGraph, t.Name, t.Dims)
		}
		if t.External {
			in.external++
		}
		s := constant(t)
		if err := s.checkSize(t.Name); err != nil {
			return err
		}
		in.tensors[t.Name] = s
	}
	var err error
	if in.order, err = topological(g); err != nil {
		return err
	}
	for _, i := range in.order {
		if err := in.node(i, &g.Nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// lookup returns the type and shape of a tensor, of this graph or of one around it.
func (in *inference) lookup(name string) TensorInfo {
	for at := in; at != nil && name != ""; at = at.outer {
		if s, ok := at.tensors[name]; ok {
			return s
		}
	}
	return TensorInfo{}
}

// resolve gives an input's open dimensions a size.
func (in *inference) resolve(v Value) TensorInfo {
	if v.Element != nil || v.Optional != nil {
		return in.statedTensor(v)
	}
	s := TensorInfo{Type: v.Type, Known: v.Known, Shape: make([]int64, len(v.Shape))}
	for i, d := range v.Shape {
		s.Shape[i] = d.Size
		if d.Size < 0 {
			s.Shape[i] = in.dims.size(v.Name, i)
		}
	}
	return s
}

// stated returns what the file states of a value whose open dimensions nothing assumes.
func (in *inference) statedTensor(v Value) TensorInfo {
	for v.Optional != nil {
		v = *v.Optional
	}
	if v.Element != nil {
		element := in.statedTensor(*v.Element)
		return TensorInfo{Element: &element}
	}
	s := TensorInfo{Type: v.Type}
	if v.Known {
		s.Shape, s.Known = in.dims.statedShape(v.Shape)
	}
	return s
}

// node works out a node's outputs, by its operator's rule, or from what the
// file states, and its cost.
func (in *inference) node(index int, n *Node) error {
	inputs := make([]TensorInfo, len(n.Inputs))
	constant := len(n.Attributes) > 0 || len(n.Inputs) > 0
	for i, name := range n.Inputs {
		inputs[i] = in.lookup(name)
		constant = constant && (inputs[i].Constant || name == "")
	}
	var inside *body
	var outputs []TensorInfo
	switch rule := operators[n.operator()].shape; {
	case controls(n):
		var err error
		if inside, err = in.control(n, inputs); err != nil {
			return err
		}
		outputs, constant = inside.outputs, constant && inside.constant
	case rule != nil:
		c := call{in: in, node: n, inputs: inputs}
		c.checkAxes()
		if c.wrong == nil {
			outputs = rule(&c)
		}
		if c.wrong != nil {
			return c.wrong
		}
	}
	for i, name := range n.Outputs {
		var s TensorInfo
		if i < len(outputs) {
			s = outputs[i]
		}
		s = in.finishNode(name, s, constant && !n.is(random))
		if err := s.checkSize(name); err != nil {
			return err
		}
		in.tensors[name] = s
	}
	in.trace(n, inputs)
	cost := in.cost(index, n)
	if inside == nil {
		for _, a := range n.Attributes {
			in.bodies += len(a.Graphs)
		}
	} else {
		cost.Inside = inside.costs
		cost.Times = inside.times
		cost.Branches = inside.branches
		cost.ReadBytes = 0
		cost.WrittenBytes = 0
	}
	in.costs = append(in.costs, cost)
	return nil
}

// mostSources is the greatest number of deciding inputs that are kept for a tensor.
const mostSources = 8

// trace notes which inputs of the model decide the values of a node's results, if these
// are short, and of a result without a shape what it is decided by.
func (in *inference) trace(n *Node, inputs []TensorInfo) {
	var from []string
	shapes := true
	for i, name := range n.Inputs {
		for _, source := range in.sources[name] {
			if len(from) < mostSources && !slices.Contains(from, source) {
				from = append(from, source)
			}
		}
		shapes = shapes && (name == "" || inputs[i].Known || inputs[i].sequence())
	}
	for _, name := range n.Outputs {
		s := in.tensors[name]
		if name != "" && !s.Known && !s.sequence() && shapes && !controls(n) && operators[n.operator()].shape != nil {
			in.unshaped[n.operator()]++
			if len(from) > 0 {
				in.deciding = append(in.deciding, from...)
			}
		}
		if count := s.Elements(); len(from) > 0 && s.Value == nil && s.Real == nil && count <= short {
			in.sources[name] = from
		}
	}
}

func names(inputs []Value) []string {
	var all []string
	for _, v := range inputs {
		all = append(all, v.Name)
	}
	return all
}

// finishNode returns the results of a rule, completed by the shapes that the file states.
func (in *inference) finishNode(name string, s TensorInfo, constant bool) TensorInfo {
	n := multiplyCounts(s.Shape...)
	if n < 0 {
		s.Known, s.Shape = false, nil
	}
	if !s.Known || int64(len(s.Value)) != n {
		s.Value = nil
	}
	if !s.Known || int64(len(s.Real)) != n {
		s.Real = nil
	}
	if v, ok := in.declare[name]; ok {
		if s.Type == 0 {
			s.Type = v.Type
		}
		if !s.Known && v.Known {
			s.Shape, s.Known = in.dims.statedShape(v.Shape)
		}
		if !s.Known && !s.sequence() && (v.Element != nil || v.Optional != nil) {
			s = in.statedTensor(v)
		}
	}
	s.Constant = constant
	return s
}
