package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Warnings about control flow.
var (
	// ErrBranch warns that an input decides which branch runs.
	ErrBranch = errors.New("branches")
	// ErrTrips warns of a loop whose number of trips the file does not say; one
	// is counted.
	ErrTrips = errors.New("unknown number of iterations")
)

// tripsSuffix follows the name of a loop in the setting of its number of trips.
const tripsSuffix = ":trips"

// deepestBody is the deepest nesting of bodies.
const deepestBody = 32

// body holds the results and costs of control flow.
type body struct {
	outputs  []TensorInfo
	costs    []Cost // of one trip
	times    int64
	branches [][]Cost // see [Cost]
	constant bool     // its value depends on no input
}

// sum adds a quantity over all costs of one trip.
func (b *body) sum(of func(c *Cost) int64) int64 {
	sum := int64(0)
	for i := range b.costs {
		b.costs[i].walk(1, func(c *Cost, times int64) { sum = addCounts(sum, multiplyCounts(of(c), times)) })
	}
	return sum
}

func (b *body) macs() int64 { return b.sum(func(c *Cost) int64 { return c.MACs }) }

func (b *body) bytes() int64 { return b.sum(func(c *Cost) int64 { return c.Bytes() }) }

func controls(n *Node) bool {
	return n.standard() && (n.Op == "If" || n.Op == "Loop" || n.Op == "Scan")
}

// control infers the bodies of a node.
func (in *inference) control(n *Node, inputs []TensorInfo) (*body, error) {
	if in.depth >= deepestBody || n.Op == "Scan" && in.opset < 9 && in.opset > 0 { // which had other inputs
		in.bodies++
		return &body{times: 1}, nil
	}
	in.depth++
	defer func() { in.depth-- }()
	switch n.Op {
	case "If":
		return in.branch(n, inputs)
	case "Loop":
		return in.loop(n, inputs)
	}
	return in.scan(n, inputs)
}

// graph returns an attribute's only graph, or nil.
func (n *Node) graph(name string) *Graph {
	if a := n.Attribute(name); a != nil && len(a.Graphs) == 1 {
		return &a.Graphs[0]
	}
	return nil
}

// inside infers a body whose inputs are known.
func (in *inference) inside(g *Graph, inputs []TensorInfo) (*body, error) {
	inner := &inference{common: in.common, outer: in}
	inner.prepare(g)
	for i, v := range g.Inputs {
		s := TensorInfo{}
		if i < len(inputs) {
			s = inputs[i]
		}
		if s.Type == 0 {
			s.Type = v.Type
		}
		if !s.Known && v.Known {
			s.Shape, s.Known = in.dims.statedShape(v.Shape)
		}
		if !s.Known && !s.sequence() && (v.Element != nil || v.Optional != nil) {
			s = in.statedTensor(v)
		}
		inner.tensors[v.Name] = s
	}
	if err := inner.walk(g); err != nil {
		return nil, err
	}
	b := &body{costs: inner.costs, times: 1, constant: true}
	for _, v := range g.Outputs {
		s := inner.lookup(v.Name)
		b.outputs, b.constant = append(b.outputs, s), b.constant && s.Constant
		in.ends = append(in.ends, v.Name)
	}
	return b, nil
}

// branch takes the branch that a condition known ahead takes, or the dearer one.
func (in *inference) branch(n *Node, inputs []TensorInfo) (*body, error) {
	var both [2]*body
	var wrong error
	for i, name := range []string{"else_branch", "then_branch"} {
		g := n.graph(name)
		if g == nil {
			return nil, fmt.Errorf("%w: If %q without %s", ErrGraph, n.Name, name)
		}
		if len(inputs) > 0 && len(inputs[0].Value) == 1 && (inputs[0].Value[0] != 0) != (i == 1) {
			continue // never taken
		}
		var err error
		if both[i], err = in.inside(g, nil); errors.Is(err, ErrSize) {
			wrong = err // it cannot be the one that is taken
		} else if err != nil {
			return nil, err
		}
	}
	otherwise, then := both[0], both[1]
	switch {
	case then == nil && otherwise == nil:
		return nil, wrong
	case then == nil:
		return otherwise, nil
	case otherwise == nil:
		return then, nil
	}
	in.doubts = append(in.doubts, fmt.Errorf("%w: If %q: the more expensive branch is counted; then: %d multiply-accumulates and %d bytes, else: %d and %d",
		ErrBranch, n.Name, then.macs(), then.bytes(), otherwise.macs(), otherwise.bytes()))
	dearer := then
	if m, o := then.macs(), otherwise.macs(); o > m || o == m && otherwise.bytes() > then.bytes() {
		dearer = otherwise
	}
	dearer.constant = false
	dearer.branches = [][]Cost{then.costs, otherwise.costs}
	for i := range dearer.outputs {
		dearer.outputs[i].Value, dearer.outputs[i].Real = nil, nil
	}
	return dearer, nil
}

// withoutValues returns the tensor as one of which the file does not say the values.
func (s TensorInfo) withoutValues() TensorInfo {
	s.Value = nil
	s.Real = nil
	s.Constant = false
	return s
}

// loop runs a body as often as the file or the settings say. Values that it
// carries and that change their shape on the way are not known.
func (in *inference) loop(n *Node, inputs []TensorInfo) (*body, error) {
	g := n.graph("body")
	if g == nil || len(g.Inputs) < 2 || len(inputs) < 2 {
		return nil, fmt.Errorf("%w: Loop %q without a body", ErrGraph, n.Name)
	}
	carried := make([]TensorInfo, len(inputs))
	for i, s := range inputs {
		carried[i] = s.withoutValues()
	}
	carried[0], carried[1] = TensorInfo{Type: Int64, Known: true, Shape: []int64{}}, TensorInfo{Type: Bool, Known: true, Shape: []int64{}}
	b, err := in.inside(g, carried)
	if err != nil {
		return nil, err
	}
	var sure bool
	b.times, sure = in.trips(n, inputs, g)
	var out []TensorInfo
	for i, s := range b.outputs[min(1, len(b.outputs)):] {
		s.Value, s.Real = nil, nil
		if s.List != nil { // each iteration may have made it longer
			s = TensorInfo{Element: commonElement(s.List)}
		}
		if i >= len(inputs)-2 && s.Known { // gathered over the trips
			s.Shape = append([]int64{b.times}, s.Shape...)
			s.Known = sure
			if !sure {
				s.Shape = nil
			}
		}
		out = append(out, s)
	}
	b.outputs, b.constant = out, false
	return b, nil
}

// trips returns the number of iterations of a loop: the settings', or what its condition and
// the count say; false if it may end after another number.
func (in *inference) trips(n *Node, inputs []TensorInfo, g *Graph) (int64, bool) {
	key := n.Name + tripsSuffix
	if given, ok := in.dims.sizes[key]; ok {
		in.dims.used[key] = true
		return given, true
	}
	most := int64(math.MaxInt64)
	if v := inputs[0].Value; len(v) == 1 && v[0] >= 0 {
		most = v[0]
	}
	part := conditionOf(g)
	if part != nil {
		if trips, ok := in.countTrips(g, part, inputs, min(most, mostTrips)); ok {
			return trips, true
		}
	}
	if most < math.MaxInt32 && part != nil && !slices.ContainsFunc(part.Nodes, func(n Node) bool { return n.Op != "Constant" && n.Op != "Identity" }) {
		return most, true // the condition never changes
	}
	if most < math.MaxInt32 {
		in.doubts = append(in.doubts, fmt.Errorf("%w: Loop %q may end early; all %d iterations are counted", ErrTrips, n.Name, most))
		return most, false
	}
	in.doubts = append(in.doubts, fmt.Errorf("%w: Loop %q: one iteration is counted; set %s=NUMBER", ErrTrips, n.Name, key))
	return 1, false
}

// Limits of computing the conditions of loops: iterations, nodes of a condition, and nodes that
// are computed in a model.
const (
	mostTrips          = 5000
	mostConditionNodes = 24
	mostComputed       = 100_000
)

// countTrips computes the part of a loop's body that is its condition, with the values that it carries from one
// iteration to the next, until it is false: exporters of while loops count in it. It is not ok
// if the condition depends on anything that the file does not say.
func (in *inference) countTrips(g, part *Graph, inputs []TensorInfo, most int64) (trips int64, ok bool) {
	if v := inputs[1].Value; len(v) == 1 && v[0] == 0 {
		return 0, true
	}
	scratch := *in.common // what is noted about these nodes is noted when the body is inferred
	scratch.custom = map[string]int{}
	scratch.unshaped = map[string]int{}
	state := slices.Clone(inputs)
	state[1] = TensorInfo{Type: Bool, Known: true, Shape: []int64{}, Value: []int64{1}}
	for trips = 1; trips <= most; trips++ {
		state[0] = TensorInfo{Type: Int64, Known: true, Shape: []int64{}, Value: []int64{trips - 1}}
		in.computed += len(part.Nodes)
		if in.computed > mostComputed {
			return 0, false
		}
		inner := &inference{common: &scratch, outer: in}
		inner.prepare(part)
		for i, v := range g.Inputs[:min(len(g.Inputs), len(state))] {
			inner.tensors[v.Name] = state[i]
		}
		if inner.walk(part) != nil {
			return 0, false
		}
		condition := inner.lookup(g.Outputs[0].Name)
		if len(condition.Value) != 1 {
			return 0, false
		}
		if condition.Value[0] == 0 {
			return trips, true
		}
		for i := 2; i < len(state) && i-1 < len(g.Outputs); i++ {
			state[i] = inner.lookup(g.Outputs[i-1].Name)
		}
	}
	return most, most < mostTrips
}

// conditionOf returns the part of a loop's body that its condition depends on, from one
// iteration to the next; nil if it is large or contains control flow.
func conditionOf(g *Graph) *Graph {
	if len(g.Outputs) == 0 {
		return nil
	}
	needed := map[string]bool{g.Outputs[0].Name: true}
	chosen := map[int]bool{}
	for grown := true; grown; {
		grown = false
		for i := 2; i < len(g.Inputs) && i-1 < len(g.Outputs); i++ {
			if update := g.Outputs[i-1].Name; needed[g.Inputs[i].Name] && !needed[update] {
				needed[update] = true
				grown = true
			}
		}
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if chosen[i] || !slices.ContainsFunc(n.Outputs, func(name string) bool { return needed[name] }) {
				continue
			}
			if controls(n) || len(chosen) == mostConditionNodes {
				return nil
			}
			chosen[i] = true
			grown = true
			for _, name := range n.Inputs {
				needed[name] = needed[name] || name != ""
			}
		}
	}
	part := &Graph{Name: g.Name}
	for i := range g.Nodes {
		if chosen[i] {
			part.Nodes = append(part.Nodes, g.Nodes[i])
		}
	}
	for _, t := range g.Initializers {
		if needed[t.Name] {
			part.Initializers = append(part.Initializers, t)
		}
	}
	return part
}

// scan runs a body once for each slice of its last inputs.
func (in *inference) scan(n *Node, inputs []TensorInfo) (*body, error) {
	g, scanned := n.graph("body"), int(n.Int("num_scan_inputs", 0))
	if g == nil || scanned < 1 || scanned > len(inputs) {
		return nil, fmt.Errorf("%w: Scan %q without a body or inputs to scan", ErrGraph, n.Name)
	}
	axes := n.Ints("scan_input_axes")
	states := len(inputs) - scanned
	trips := int64(-1)
	carried := make([]TensorInfo, len(inputs))
	for i, s := range inputs {
		s = s.withoutValues()
		if i >= states && s.Known {
			a := int64(0)
			if i-states < len(axes) {
				a = axes[i-states]
			}
			if at, ok := axis(a, len(s.Shape)); ok {
				trips = s.Shape[at]
				s.Shape = append(append([]int64{}, s.Shape[:at]...), s.Shape[at+1:]...)
			} else {
				s.Known = false
			}
		}
		carried[i] = s
	}
	b, err := in.inside(g, carried)
	if err != nil {
		return nil, err
	}
	b.times = trips
	if trips < 0 {
		b.times = 1
		in.doubts = append(in.doubts, fmt.Errorf("%w: Scan %q: one iteration is counted", ErrTrips, n.Name))
	}
	for i := range b.outputs {
		s := &b.outputs[i]
		s.Value, s.Real = nil, nil
		if i >= states && s.Known {
			s.Shape = append([]int64{b.times}, s.Shape...)
		}
	}
	b.constant = false
	return b, nil
}
