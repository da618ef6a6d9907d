package onnx

import (
	"fmt"
	"slices"
)

// Function is an operator that the model itself defines, as the exporter of PyTorch
// writes its modules.
type Function struct {
	Name, Domain string
	Inputs       []string
	Outputs      []string
	Nodes        []Node
	Defaults     []Attribute // attributes with their values where a node gives none
}

// inlineFunctions returns the model with the nodes of its functions in place of their calls.
// The error matches [ErrGraph] for functions that call themselves, and [ErrLimit].
func inlineFunctions(m *Model) (*Model, error) {
	if len(m.Functions) == 0 {
		return m, nil
	}
	in, err := newInliner(m, mostKept)
	if err != nil {
		return nil, err
	}
	whole := *m
	whole.Graph.Nodes = in.nodes(m.Graph.Nodes)
	return &whole, nil
}

// newInliner counts the bytes of the model without calls before any is replaced: functions
// that call each other double with each level. The error matches [ErrGraph] or [ErrLimit].
func newInliner(m *Model, most int64) (*inliner, error) {
	in := &inliner{functions: map[string]*Function{}}
	for i := range m.Functions {
		f := &m.Functions[i]
		in.functions[(&Node{Op: f.Name, Domain: f.Domain}).operator()] = f
	}
	count := callCounter{functions: in.functions, bytes: map[string]int64{}, most: most}
	_, err := count.nodes(m.Graph.Nodes, 0)
	return in, err
}

// callCounter counts the bytes of graphs with functions in place of their calls, as the reader
// counts those of a file.
type callCounter struct {
	functions map[string]*Function
	bytes     map[string]int64 // of each function; -1 while it is being counted
	most      int64
}

// nodes counts a list of nodes whose tensors get a prefix of so many bytes.
func (c *callCounter) nodes(list []Node, prefix int64) (int64, error) {
	total := int64(0)
	for i := range list {
		n := &list[i]
		total += keptElement + prefix
		for _, names := range [][]string{n.Inputs, n.Outputs} {
			for _, name := range names {
				total += keptName + prefix + int64(len(name))
			}
		}
		for _, a := range n.Attributes {
			total += keptElement
			for _, g := range a.Graphs {
				inner, err := c.nodes(g.Nodes, prefix)
				if err != nil {
					return 0, err
				}
				total += inner + (keptElement+prefix)*int64(1+len(g.Inputs)+len(g.Outputs)+len(g.Values)+len(g.Initializers))
			}
		}
		inner, err := c.call(n)
		if err != nil {
			return 0, err
		}
		if total += inner; total > c.most {
			return 0, fmt.Errorf("%w: with its functions in place of their calls it has more than %d bytes", ErrLimit, c.most)
		}
	}
	return total, nil
}

// call counts the nodes of the function that a node calls; 0 if it calls none.
func (c *callCounter) call(n *Node) (int64, error) {
	f := c.functions[n.operator()]
	if f == nil {
		return 0, nil
	}
	bytes, counted := c.bytes[n.operator()]
	if bytes < 0 {
		return 0, fmt.Errorf("%w: function %s calls itself", ErrGraph, n.operator())
	}
	if counted {
		return bytes, nil
	}
	c.bytes[n.operator()] = -1
	bytes, err := c.nodes(f.Nodes, int64(len(f.Name)+longestNumber))
	c.bytes[n.operator()] = bytes
	return bytes, err
}

// longestNumber is the greatest length of a call's number and the signs around it.
const longestNumber = 12

// inliner replaces calls of functions.
type inliner struct {
	functions map[string]*Function
	calls     int
}

// nodes inlines a list of nodes.
func (in *inliner) nodes(list []Node) []Node {
	out := make([]Node, 0, len(list))
	for _, n := range list {
		if f := in.functions[n.operator()]; f != nil {
			out = append(out, in.nodes(in.inlineCall(f, &n))...)
			continue
		}
		n.Attributes = in.bodies(n.Attributes)
		out = append(out, n)
	}
	return out
}

// bodies inlines the graphs in attributes.
func (in *inliner) bodies(attributes []Attribute) []Attribute {
	if !slices.ContainsFunc(attributes, func(a Attribute) bool { return len(a.Graphs) > 0 }) {
		return attributes
	}
	attributes = slices.Clone(attributes)
	for i := range attributes {
		graphs := slices.Clone(attributes[i].Graphs)
		for k := range graphs {
			graphs[k].Nodes = in.nodes(graphs[k].Nodes)
		}
		attributes[i].Graphs = graphs
	}
	return attributes
}

// inlineCall returns a function's nodes for one call: with the tensors and attributes of the
// call, and names of their own for all others.
func (in *inliner) inlineCall(f *Function, call *Node) []Node {
	in.calls++
	prefix := fmt.Sprintf("%s/%d/", f.Name, in.calls)
	names := map[string]string{"": ""}
	for i, name := range f.Inputs {
		names[name] = ""
		if i < len(call.Inputs) {
			names[name] = call.Inputs[i]
		}
	}
	for i, name := range f.Outputs {
		if i < len(call.Outputs) && call.Outputs[i] != "" {
			names[name] = call.Outputs[i]
		}
	}
	s := scope{prefix: prefix, names: names, values: map[string]*Attribute{}}
	for i := range f.Defaults {
		s.values[f.Defaults[i].Name] = &f.Defaults[i]
	}
	for i := range call.Attributes {
		s.values[call.Attributes[i].Name] = &call.Attributes[i]
	}
	return s.nodes(f.Nodes)
}

// scope renames the tensors of a function's call.
type scope struct {
	prefix string
	names  map[string]string
	values map[string]*Attribute // of the function's attributes
}

func (s *scope) rename(list []string) []string {
	out := make([]string, len(list))
	for i, name := range list {
		to, ok := s.names[name]
		if !ok {
			to = s.prefix + name
		}
		out[i] = to
	}
	return out
}

func (s *scope) nodes(list []Node) []Node {
	out := make([]Node, len(list))
	for i, n := range list {
		n.Inputs, n.Outputs = s.rename(n.Inputs), s.rename(n.Outputs)
		n.Name = s.prefix + n.Name
		var attributes []Attribute
		for _, a := range n.Attributes {
			if a.Reference != "" {
				value := s.values[a.Reference]
				if value == nil {
					continue // the call leaves it out
				}
				name := a.Name
				a = *value
				a.Name = name
			}
			graphs := slices.Clone(a.Graphs)
			for k := range graphs {
				graphs[k] = s.graph(graphs[k])
			}
			a.Graphs = graphs
			attributes = append(attributes, a)
		}
		n.Attributes = attributes
		out[i] = n
	}
	return out
}

// graph renames the tensors of a body; those of the function around it have the same
// names.
func (s *scope) graph(g Graph) Graph {
	value := func(list []Value) []Value {
		list = slices.Clone(list)
		for i := range list {
			list[i].Name = s.rename([]string{list[i].Name})[0]
		}
		return list
	}
	g.Inputs = value(g.Inputs)
	g.Outputs = value(g.Outputs)
	g.Values = value(g.Values)
	g.Initializers = slices.Clone(g.Initializers)
	for i := range g.Initializers {
		g.Initializers[i].Name = s.rename([]string{g.Initializers[i].Name})[0]
	}
	g.Nodes = s.nodes(g.Nodes)
	return g
}

// function reads a FunctionProto.
func (c *cursor) function(to *Function, f field) error {
	return c.inside("function", f, func(f field) (err error) {
		var name string
		switch f.number {
		case 1, 4, 5, 6, 10:
			if name, err = c.text(f); err != nil {
				return err
			}
		}
		switch f.number {
		case 1:
			to.Name = name
		case 4:
			to.Inputs = append(to.Inputs, name)
		case 5:
			to.Outputs = append(to.Outputs, name)
		case 7:
			to.Nodes, err = grown(c, to.Nodes, f, (*cursor).node)
		case 10:
			to.Domain = name
		case 11:
			to.Defaults, err = grown(c, to.Defaults, f, (*cursor).attribute)
		}
		return err
	})
}
