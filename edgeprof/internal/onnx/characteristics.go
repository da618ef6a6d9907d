package onnx

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/plural"
)

// Warnings of [Analyze].
var (
	// ErrDynamic warns that dimensions are open and were assumed.
	ErrDynamic = errors.New("dynamic dimensions")
	// ErrUnshaped warns that shapes of some tensors do not follow from the file: their cost is
	// not counted.
	ErrUnshaped = errors.New("unknown shapes")
	// ErrExternal warns that weights lie in other files, which are not opened.
	ErrExternal = errors.New("external data")
	// ErrBodies warns of graphs in nodes that are no control flow, or of control flow
	// too deep, whose inside is not counted.
	ErrBodies = errors.New("inner graphs are not counted")
	// ErrOperator warns of operators whose cost is not known.
	ErrOperator = errors.New("operators without a known cost")
)

// Characteristics holds the counts by which a profiler knows a model. The first seven are the
// fields of a profiling request; they count what the original profiler counts.
type Characteristics struct {
	ConvLayers      int   `json:"conv_layers"`       // Conv nodes whose weights are constants, quantized ones included
	PoolLayers      int   `json:"pool_layers"`       // MaxPool, AveragePool, GlobalAveragePool
	FCLayers        int   `json:"fc_layers"`         // Gemm; MatMul by a constant or after Flatten; Conv after GlobalAveragePool
	FilterDetails   int64 `json:"filter_details"`    // filters of the conv layers
	TotalParameters int64 `json:"total_parameters"`  // elements of all initializers, Constant nodes, and constants made of a value and a shape
	ModelInputSize  int64 `json:"model_input_size"`  // bytes of the inputs
	ModelOutputSize int64 `json:"model_output_size"` // bytes of the outputs

	MACs                MACs               `json:"macs"`
	ParameterBytes      int64              `json:"parameter_bytes"`
	ParameterTypes      map[string]int64   `json:"parameter_types"`       // bytes by data type
	ActivationBytes     int64              `json:"activation_bytes"`      // written by all nodes
	PeakActivationBytes int64              `json:"peak_activation_bytes"` // alive at once, in topological order
	LargestTensorBytes  int64              `json:"largest_tensor_bytes"`  // of activations
	Ops                 map[string]int     `json:"ops"`                   // nodes by operator
	Nodes               int                `json:"nodes"`                 // in the main graph
	FusedNodes          int                `json:"fused_nodes"`           // kernels that ONNX Runtime runs
	Depth               int                `json:"depth"`                 // nodes on the longest path
	Dynamic             bool               `json:"dynamic"`               // an input has an open dimension
	Quantized           bool               `json:"quantized"`             // 8-bit operators are used
	Opset               int64              `json:"opset"`                 // version of the default domain
	InputShapes         map[string][]int64 `json:"input_shapes"`
	OutputShapes        map[string][]int64 `json:"output_shapes"`

	// OpenDimensions are the inputs' dimensions that the file leaves open, with what they
	// were taken for.
	OpenDimensions []OpenDimension `json:"open_dimensions"`

	Warnings []error `json:"-"`
}

// Analysis is a model's graph with its inferred shapes and costs.
type Analysis struct {
	Model          *Model
	Order          []int // nodes, each after those it needs
	Tensors        map[string]TensorInfo
	Costs          []Cost // in Order
	Dynamic        bool
	OpenDimensions []OpenDimension // dimensions that the file leaves open
	Warnings       []error
	// SubnormalUses is the number of multiplications by subnormal weights in one inference, as
	// far as [Analysis.CheckWeights] found them.
	SubnormalUses float64

	ends    []string // outputs of bodies
	decided error    // why inputs decide sizes or iterations; nil if they do not
}

// Analyze infers shapes and costs. The error matches [ErrGraph], [ErrSize] for a
// size that an operator cannot take, or [ErrDimension] for a size of a dimension that
// is not open.
func Analyze(m *Model, s Settings) (*Analysis, error) {
	m, err := inlineFunctions(m)
	if err != nil {
		return nil, err
	}
	in, err := infer(m, s)
	if err != nil {
		return nil, err
	}
	a := &Analysis{Model: m, Order: in.order, Tensors: in.tensors, Costs: in.costs, OpenDimensions: in.dims.open, Dynamic: len(in.dims.open) > 0, ends: in.ends}
	a.warn(in)
	for key := range in.dims.used {
		if strings.HasSuffix(key, tripsSuffix) {
			a.decided = fmt.Errorf("%s=%d need not be the number of iterations of a run", key, in.dims.sizes[key])
		}
	}
	if wrong := a.CheckDefined(); wrong != nil {
		a.Warnings = append(a.Warnings, wrong)
	}
	return a, a.checkCounts()
}

// CheckDefined returns an error that matches [ErrGraph] if a node, or a graph inside it, uses a
// tensor that is neither an input, an initializer nor an output of a node. Files with sparse
// initializers, whose names are not read, pass.
func (a *Analysis) CheckDefined() error {
	for i := range a.Model.Graph.Nodes {
		n := &a.Model.Graph.Nodes[i]
		for _, name := range needs(n) {
			if _, ok := a.Tensors[name]; !ok && name != "" && a.Model.Graph.Sparse == 0 {
				return fmt.Errorf("%w: nothing makes %q, which node %d, %s %q, uses", ErrGraph, name, i, n.operator(), n.Name)
			}
		}
	}
	return nil
}

// checkCounts refuses a model whose work or memory does not fit int64.
func (a *Analysis) checkCounts() error {
	macs, bytes := int64(0), int64(0)
	for _, s := range a.Tensors {
		bytes = addCounts(bytes, max(0, s.Bytes()))
	}
	a.costs(func(c *Cost, times int64) {
		macs = addCounts(macs, multiplyCounts(c.MACs, times))
		bytes = addCounts(bytes, multiplyCounts(c.Bytes(), times))
	})
	if macs == math.MaxInt64 || bytes == math.MaxInt64 {
		return fmt.Errorf("%w: the multiply-accumulates or the bytes of its tensors exceed 64 bits", ErrGraph)
	}
	return nil
}

// costs calls f for all costs, those inside others included, with how often they
// come in one inference.
func (a *Analysis) costs(f func(c *Cost, times int64)) {
	for i := range a.Costs {
		a.Costs[i].walk(1, f)
	}
}

// UncountedWarnings returns the warnings that part of the cost is not counted: what is known is
// a lower bound.
func (a *Analysis) UncountedWarnings() []error {
	return a.warningsOf(ErrOperator, ErrUnshaped, ErrTrips, ErrBodies)
}

// warningsOf returns the warnings of some kinds.
func (a *Analysis) warningsOf(kinds ...error) []error {
	return slices.DeleteFunc(slices.Clone(a.Warnings), func(w error) bool {
		return !slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(w, kind) })
	})
}

// WarningTexts returns the texts of warnings.
func WarningTexts(warnings []error) []string {
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = w.Error()
	}
	return texts
}

// InputDecides returns why values of inputs decide the work of an inference: a run with other
// values says nothing about it then. It returns nil if they do not.
func (a *Analysis) InputDecides() error {
	if why := a.warningsOf(ErrTrips, ErrBranch); len(why) > 0 {
		return why[0]
	}
	return a.decided
}

// AssumedSizes returns the open dimensions whose size was assumed, other than batches: the cost is
// then a guess.
func (a *Analysis) AssumedSizes() []OpenDimension {
	return slices.DeleteFunc(slices.Clone(a.OpenDimensions), func(o OpenDimension) bool { return o.Given || o.batch })
}

func (a *Analysis) warn(in *inference) {
	unshaped := 0
	a.costs(func(c *Cost, _ int64) {
		for i, out := range c.Outputs {
			if !out.Known && !out.sequence() && !controls(c.node) && c.node.Outputs[i] != "" {
				unshaped++
			}
		}
	})
	if len(in.custom) > 0 {
		a.Warnings = append(a.Warnings, fmt.Errorf("%w: %s", ErrOperator, listCounts(in.custom)))
	}
	if deciding := slices.Compact(slices.Sorted(slices.Values(in.deciding))); unshaped > 0 && len(deciding) > 0 {
		a.decided = fmt.Errorf("%w: %s, after %s, by the value of input %s (--size NAME=VALUE)", ErrUnshaped, plural.Count(unshaped, "tensor"), listCounts(in.unshaped), strings.Join(deciding, ", "))
		a.Warnings = append(a.Warnings, a.decided)
	} else if unshaped > 0 && len(in.unshaped) > 0 {
		a.Warnings = append(a.Warnings, fmt.Errorf("%w: %s, after %s", ErrUnshaped, plural.Count(unshaped, "tensor"), listCounts(in.unshaped)))
	} else if unshaped > 0 {
		a.Warnings = append(a.Warnings, fmt.Errorf("%w: %s", ErrUnshaped, plural.Count(unshaped, "tensor")))
	}
	for _, w := range []struct {
		count int
		err   error
		what  string
	}{
		{in.external, ErrExternal, "initializer"}, {in.bodies, ErrBodies, "inner graph"},
	} {
		if w.count > 0 {
			a.Warnings = append(a.Warnings, fmt.Errorf("%w: %s", w.err, plural.Count(w.count, w.what)))
		}
	}
	a.Warnings = append(a.Warnings, in.doubts...)
	if slices.ContainsFunc(in.dims.open, func(o OpenDimension) bool { return !o.Given }) {
		a.Warnings = append(a.Warnings, fmt.Errorf("%w: %s", ErrDynamic, in.dims))
	}
}

// listCounts lists names with how often they come.
func listCounts(all map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", name, all[name]))
	}
	return strings.Join(parts, ", ")
}

// cost returns the work of one node. Sizes that are unknown count as nothing.
func (in *inference) cost(index int, n *Node) Cost {
	c := Cost{Node: index, Class: ClassOther, Folded: len(n.Outputs) > 0, node: n}
	for _, name := range n.Inputs {
		s := in.lookup(name)
		c.Inputs = append(c.Inputs, s)
		if s.Constant {
			c.ParameterBytes = addCounts(c.ParameterBytes, max(0, s.Bytes()))
		} else {
			c.ReadBytes = addCounts(c.ReadBytes, max(0, s.Bytes()))
		}
	}
	for _, name := range n.Outputs {
		s := in.lookup(name)
		c.Outputs = append(c.Outputs, s)
		c.WrittenBytes = addCounts(c.WrittenBytes, max(0, s.Bytes()))
		c.Folded = c.Folded && (s.Constant || name == "")
	}
	switch {
	case controls(n):
		c.Class = ClassMove
	case operators[n.operator()].shape == nil || n.is(byValues):
		in.custom[n.operator()]++
	case len(c.Outputs) > 0:
		c.Class, c.MACs = work(n, c.Inputs, c.Outputs[0])
		if reads := operators[n.operator()].reads; reads != nil {
			if bytes := multiplyCounts(reads(n, c.Inputs, c.Outputs[0])...); bytes >= 0 {
				c.ReadBytes = bytes
			}
		}
	}
	return c
}

// Characteristics returns the counts of an analysed model. The error matches
// [ErrGraph]: counts beyond int64.
func (a *Analysis) Characteristics() (*Characteristics, error) {
	g := &a.Model.Graph
	c := &Characteristics{
		Nodes: len(g.Nodes), Dynamic: a.Dynamic, Opset: a.Model.Opsets[""], Warnings: a.Warnings,
		Ops: map[string]int{}, ParameterTypes: map[string]int64{},
		InputShapes: map[string][]int64{}, OutputShapes: map[string][]int64{},
	}
	c.OpenDimensions = append([]OpenDimension{}, a.OpenDimensions...)
	if err := c.parameters(a, g); err != nil {
		return nil, err
	}
	c.layers(a)
	a.sizes(c)
	a.costs(func(cost *Cost, times int64) {
		c.MACs.Total += cost.MACs * times
		*c.MACs.counter(cost.Class) += cost.MACs * times
		c.ActivationBytes += cost.WrittenBytes * times
	})
	c.PeakActivationBytes, c.LargestTensorBytes = a.peak()
	c.Depth = a.depth()
	c.FusedNodes = len(a.Kernels())
	return c, nil
}

// RunBytes returns about how much memory a run takes: the weights twice, since a runtime packs
// them, and the inputs once more than they are alive, since this program makes them.
func (c *Characteristics) RunBytes() int64 {
	return addCounts(c.ParameterBytes, addCounts(c.ParameterBytes, addCounts(c.PeakActivationBytes, c.ModelInputSize)))
}

// counter returns the sum that a class belongs to.
func (m *MACs) counter(class Class) *int64 {
	switch class {
	case ClassConv, ClassConv1D, ClassConv3D:
		return &m.Conv
	case ClassDepthwise, ClassDepthwiseND:
		return &m.Depthwise
	case ClassDense, ClassVector:
		return &m.Dense
	case ClassRecurrent:
		return &m.Recurrent
	}
	return new(int64)
}

// parameters counts the constants that the file holds, in bodies too. A shape
// that a constant is made of is none, but for the elements that are made.
func (c *Characteristics) parameters(a *Analysis, g *Graph) error {
	shapes := a.shapes()
	a.costs(func(cost *Cost, _ int64) {
		if n := cost.node; n.Op == "ConstantOfShape" && n.standard() && len(n.Inputs) == 1 && len(n.Outputs) == 1 && shapes[n.Inputs[0]] {
			c.parameter(cost.Outputs[0])
		}
	})
	c.constants(g, func(name string) bool { return shapes[name] })
	if c.TotalParameters == math.MaxInt64 || c.ParameterBytes == math.MaxInt64 {
		return fmt.Errorf("%w: the number of parameters exceeds 64 bits", ErrGraph)
	}
	return nil
}

// shapes returns the constants of the file that are used as the shapes of others
// alone.
func (a *Analysis) shapes() map[string]bool {
	only := map[string]bool{}
	a.costs(func(c *Cost, _ int64) {
		for _, name := range needs(c.node) {
			was, seen := only[name]
			only[name] = c.node.Op == "ConstantOfShape" && c.Folded && (was || !seen)
		}
	})
	a.costs(func(c *Cost, _ int64) { // computed ones are not the file's
		for _, name := range c.node.Outputs {
			only[name] = only[name] && c.node.Op == "Constant"
		}
	})
	return only
}

// constants counts those of a graph and its bodies, but for some.
func (c *Characteristics) constants(g *Graph, without func(name string) bool) {
	for i := range g.Initializers {
		if t := &g.Initializers[i]; !without(t.Name) {
			c.parameter(constant(t))
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.standard() && n.Op == "Constant" && len(n.Outputs) > 0 && !without(n.Outputs[0]) {
			for _, s := range constantNode(&call{node: n}) {
				c.parameter(s)
			}
		}
		for k := range n.Attributes {
			for b := range n.Attributes[k].Graphs {
				c.constants(&n.Attributes[k].Graphs[b], without)
			}
		}
	}
}

func (c *Characteristics) parameter(s TensorInfo) {
	size := max(0, s.Bytes())
	c.TotalParameters = addCounts(c.TotalParameters, max(0, s.Elements()))
	c.ParameterBytes = addCounts(c.ParameterBytes, size)
	c.ParameterTypes[s.Type.String()] += size
}

// layers counts them as the original profiler does, in bodies too.
func (c *Characteristics) layers(a *Analysis) {
	maker := map[string]string{} // operator that made a tensor, over those that pass it on
	a.costs(func(cost *Cost, _ int64) {
		n := cost.node
		c.Ops[n.operator()]++
		c.Quantized = c.Quantized || n.is(quantizes)
		made := strings.TrimPrefix(n.Op, "QLinear")
		if n.is(passes) && len(n.Inputs) > 0 {
			made = maker[n.Inputs[0]]
		}
		for _, name := range n.Outputs {
			maker[name] = made
		}
		c.layer(n, cost, func(i int) string {
			if i < len(n.Inputs) {
				return maker[n.Inputs[i]]
			}
			return ""
		})
	})
}

func (c *Characteristics) layer(n *Node, cost *Cost, maker func(i int) string) {
	constant := func(i int) bool { return i < len(cost.Inputs) && cost.Inputs[i].Constant }
	_, second := factors(n.Op)
	switch operators[n.operator()].layer {
	case convLayer:
		if w := filter(n.Op); constant(w) {
			c.ConvLayers++
			if shape := cost.Inputs[w].Shape; len(shape) > 0 {
				c.FilterDetails = addCounts(c.FilterDetails, shape[0])
			}
		}
		if maker(0) == "GlobalAveragePool" {
			c.FCLayers++
		}
	case poolLayer:
		c.PoolLayers++
	case denseLayer:
		c.FCLayers++
	case productLayer:
		if constant(second) || maker(0) == "Flatten" {
			c.FCLayers++
		}
	}
}

// sizes fills what crosses the model's border. Initializers that are listed as
// inputs too, as old files have them, are not inputs.
func (a *Analysis) sizes(c *Characteristics) {
	for _, v := range a.Model.Graph.Inputs {
		if s := a.Tensors[v.Name]; !s.Constant {
			c.ModelInputSize += max(0, s.Bytes())
			c.InputShapes[v.Name] = s.Shape
		}
	}
	for _, v := range a.Model.Graph.Outputs {
		s := a.Tensors[v.Name]
		c.ModelOutputSize += max(0, s.Bytes())
		c.OutputShapes[v.Name] = s.Shape
	}
}

// peak returns the most memory that activations hold at once when the nodes run in
// order and each tensor is freed after its last use, and the largest of them.
func (a *Analysis) peak() (peak, largest int64) {
	last := map[string]int{}
	for at, i := range a.Order {
		for _, name := range needs(&a.Model.Graph.Nodes[i]) {
			last[name] = at
		}
	}
	for _, v := range a.Model.Graph.Outputs {
		last[v.Name] = len(a.Order)
	}
	size := func(name string) int64 {
		if s := a.Tensors[name]; !s.Constant {
			return max(0, s.Bytes())
		}
		return 0
	}
	held := int64(0)
	for _, v := range a.Model.Graph.Inputs {
		held += size(v.Name)
		largest = max(largest, size(v.Name))
	}
	peak = held
	frees := make([][]string, len(a.Order)+1)
	for name, at := range last {
		frees[at] = append(frees[at], name)
	}
	for at, i := range a.Order {
		for _, name := range a.Model.Graph.Nodes[i].Outputs {
			held += size(name)
			largest = max(largest, size(name))
			if _, used := last[name]; !used {
				frees[at] = append(frees[at], name)
			}
		}
		peak = max(peak, held)
		for _, name := range frees[at] {
			held -= size(name)
		}
	}
	return peak, largest
}

// depth returns the number of nodes on the longest path.
func (a *Analysis) depth() int {
	reach, deepest := map[string]int{}, 0
	for _, i := range a.Order {
		n := &a.Model.Graph.Nodes[i]
		d := 0
		for _, name := range needs(n) {
			d = max(d, reach[name])
		}
		for _, name := range n.Outputs {
			reach[name] = d + 1
		}
		deepest = max(deepest, d+1)
	}
	return deepest
}
