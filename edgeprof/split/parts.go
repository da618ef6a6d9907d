package split

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/foretime/foretime/edgeprof/onnx"
)

// Returned when a model is not split.
var (
	// ErrNoBridge is returned when nothing computed is ever carried by one
	// tensor alone, or not far enough from the beginning.
	ErrNoBridge = errors.New("no bridge to split at")
	// ErrUnsupported is returned for a model with something that a part could
	// not carry over unchanged.
	ErrUnsupported = errors.New("cannot be split")
	// ErrTooMany is returned for more parts than may be.
	ErrTooMany = errors.New("too many parts")
)

// Settings decide where to cut. The zero value cuts at every bridge.
type Settings struct {
	// MinDistance is the least number of operators between the beginning and
	// the first cut and between two cuts. The last part may have fewer.
	MinDistance int
	// MaxParts bounds the number of parts; 0 for no bound.
	MaxParts int
}

// Part is a model of its own: some operators of the whole, in their order.
type Part struct {
	Model *onnx.Model
	// Input is the tensor from the part before; "" for the first part.
	Input string
	// Operators are the nodes of the whole, but for those that make constants.
	Operators []int
	// ParameterBytes is the size of the part's weights.
	ParameterBytes int64
	// MACs are the part's multiply-accumulates of one inference.
	MACs int64
	// BridgeBytes is the size of Input, or -1 when it is not known.
	BridgeBytes int64
}

// Parts splits a model. Operators that no output depends on are left out. The
// error matches [ErrNoBridge], [ErrTooMany] or [ErrUnsupported].
func Parts(a *onnx.Analysis, s Settings) ([]Part, error) {
	if err := carriable(&a.Model.Graph, a.Model.Functions, true); err != nil {
		return nil, err
	}
	f := newFlow(a)
	bridges := f.bridges()
	var cuts []Bridge
	last := 0
	for _, b := range bridges {
		if b.After-last >= max(1, s.MinDistance) {
			cuts = append(cuts, b)
			last = b.After
		}
	}
	if len(cuts) == 0 {
		if len(bridges) > 0 {
			return nil, fmt.Errorf("%w: none after %d or more operators, %d before that", ErrNoBridge, s.MinDistance, len(bridges))
		}
		return nil, fmt.Errorf("%w: %d operators", ErrNoBridge, len(f.order))
	}
	if s.MaxParts > 0 && len(cuts) >= s.MaxParts {
		return nil, fmt.Errorf("%w: %d, at most %d; ask for a greater distance than %d", ErrTooMany, len(cuts)+1, s.MaxParts, s.MinDistance)
	}
	var parts []Part
	from, input := 0, ""
	for _, cut := range append(cuts, Bridge{"", len(f.order)}) {
		parts = append(parts, f.part(len(parts)+1, f.order[from:cut.After], input, cut.Tensor))
		from, input = cut.After, cut.Tensor
	}
	return parts, nil
}

// part builds the model of some operators, between two bridges.
func (f *flow) part(number int, operators []int, input, output string) Part {
	whole := f.analysis.Model
	p := Part{Input: input, Operators: operators, BridgeBytes: -1}
	p.Model = &onnx.Model{IRVersion: whole.IRVersion, Producer: whole.Producer, Opsets: whole.Opsets}
	g := &p.Model.Graph
	g.Name = fmt.Sprintf("%s part %d", whole.Graph.Name, number)
	var extra []string // constants that the model gives out, in the last part
	if output == "" {
		for _, v := range whole.Graph.Outputs {
			extra = append(extra, v.Name)
		}
	}
	made, needed := map[string]bool{}, map[string]bool{}
	for _, i := range append(f.constants(operators, extra), operators...) {
		n := whole.Graph.Nodes[i]
		g.Nodes = append(g.Nodes, n)
		for _, name := range n.Outputs {
			made[name] = true
			if v, ok := f.stated[name]; ok && name != output && !f.given(name) {
				g.Values = append(g.Values, v)
			}
		}
		for _, name := range n.Needs() {
			needed[name] = true
		}
		p.MACs += f.macs[i]
	}
	for _, i := range f.initializers(needed, extra) {
		t := whole.Graph.Initializers[i]
		g.Initializers = append(g.Initializers, t)
		p.ParameterBytes += f.analysis.Tensors[t.Name].Bytes()
		made[t.Name] = true
	}
	if input != "" {
		g.Inputs = append(g.Inputs, f.value(input))
		p.BridgeBytes = f.analysis.Tensors[input].Bytes()
	}
	for _, v := range whole.Graph.Inputs {
		// before IR version 4 weights are inputs too (ONNX, IR.md)
		if _, weight := f.weights[v.Name]; needed[v.Name] && (!weight || whole.IRVersion < 4) {
			g.Inputs = append(g.Inputs, v)
		}
	}
	if output != "" {
		g.Outputs = append(g.Outputs, f.value(output))
	}
	for _, v := range whole.Graph.Outputs {
		if made[v.Name] && v.Name != output && (output == "" || !f.constant(v.Name)) {
			g.Outputs = append(g.Outputs, v)
		}
	}
	return p
}

// given reports an output of the whole.
func (f *flow) given(name string) bool {
	return slices.ContainsFunc(f.analysis.Model.Graph.Outputs, func(v onnx.Value) bool { return v.Name == name })
}

// constant reports a weight or what is made of weights alone.
func (f *flow) constant(name string) bool {
	_, weight := f.weights[name]
	_, folded := f.folded[name]
	return weight || folded
}

// initializers are the weights that are needed, in the file's order.
func (f *flow) initializers(needed map[string]bool, extra []string) []int {
	var list []int
	for name := range needed {
		if i, ok := f.weights[name]; ok {
			list = append(list, i)
		}
	}
	for _, name := range extra {
		if i, ok := f.weights[name]; ok && !needed[name] {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return list
}

// constants are the nodes that make constants which the operators need, or the
// extra ones, in the analysis's order.
func (f *flow) constants(operators []int, extra []string) []int {
	wanted := map[int]bool{}
	var list []int
	want := func(names []string) {
		for _, name := range names {
			if m, made := f.folded[name]; made && name != "" && !wanted[m] {
				wanted[m] = true
				list = append(list, m)
			}
		}
	}
	want(extra)
	for _, i := range operators {
		want(f.analysis.Model.Graph.Nodes[i].Needs())
	}
	for at := 0; at < len(list); at++ {
		want(f.analysis.Model.Graph.Nodes[list[at]].Needs())
	}
	slices.SortFunc(list, func(x, y int) int { return f.rank[x] - f.rank[y] })
	return list
}

// value declares a bridge: as the file does, or by what follows from it. Of a
// model with open dimensions only the number of dimensions is sure.
func (f *flow) value(name string) onnx.Value {
	if v, ok := f.stated[name]; ok && v.Type != 0 && v.Known {
		return v
	}
	s := f.analysis.Tensors[name]
	v := onnx.Value{Name: name, Type: s.Type, Known: s.Known}
	for _, size := range s.Shape {
		if f.analysis.Dynamic {
			size = -1
		}
		v.Shape = append(v.Shape, onnx.Dim{Size: size})
	}
	return v
}

// carriable reports what [onnx.Write] would lose of a graph, whose weights may
// be in the file or have to be in memory.
func carriable(g *onnx.Graph, functions int, inFile bool) error {
	if functions > 0 {
		return fmt.Errorf("%w: it has functions of its own", ErrUnsupported)
	}
	if g.Sparse > 0 {
		return fmt.Errorf("%w: it has sparse weights", ErrUnsupported)
	}
	for i := range g.Initializers {
		if err := whole(&g.Initializers[i], inFile); err != nil {
			return err
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for k := range n.Attributes {
			if err := attribute(&n.Attributes[k]); err != nil {
				return fmt.Errorf("node %d (%s): attribute %q: %w", i, n.Op, n.Attributes[k].Name, err)
			}
		}
	}
	return nil
}

func attribute(a *onnx.Attribute) error {
	switch a.Kind {
	case onnx.KindFloat, onnx.KindInt, onnx.KindString, onnx.KindFloats, onnx.KindInts:
	case onnx.KindTensor:
		if a.Tensor == nil {
			return fmt.Errorf("%w: no tensor", ErrUnsupported)
		}
		return whole(a.Tensor, false)
	case onnx.KindGraph, onnx.KindGraphs:
		for i := range a.Graphs {
			if err := carriable(&a.Graphs[i], 0, false); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%w: of kind %d", ErrUnsupported, a.Kind)
	}
	return nil
}

// whole reports a tensor whose data is not at hand: in memory or, where it may
// be, in one piece of the file.
func whole(t *onnx.Tensor, inFile bool) error {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d
	}
	size := (n*t.Type.Bits() + 7) / 8
	switch {
	case t.External:
		return fmt.Errorf("%w: tensor %q lies in another file", ErrUnsupported, t.Name)
	case t.Type.Bits() == 0:
		return fmt.Errorf("%w: tensor %q is of %v", ErrUnsupported, t.Name, t.Type)
	case t.Data != nil && int64(len(t.Data)) == size, size == 0, inFile && t.Data == nil && t.Offset > 0 && t.Stored == size:
		return nil
	}
	return fmt.Errorf("%w: tensor %q of %v is not stored as %d raw bytes", ErrUnsupported, t.Name, t.Type, size)
}

// Write writes the part as an .onnx file; weights are copied from the file of
// the whole and never held.
func (p Part) Write(w io.Writer, file io.ReaderAt) error {
	return onnx.Write(w, p.Model, func(w io.Writer, t *onnx.Tensor) error {
		_, err := io.Copy(w, io.NewSectionReader(file, t.Offset, t.Stored))
		return err
	})
}
