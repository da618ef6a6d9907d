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

// mostInlined bounds what functions may come to, in nodes with their tensors and
// attributes: those that call each other double with each level.
const mostInlined = 1 << 20

// inlined returns the model with the nodes of its functions in place of their calls. The
// error matches [ErrGraph] for functions that call themselves, and [ErrLimit].
func inlined(m *Model) (*Model, error) {
	if len(m.Functions) == 0 {
		return m, nil
	}
	whole := *m
	var err error
	whole.Graph.Nodes, err = newInliner(m).nodes(m.Graph.Nodes, nil)
	return &whole, err
}

func newInliner(m *Model) *inliner {
	in := &inliner{functions: map[string]*Function{}}
	for i := range m.Functions {
		f := &m.Functions[i]
		in.functions[(&Node{Op: f.Name, Domain: f.Domain}).operator()] = f
	}
	return in
}

// inliner replaces calls of functions.
type inliner struct {
	functions map[string]*Function
	calls     int
	count     int // nodes, tensors and attributes so far
}

// nodes inlines a list of nodes. Open are the functions that are being inlined.
func (in *inliner) nodes(list []Node, open []string) ([]Node, error) {
	out := make([]Node, 0, len(list))
	for i := range list {
		n := list[i]
		if in.count += 1 + len(n.Inputs) + len(n.Outputs) + len(n.Attributes); in.count > mostInlined {
			return nil, fmt.Errorf("%w: its functions come to more than %d nodes, tensors and attributes", ErrLimit, mostInlined)
		}
		f := in.functions[n.operator()]
		if f == nil {
			attributes, err := in.bodies(n.Attributes, open)
			if err != nil {
				return nil, err
			}
			n.Attributes = attributes
			out = append(out, n)
			continue
		}
		if slices.Contains(open, n.operator()) {
			return nil, fmt.Errorf("%w: function %s calls itself", ErrGraph, n.operator())
		}
		inside, err := in.nodes(in.inlineCall(f, &n), append(slices.Clip(open), n.operator()))
		if err != nil {
			return nil, err
		}
		out = append(out, inside...)
	}
	return out, nil
}

// bodies inlines the graphs in attributes.
func (in *inliner) bodies(attributes []Attribute, open []string) ([]Attribute, error) {
	if !slices.ContainsFunc(attributes, func(a Attribute) bool { return len(a.Graphs) > 0 }) {
		return attributes, nil
	}
	attributes = slices.Clone(attributes)
	for i := range attributes {
		graphs := slices.Clone(attributes[i].Graphs)
		for k := range graphs {
			var err error
			if graphs[k].Nodes, err = in.nodes(graphs[k].Nodes, open); err != nil {
				return nil, err
			}
		}
		attributes[i].Graphs = graphs
	}
	return attributes, nil
}

// inlineCall returns a function's nodes for one call: with the tensors and attributes of the
// call, and names of their own for all others.
func (in *inliner) inlineCall(f *Function, call *Node) []Node {
	in.calls++
	prefix := fmt.Sprintf("%s/%d/", f.Name, in.calls)
	names := map[string]string{"": ""}
	for i, name := range f.Inputs {
		if names[name] = ""; i < len(call.Inputs) {
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
	g.Inputs, g.Outputs, g.Values = value(g.Inputs), value(g.Outputs), value(g.Values)
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
			err = c.keep(16)
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
