package split

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Returned when a model is not split.
var (
	// ErrNoBridge is returned when nothing computed is ever carried by one
	// tensor alone, or not far enough from the beginning.
	ErrNoBridge = errors.New("no bridge to split at")
	// ErrUnsupported is returned for a model with something that a part could
	// not carry over unchanged.
	ErrUnsupported = errors.New("the model cannot be split")
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
	// Carried are the tensors from the part before: none for the first part, one
	// at a bridge.
	Carried []string
	// Operators are the nodes of the whole, but for those that make constants.
	Operators []int
	// ParameterBytes is the size of the part's weights.
	ParameterBytes int64
	// MACs are the part's multiply-accumulates of one inference.
	MACs int64
	// CarriedBytes is their size, or -1 when it is not known.
	CarriedBytes int64
}

// Parts splits a model at its bridges; where there are none far enough from each
// other, at the places that the fewest tensors cross. Operators that no output
// depends on are left out. The error matches [ErrNoBridge], [ErrTooMany] or
// [ErrUnsupported].
func Parts(a *onnx.Analysis, s Settings) ([]Part, error) {
	if err := carriable(&a.Model.Graph, len(a.Model.Functions), true); err != nil {
		return nil, err
	}
	f := newFlow(a)
	all, undeclared := f.cuts()
	cuts := narrowest(all, max(1, s.MinDistance))
	switch {
	case len(cuts) == 0 && undeclared != "":
		return nil, fmt.Errorf("%w: the type and shape of tensor %q are unknown, so it cannot be passed between parts", ErrNoBridge, undeclared)
	case len(cuts) == 0 && len(f.order) > s.MinDistance+1:
		return nil, fmt.Errorf("%w: after %[3]d operators more than %[2]d tensors cross every possible cut", ErrNoBridge, widest, s.MinDistance)
	case len(cuts) == 0:
		return nil, fmt.Errorf("%w: the model has %d operators, a split needs more than %d", ErrNoBridge, len(f.order), max(1, s.MinDistance))
	case s.MaxParts > 0 && len(cuts) >= s.MaxParts:
		return nil, fmt.Errorf("%w: %d, at most %d; set a distance greater than %d", ErrTooMany, len(cuts)+1, s.MaxParts, s.MinDistance)
	}
	var parts []Part
	from := cut{}
	for _, to := range append(cuts, cut{nil, len(f.order)}) {
		parts = append(parts, f.part(len(parts)+1, f.order[from.after:to.after], from.tensors, to.tensors))
		from = to
	}
	return parts, nil
}

// narrowest are cuts some operators apart that no more tensors cross than need be.
func narrowest(all []cut, distance int) []cut {
	for width := 1; width <= widest; width++ {
		var cuts []cut
		last := 0
		for _, c := range all {
			if len(c.tensors) <= width && c.after-last >= distance {
				cuts = append(cuts, c)
				last = c.after
			}
		}
		if len(cuts) > 0 {
			return cuts
		}
	}
	return nil
}

// part builds the model of some operators, between two cuts; the last gives
// nothing on.
func (f *flow) part(number int, operators []int, inputs, outputs []string) Part {
	whole := f.analysis.Model
	last := outputs == nil
	p := Part{Carried: inputs, Operators: operators, CarriedBytes: -1}
	p.Model = &onnx.Model{IRVersion: whole.IRVersion, Producer: whole.Producer, Opsets: whole.Opsets}
	g := &p.Model.Graph
	g.Name = fmt.Sprintf("%s part %d", whole.Graph.Name, number)
	var extra []string // constants that the model gives out, in the last part
	if last {
		for _, v := range whole.Graph.Outputs {
			extra = append(extra, v.Name)
		}
	}
	made, needed := map[string]bool{}, map[string]bool{}
	var old []string // weights that were constants; inputs too before IR version 4
	for _, i := range append(f.constants(operators, extra), operators...) {
		n := whole.Graph.Nodes[i]
		if t := long(&n); t != nil {
			g.Initializers = append(g.Initializers, *t)
			p.ParameterBytes += t.Stored
			old = append(old, t.Name)
		} else {
			g.Nodes = append(g.Nodes, n)
		}
		for _, name := range n.Outputs {
			made[name] = true
			if v, ok := f.stated[name]; ok && !slices.Contains(outputs, name) && !f.given(name) && long(&n) == nil {
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
	for _, name := range inputs {
		g.Inputs = append(g.Inputs, f.value(name))
		if n := f.analysis.Tensors[name].Bytes(); n >= 0 {
			p.CarriedBytes = max(0, p.CarriedBytes) + n
		}
	}
	for _, v := range whole.Graph.Inputs {
		// before IR version 4 weights are inputs too (ONNX, IR.md)
		if _, weight := f.weights[v.Name]; needed[v.Name] && (!weight || whole.IRVersion < 4) {
			g.Inputs = append(g.Inputs, v)
		}
	}
	for _, name := range old {
		if whole.IRVersion < 4 {
			g.Inputs = append(g.Inputs, f.value(name))
		}
	}
	for _, name := range outputs {
		g.Outputs = append(g.Outputs, f.value(name))
	}
	for _, v := range whole.Graph.Outputs {
		if made[v.Name] && !slices.Contains(outputs, v.Name) && (last || !f.constant(v.Name)) {
			g.Outputs = append(g.Outputs, v)
		}
	}
	return p
}

// long is the tensor of a Constant that lies in the file alone, as the weight that
// it can be instead; nil for any other node.
func long(n *onnx.Node) *onnx.Tensor {
	a := n.Attribute("value")
	if n.Op != "Constant" || len(n.Outputs) != 1 || a == nil || a.Tensor == nil || !inFile(a.Tensor) {
		return nil
	}
	t := *a.Tensor
	t.Name = n.Outputs[0]
	return &t
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

// carriable reports what [onnx.Write] would lose of a graph, the model's own at the top.
func carriable(g *onnx.Graph, functions int, top bool) error {
	if functions > 0 {
		return fmt.Errorf("%w: the model defines functions", ErrUnsupported)
	}
	if g.Sparse > 0 {
		return fmt.Errorf("%w: the model has sparse weights", ErrUnsupported)
	}
	for _, v := range slices.Concat(g.Inputs, g.Outputs) { // those of a branch may have no type
		if v.Type == 0 && (top || v.Element != nil || v.Optional != nil) {
			return fmt.Errorf("%w: %q is not a tensor", ErrUnsupported, v.Name)
		}
	}
	for i := range g.Initializers {
		if err := whole(&g.Initializers[i]); err != nil {
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
		return whole(a.Tensor)
	case onnx.KindGraph, onnx.KindGraphs:
		for i := range a.Graphs {
			if err := carriable(&a.Graphs[i], 0, false); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%w: attribute type %d", ErrUnsupported, a.Kind)
	}
	return nil
}

// whole reports a tensor whose data is not at hand: in memory, or in one piece of
// the file.
func whole(t *onnx.Tensor) error {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d
	}
	size := (n*t.Type.Bits() + 7) / 8
	switch {
	case t.External:
		return fmt.Errorf("%w: tensor %q is in an external file", ErrUnsupported, t.Name)
	case t.Type.Bits() == 0:
		return fmt.Errorf("%w: tensor %q has type %v", ErrUnsupported, t.Name, t.Type)
	case t.Data != nil && int64(len(t.Data)) == size, size == 0, inFile(t) && t.Stored == size:
		return nil
	}
	return fmt.Errorf("%w: tensor %q of %v is not stored as %d raw bytes", ErrUnsupported, t.Name, t.Type, size)
}

func inFile(t *onnx.Tensor) bool { return t.Data == nil && t.Offset > 0 && t.Stored > 0 }

// Write writes the part as an .onnx file; weights are copied from the file of
// the whole and never held, but for those in bodies of control flow.
func (p Part) Write(w io.Writer, file io.ReaderAt) error {
	m := *p.Model
	var err error
	if m.Graph.Nodes, err = filled(m.Graph.Nodes, file); err != nil {
		return err
	}
	return onnx.Write(w, &m, func(w io.Writer, t *onnx.Tensor) error {
		_, err := io.Copy(w, section(t, file))
		return err
	})
}

func section(t *onnx.Tensor, file io.ReaderAt) io.Reader {
	return io.NewSectionReader(file, t.Offset, t.Stored)
}

// filled are nodes with the tensors of their bodies in memory.
func filled(nodes []onnx.Node, file io.ReaderAt) ([]onnx.Node, error) {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		n := &nodes[i]
		n.Attributes = slices.Clone(n.Attributes)
		for k := range n.Attributes {
			a := &n.Attributes[k]
			a.Graphs = slices.Clone(a.Graphs)
			var err error
			if a.Tensor != nil && inFile(a.Tensor) {
				t := *a.Tensor
				a.Tensor = &t
				t.Data, err = io.ReadAll(section(&t, file))
			}
			for j := range a.Graphs {
				if err == nil {
					err = fill(&a.Graphs[j], file)
				}
			}
			if err != nil {
				return nil, fmt.Errorf("node %q: attribute %q: %w", n.Name, a.Name, err)
			}
		}
	}
	return nodes, nil
}

// fill reads the tensors of a body.
func fill(g *onnx.Graph, file io.ReaderAt) error {
	g.Initializers = slices.Clone(g.Initializers)
	for i := range g.Initializers {
		if t := &g.Initializers[i]; inFile(t) {
			var err error
			if t.Data, err = io.ReadAll(section(t, file)); err != nil {
				return err
			}
		}
	}
	var err error
	g.Nodes, err = filled(g.Nodes, file)
	return err
}
