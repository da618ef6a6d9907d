package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Settings decide what a file leaves open. The zero value works.
type Settings struct {
	// Sizes gives named dimensions a size; a dimension that has no entry, or no
	// name, is taken to be 1.
	Sizes map[string]int64
}

// Shaped is what follows for one tensor.
type Shaped struct {
	Type  DataType // 0 when unknown
	Known bool     // Shape holds, be it of rank 0
	Shape []int64
	// Constant says that the tensor does not depend on the inputs.
	Constant bool
	// Value is the content of a short constant of whole numbers, such as the
	// target of a Reshape; nil when unknown.
	Value []int64
}

// Elements is the number of elements, or -1 when unknown or beyond int64.
func (s Shaped) Elements() int64 {
	if !s.Known {
		return -1
	}
	n, ok := product(s.Shape)
	if !ok {
		return -1
	}
	return n
}

// Bytes is the size in bytes, or -1 when unknown. Strings count as nothing.
func (s Shaped) Bytes() int64 {
	n, width := s.Elements(), s.Type.Bits()
	if n < 0 || s.Type == 0 || n > math.MaxInt64/128 {
		return -1
	}
	return (n*width + 7) / 8
}

// product multiplies sizes; false when one is negative or the result is beyond
// int64.
func product(sizes []int64) (int64, bool) {
	n := uint64(1)
	for _, s := range sizes {
		if s < 0 {
			return 0, false
		}
		high, low := bits.Mul64(n, uint64(s))
		if high > 0 || low > math.MaxInt64 {
			return 0, false
		}
		n = low
	}
	return int64(n), true
}

// inference walks a graph in topological order.
type inference struct {
	settings Settings
	tensors  map[string]Shaped
	stated   map[string]Value
	opset    int64
	dynamic  bool // an input has a dimension that the file leaves open
}

// infer works out what it can of every tensor in a graph. Order lists the nodes
// so that each comes after those it needs.
func infer(m *Model, s Settings) (in *inference, order []int, err error) {
	g := &m.Graph
	if order, err = topological(g); err != nil {
		return nil, nil, err
	}
	in = &inference{settings: s, tensors: map[string]Shaped{}, stated: map[string]Value{}, opset: m.Opsets[""]}
	for i := range g.Initializers {
		t := &g.Initializers[i]
		if _, ok := product(t.Dims); !ok {
			return nil, nil, fmt.Errorf("%w: initializer %q: impossible dimensions %v", ErrGraph, t.Name, t.Dims)
		}
		in.tensors[t.Name] = constant(t)
	}
	for _, v := range g.Inputs {
		if _, given := in.tensors[v.Name]; !given {
			in.tensors[v.Name] = in.resolve(v)
		}
	}
	for _, v := range append(slices.Clone(g.Values), g.Outputs...) {
		in.stated[v.Name] = v
	}
	for _, i := range order {
		in.node(&g.Nodes[i])
	}
	return in, order, nil
}

// resolve gives an input's open dimensions a size.
func (in *inference) resolve(v Value) Shaped {
	s := Shaped{Type: v.Type, Known: v.Known, Shape: make([]int64, len(v.Shape))}
	for i, d := range v.Shape {
		s.Shape[i] = d.Size
		if d.Size < 0 {
			in.dynamic = true
			s.Shape[i] = 1
			if size, ok := in.settings.Sizes[d.Name]; ok && d.Name != "" {
				s.Shape[i] = size
			}
		}
	}
	return s
}

// constant is what an initializer or a Constant's tensor is.
func constant(t *Tensor) Shaped {
	s := Shaped{Type: t.Type, Known: true, Shape: slices.Clone(t.Dims), Constant: true}
	if n, ok := product(t.Dims); ok && n <= 256 {
		s.Value = wholeNumbers(t, n)
	}
	return s
}

func wholeNumbers(t *Tensor, n int64) []int64 {
	if n > 0 && t.Data == nil {
		return nil
	}
	values := make([]int64, 0, n)
	switch {
	case t.Type == Int64 && int64(len(t.Data)) == 8*n:
		for b := t.Data; len(b) > 0; b = b[8:] {
			values = append(values, int64(binary.LittleEndian.Uint64(b)))
		}
	case t.Type == Int32 && int64(len(t.Data)) == 4*n:
		for b := t.Data; len(b) > 0; b = b[4:] {
			values = append(values, int64(int32(binary.LittleEndian.Uint32(b))))
		}
	case n == 0:
	default:
		return nil
	}
	return values
}

// topological orders the nodes by Kahn's algorithm, in file order where free.
// Tensors that no node makes are inputs, initializers, or of an outer graph.
func topological(g *Graph) ([]int, error) {
	maker := map[string]int{}
	for i := range g.Nodes {
		for _, name := range g.Nodes[i].Outputs {
			if name == "" {
				continue
			}
			if other, made := maker[name]; made {
				return nil, fmt.Errorf("%w: nodes %d and %d both make %q", ErrGraph, other, i, name)
			}
			maker[name] = i
		}
	}
	users := make([][]int, len(g.Nodes))
	waits := make([]int, len(g.Nodes))
	for i := range g.Nodes {
		for _, name := range needs(&g.Nodes[i]) {
			if from, made := maker[name]; made {
				users[from] = append(users[from], i)
				waits[i]++
			}
		}
	}
	var order, ready []int
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		order = append(order, i)
		for k := len(users[i]) - 1; k >= 0; k-- {
			u := users[i][k]
			if waits[u]--; waits[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
	if len(order) < len(g.Nodes) {
		return nil, fmt.Errorf("%w: %d of %d nodes wait for each other", ErrGraph, len(g.Nodes)-len(order), len(g.Nodes))
	}
	return order, nil
}

// needs lists a node's inputs and what its inner graphs take from outside.
func needs(n *Node) []string {
	names := slices.Clone(n.Inputs)
	for _, a := range n.Attributes {
		for i := range a.Graphs {
			g := &a.Graphs[i]
			inside := map[string]bool{}
			for _, v := range g.Inputs {
				inside[v.Name] = true
			}
			for k := range g.Initializers {
				inside[g.Initializers[k].Name] = true
			}
			for k := range g.Nodes {
				for _, name := range g.Nodes[k].Outputs {
					inside[name] = true
				}
			}
			for k := range g.Nodes {
				for _, name := range needs(&g.Nodes[k]) {
					if !inside[name] {
						names = append(names, name)
					}
				}
			}
			for _, v := range g.Outputs {
				if !inside[v.Name] {
					names = append(names, v.Name)
				}
			}
		}
	}
	return names
}

// node works out a node's outputs: by its operator's rule, or from what the
// file states.
func (in *inference) node(n *Node) {
	inputs := make([]Shaped, len(n.Inputs))
	constant := len(n.Attributes) > 0 || len(n.Inputs) > 0
	for i, name := range n.Inputs {
		inputs[i] = in.tensors[name]
		constant = constant && (inputs[i].Constant || name == "")
	}
	var outputs []Shaped
	if rule := rules[n.Op]; rule != nil && n.standard() {
		outputs = rule(&call{in: in, node: n, inputs: inputs})
	}
	for i, name := range n.Outputs {
		var s Shaped
		if i < len(outputs) {
			s = outputs[i]
		}
		if _, ok := product(s.Shape); !ok {
			s.Known, s.Shape, s.Value = false, nil, nil
		}
		if v, ok := in.stated[name]; ok {
			s = in.merge(s, v)
		}
		s.Constant = constant && !random[n.Op]
		in.tensors[name] = s
	}
}

var random = map[string]bool{"RandomNormal": true, "RandomUniform": true, "RandomNormalLike": true, "RandomUniformLike": true, "Multinomial": true, "Bernoulli": true}

// merge fills what a rule left open with what the file states.
func (in *inference) merge(s Shaped, v Value) Shaped {
	if s.Type == 0 {
		s.Type = v.Type
	}
	if !s.Known && v.Known {
		was := in.dynamic
		s.Known, s.Shape = true, in.resolve(v).Shape
		in.dynamic = was
	}
	return s
}
