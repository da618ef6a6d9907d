package native

import (
	"fmt"
	"io"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// inner is a body of control flow, as a session of its own. What it takes from the
// graphs around comes with the inputs of the node that holds it.
type inner struct {
	*Session
	formal   []string // its inputs
	captured []string // what it takes from around
}

// body prepares a graph inside a node.
func (s *Session) body(b *onnx.Body, a *onnx.Analysis, file io.ReaderAt) (*inner, error) {
	own := &inner{Session: &Session{weights: map[string]array{}, inputs: map[string]input{}, clock: s.clock, processor: s.processor, constants: map[string]bool{}}}
	here := map[string]bool{"": true}
	for i := range b.Graph.Initializers {
		t := &b.Graph.Initializers[i]
		here[t.Name] = true
		if err := own.weight(t, file); err != nil {
			return nil, err
		}
	}
	for _, v := range b.Graph.Inputs {
		here[v.Name] = true
		own.formal, own.inputs[v.Name] = append(own.formal, v.Name), input{}
	}
	capture := func(name string) {
		if !here[name] {
			here[name] = true
			own.captured, own.inputs[name] = append(own.captured, name), input{}
		}
	}
	for _, cost := range b.Costs {
		n := &b.Graph.Nodes[cost.Node]
		if err := own.prepare(n, cost, a, file); err != nil {
			return nil, err
		}
		for _, name := range own.last().needs(n) {
			capture(name)
		}
		for _, name := range n.Outputs {
			here[name] = true
		}
	}
	for _, v := range b.Graph.Outputs {
		capture(v.Name)
		own.outputs = append(own.outputs, v.Name)
	}
	own.plan()
	return own, nil
}

// last is the step that was prepared last; nil before the first.
func (s *Session) last() *step {
	if len(s.steps) == 0 {
		return nil
	}
	return &s.steps[len(s.steps)-1]
}

// needs are the tensors that a node takes, and those that its bodies take, where it
// is this step; a node that is no step takes none.
func (st *step) needs(n *onnx.Node) []string {
	if st == nil || len(n.Outputs) == 0 || !slices.Equal(st.outputs, n.Outputs) {
		return nil
	}
	return st.inputs
}

// run computes the body. The results are the pool's: they are copied on.
func (b *inner) run(formal []array, captured []array) []array {
	live := map[string]array{}
	for i, name := range b.formal {
		if i < len(formal) {
			live[name] = formal[i]
		}
	}
	for i, name := range b.captured {
		live[name] = captured[i]
	}
	b.times = b.times[:0]
	for i := range b.steps {
		b.step(&b.steps[i], live)
	}
	out := make([]array, len(b.outputs))
	for i, name := range b.outputs {
		a, ok := live[name]
		if !ok {
			a = b.weights[name]
		}
		out[i] = a
	}
	return out
}

// hand copies a result, which has to have the shape that the model was prepared
// for.
func hand(to array, from array) {
	if to.data == nil {
		return
	}
	if !slices.Equal(to.shape, from.shape) {
		panic(fmt.Sprintf("a result of shape %v, the model was prepared for %v", from.shape, to.shape))
	}
	copy(to.data, from.data)
}

// control prepares a node with bodies: what these take from around follows the
// node's own inputs.
func (s *Session) control(st *step, n *onnx.Node, cost onnx.Cost, a *onnx.Analysis, file io.ReaderAt) error {
	var bodies []*inner
	own := len(st.inputs)
	for i := range cost.Bodies {
		b, err := s.body(&cost.Bodies[i], a, file)
		if err != nil {
			return err
		}
		bodies = append(bodies, b)
		st.inputs = append(st.inputs, b.captured...)
	}
	if len(bodies) == 0 {
		return unsupported("a body that lies too deep")
	}
	var err error
	switch n.Op {
	case "If":
		st.kernel = branch(bodies, cost.Bodies[0].Condition, own)
	case "Loop":
		st.kernel = loop(bodies[0], own)
	default:
		st.kernel, err = scan(bodies[0], n, own)
	}
	return err
}

// branch runs one body or the other; one alone is the one that is always taken.
func branch(bodies []*inner, first bool, own int) kernel {
	return func(in, out []array, _ *scratch) {
		b, captured := bodies[0], in[own:]
		if len(bodies) == 2 && (in[0].data[0] != 0) != first {
			b, captured = bodies[1], captured[len(b.captured):]
		}
		for i, a := range b.run(nil, captured) {
			hand(out[i], a)
		}
	}
}

// repeated runs a body as often as next gives it inputs, with what the last run gave.
// What it carries keeps its shape, and follows the first of its results; the others
// are stacked.
func (b *inner) repeated(out, carried, captured []array, first int, next func(trip int, carried, last []array) []array) {
	collected := make([]int, len(out))
	trip, results := 0, []array(nil)
	for formal := next(0, carried, nil); formal != nil; formal = next(trip, carried, results) {
		results = b.run(formal, captured)
		after := make([]array, len(carried))
		for i := range carried {
			after[i] = array{carried[i].shape, make([]float32, len(carried[i].data))}
			hand(after[i], results[first+i])
		}
		carried = after
		for i := len(carried); i < len(out); i++ {
			collected[i] += stack(out[i], collected[i], results[first+i])
		}
		trip++
	}
	for i := range out {
		if i < len(carried) {
			hand(out[i], carried[i])
		} else if collected[i] != len(out[i].data) {
			panic(fmt.Sprintf("%d trips, the model was prepared for shape %v", trip, out[i].shape))
		}
	}
}

// stack adds a slice to what was collected before.
func stack(to array, at int, slice array) int {
	if to.data == nil {
		return 0
	}
	if at+len(slice.data) > len(to.data) {
		panic(fmt.Sprintf("more results than shape %v holds, which the model was prepared for", to.shape))
	}
	return copy(to.data[at:], slice.data)
}

// loop runs a body while its condition holds, at most as often as its first input
// says.
func loop(b *inner, own int) kernel {
	return func(in, out []array, _ *scratch) {
		most, condition := -1, array{data: []float32{1}}
		if len(in[0].data) > 0 {
			most = int(in[0].data[0])
		}
		if len(in[1].data) > 0 {
			condition = in[1]
		}
		b.repeated(out, in[2:own], in[own:], 1, func(trip int, carried, last []array) []array {
			if last != nil {
				condition = array{last[0].shape, slices.Clone(last[0].data)}
			}
			if trip == most || condition.data[0] == 0 {
				return nil
			}
			return append([]array{{[]int{}, []float32{float32(trip)}}, condition}, carried...)
		})
	}
}

// scan runs a body for each slice along the first axis of its last inputs.
func scan(b *inner, n *onnx.Node, own int) (kernel, error) {
	for _, name := range []string{"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"} {
		if slices.ContainsFunc(n.Ints(name), func(v int64) bool { return v != 0 }) {
			return nil, unsupported("%s %v", name, n.Ints(name))
		}
	}
	states := own - int(n.Int("num_scan_inputs", 1))
	if states < 0 {
		return nil, unsupported("%d inputs to scan of %d", own-states, own)
	}
	return func(in, out []array, _ *scratch) {
		b.repeated(out, in[:states], in[own:], 0, func(trip int, carried, _ []array) []array {
			if trip == in[states].shape[0] {
				return nil
			}
			formal := slices.Clone(carried)
			for _, a := range in[states:own] {
				size := volume(a.shape[1:])
				formal = append(formal, array{a.shape[1:], a.data[trip*size:][:size]})
			}
			return formal
		})
	}, nil
}
