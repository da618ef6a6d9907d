package onnx

import (
	"errors"
	"fmt"
	"slices"
)

// Warnings of [Characterize].
var (
	// ErrDynamic warns that dimensions are open and were taken from the
	// settings, or as 1.
	ErrDynamic = errors.New("dynamic dimensions")
	// ErrUnshaped warns that shapes of some tensors do not follow from the
	// file, so that their cost is not counted.
	ErrUnshaped = errors.New("shapes unknown")
	// ErrExternal warns that weights lie in other files, which are not opened.
	ErrExternal = errors.New("external data")
	// ErrBodies warns of control flow or functions whose inside is not counted.
	ErrBodies = errors.New("inner graphs not counted")
)

// Characteristics is what a profiler knows of a model. The first seven are the
// fields of a profiling request; they count what the original profiler counts.
type Characteristics struct {
	ConvLayers      int   `json:"conv_layers"`       // Conv nodes whose weights are initializers
	PoolLayers      int   `json:"pool_layers"`       // MaxPool, AveragePool, GlobalAveragePool
	FCLayers        int   `json:"fc_layers"`         // Gemm; MatMul by an initializer or after Flatten; Conv after GlobalAveragePool
	FilterDetails   int64 `json:"filter_details"`    // filters of the conv layers
	TotalParameters int64 `json:"total_parameters"`  // elements of all initializers
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
	FusedNodes          int                `json:"fused_nodes"`           // left after Conv, BatchNormalization and activation are one
	Depth               int                `json:"depth"`                 // nodes on the longest path
	Dynamic             bool               `json:"dynamic"`               // an input has an open dimension
	Quantized           bool               `json:"quantized"`             // 8-bit operators are used
	Opset               int64              `json:"opset"`                 // version of the default domain
	InputShapes         map[string][]int64 `json:"input_shapes"`
	OutputShapes        map[string][]int64 `json:"output_shapes"`

	Warnings []error `json:"-"`
}

// MACs are multiply-accumulate operations of one inference by class.
type MACs struct {
	Total     int64 `json:"total"`
	Conv      int64 `json:"conv"`
	Depthwise int64 `json:"depthwise"` // convolutions with one input channel a group
	Dense     int64 `json:"dense"`     // matrix products
	Recurrent int64 `json:"recurrent"`
}

// Cost is what one node does in one inference.
type Cost struct {
	Node            int // index in the graph
	Class           Class
	MACs            int64
	ParameterBytes  int64 // of constant inputs
	ReadBytes       int64 // of other inputs
	WrittenBytes    int64
	Inputs, Outputs []Shaped
	Folded          bool // depends on no input: a run time computes it once, ahead
}

// Class groups operators by what bounds their time.
type Class string

// The classes.
const (
	ClassConv      Class = "conv"
	ClassDepthwise Class = "depthwise"
	ClassDense     Class = "dense"
	ClassVector    Class = "vector" // matrix by vector: each weight is used once
	ClassRecurrent Class = "recurrent"
	ClassPool      Class = "pool"
	ClassFunction  Class = "function" // exponentials and their kin, element by element
	ClassErf       Class = "erf"      // the error function, several times as dear
	ClassSoftmax   Class = "softmax"
	ClassNormalize Class = "normalization" // of layers and instances, whose statistics are computed
	ClassMove      Class = "move"          // only moves data
	ClassOther     Class = "other"         // arithmetic element by element
)

// Classes are all of them, in a fixed order.
func Classes() []Class {
	return []Class{
		ClassConv, ClassDepthwise, ClassDense, ClassVector, ClassRecurrent, ClassPool, ClassFunction, ClassErf, ClassSoftmax, ClassNormalize, ClassMove, ClassOther,
	}
}

// Analysis is a model's graph with all that follows for it.
type Analysis struct {
	Model    *Model
	Order    []int // nodes, each after those it needs
	Tensors  map[string]Shaped
	Costs    []Cost // in Order
	Dynamic  bool
	Warnings []error
}

// Analyze works out shapes and costs. The error matches [ErrGraph].
func Analyze(m *Model, s Settings) (*Analysis, error) {
	in, order, err := infer(m, s)
	if err != nil {
		return nil, err
	}
	a := &Analysis{Model: m, Order: order, Tensors: in.tensors, Dynamic: in.dynamic}
	unshaped, bodies := 0, m.Functions
	for _, i := range order {
		n := &m.Graph.Nodes[i]
		c := in.cost(i, n)
		a.Costs = append(a.Costs, c)
		for _, out := range c.Outputs {
			if !out.Known {
				unshaped++
			}
		}
		for _, attribute := range n.Attributes {
			bodies += len(attribute.Graphs)
		}
	}
	a.warn(in, unshaped, bodies)
	return a, nil
}

func (a *Analysis) warn(in *inference, unshaped, bodies int) {
	external := 0
	for i := range a.Model.Graph.Initializers {
		if a.Model.Graph.Initializers[i].External {
			external++
		}
	}
	for _, w := range []struct {
		count int
		err   error
		what  string
	}{
		{unshaped, ErrUnshaped, "tensors"}, {external, ErrExternal, "initializers"}, {bodies, ErrBodies, "inner graphs and functions"},
	} {
		if w.count > 0 {
			a.Warnings = append(a.Warnings, fmt.Errorf("%w: %d %s", w.err, w.count, w.what))
		}
	}
	if in.dynamic {
		a.Warnings = append(a.Warnings, fmt.Errorf("%w: open dimensions of the inputs were set", ErrDynamic))
	}
}

// cost is what follows for one node. Sizes that are unknown count as nothing.
func (in *inference) cost(index int, n *Node) Cost {
	c := Cost{Node: index, Class: ClassOther, Folded: len(n.Outputs) > 0}
	for _, name := range n.Inputs {
		s := in.tensors[name]
		c.Inputs = append(c.Inputs, s)
		if s.Constant {
			c.ParameterBytes += max(0, s.Bytes())
		} else {
			c.ReadBytes += max(0, s.Bytes())
		}
	}
	for _, name := range n.Outputs {
		s := in.tensors[name]
		c.Outputs = append(c.Outputs, s)
		c.WrittenBytes += max(0, s.Bytes())
		c.Folded = c.Folded && (s.Constant || name == "")
	}
	if n.standard() && len(c.Outputs) > 0 {
		c.Class, c.MACs = work(n, c.Inputs, c.Outputs[0])
	}
	return c
}

// work classifies a node and counts its multiply-accumulates.
func work(n *Node, in []Shaped, out Shaped) (Class, int64) {
	at := func(i int) Shaped {
		if i < len(in) {
			return in[i]
		}
		return Shaped{}
	}
	times := func(class Class, sizes ...int64) (Class, int64) {
		macs, ok := product(sizes)
		if !ok {
			return class, 0
		}
		return class, macs
	}
	switch n.Op {
	case "Conv", "ConvInteger", "QLinearConv":
		w := at(filter(n.Op)).Shape
		if len(w) < 2 {
			return ClassConv, 0
		}
		class := ClassConv
		if n.Int("group", 1) > 1 && w[1] == 1 {
			class = ClassDepthwise
		}
		return times(class, append(slices.Clone(w[1:]), out.Elements())...)
	case "ConvTranspose":
		w := at(1).Shape
		if len(w) < 2 {
			return ClassConv, 0
		}
		return times(ClassConv, append(slices.Clone(w[1:]), at(0).Elements())...)
	case "Gemm":
		k := int64(-1)
		if a := at(0).Shape; len(a) == 2 {
			k = a[1]
			if n.Int("transA", 0) != 0 {
				k = a[0]
			}
		}
		return times(products(out), k, out.Elements())
	case "MatMul", "MatMulInteger", "QLinearMatMul":
		k := int64(-1)
		if a := at(0).Shape; len(a) > 0 {
			k = a[len(a)-1]
		}
		return times(products(out), k, out.Elements())
	case "LSTM", "GRU", "RNN":
		x, w, r := at(0).Shape, at(1), at(2)
		if len(x) != 3 || w.Elements() < 0 || r.Elements() < 0 {
			return ClassRecurrent, 0
		}
		return times(ClassRecurrent, x[0], x[1], w.Elements()+r.Elements())
	case "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool":
		return ClassPool, 0
	case "Exp", "Log", "Pow", "Sigmoid", "Tanh", "Mish", "Softplus", "HardSwish", "Elu", "Selu", "Sin", "Cos":
		return ClassFunction, 0
	case "Erf", "Gelu":
		return ClassErf, 0
	case "Softmax", "LogSoftmax":
		return ClassSoftmax, 0
	case "LayerNormalization", "InstanceNormalization", "GroupNormalization", "ReduceMean", "ReduceSum", "ReduceMax":
		return ClassNormalize, 0
	case "Concat", "Split", "Slice", "Gather", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Pad", "Expand", "Tile", "Resize", "DepthToSpace", "SpaceToDepth":
		return ClassMove, 0
	}
	return ClassOther, 0
}

// products tells a product of two matrices from one of a matrix and a vector.
func products(out Shaped) Class {
	if n := len(out.Shape); out.Known && n > 0 && out.Elements() == out.Shape[n-1] {
		return ClassVector
	}
	return ClassDense
}

// Characterize counts a model. The error matches [ErrGraph].
func Characterize(m *Model, s Settings) (*Characteristics, error) {
	a, err := Analyze(m, s)
	if err != nil {
		return nil, err
	}
	return a.Characteristics()
}

// Characteristics are the counts of an analysed model. The error matches
// [ErrGraph]: counts beyond int64.
func (a *Analysis) Characteristics() (*Characteristics, error) {
	g := &a.Model.Graph
	c := &Characteristics{
		Nodes: len(g.Nodes), Dynamic: a.Dynamic, Opset: a.Model.Opsets[""], Warnings: a.Warnings,
		Ops: map[string]int{}, ParameterTypes: map[string]int64{},
		InputShapes: map[string][]int64{}, OutputShapes: map[string][]int64{},
	}
	if err := c.parameters(g); err != nil {
		return nil, err
	}
	c.layers(g)
	a.sizes(c)
	for _, cost := range a.Costs {
		for _, sum := range []*int64{&c.MACs.Total, c.MACs.of(cost.Class)} {
			if *sum += cost.MACs; *sum < 0 {
				return nil, fmt.Errorf("%w: multiply-accumulates beyond int64", ErrGraph)
			}
		}
		if c.ActivationBytes += cost.WrittenBytes; c.ActivationBytes < 0 {
			return nil, fmt.Errorf("%w: activations beyond int64", ErrGraph)
		}
	}
	c.PeakActivationBytes, c.LargestTensorBytes = a.peak()
	c.Depth = a.depth()
	c.FusedNodes = a.fused()
	return c, nil
}

func (m *MACs) of(class Class) *int64 {
	switch class {
	case ClassConv:
		return &m.Conv
	case ClassDepthwise:
		return &m.Depthwise
	case ClassDense, ClassVector:
		return &m.Dense
	case ClassRecurrent:
		return &m.Recurrent
	}
	return new(int64)
}

func (c *Characteristics) parameters(g *Graph) error {
	for i := range g.Initializers {
		t := &g.Initializers[i]
		n, _ := product(t.Dims) // checked by infer
		size := max(0, constant(t).Bytes())
		c.TotalParameters += n
		c.ParameterBytes += size
		c.ParameterTypes[t.Type.String()] += size
		if c.TotalParameters < 0 || c.ParameterBytes < 0 {
			return fmt.Errorf("%w: parameters beyond int64", ErrGraph)
		}
	}
	return nil
}

var quantized = map[string]bool{
	"QLinearConv": true, "QLinearMatMul": true, "ConvInteger": true, "MatMulInteger": true,
	"QuantizeLinear": true, "DequantizeLinear": true, "DynamicQuantizeLinear": true,
}

func (c *Characteristics) layers(g *Graph) {
	initializers, maker := map[string]*Tensor{}, map[string]string{}
	for i := range g.Initializers {
		initializers[g.Initializers[i].Name] = &g.Initializers[i]
	}
	for i := range g.Nodes {
		for _, name := range g.Nodes[i].Outputs {
			maker[name] = g.Nodes[i].Op
		}
	}
	input := func(n *Node, i int) string {
		if i < len(n.Inputs) {
			return n.Inputs[i]
		}
		return ""
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		name := n.Op
		if !n.standard() {
			name = n.Domain + "." + n.Op
		}
		c.Ops[name]++
		c.Quantized = c.Quantized || quantized[n.Op]
		switch n.Op {
		case "Conv":
			if w := initializers[input(n, 1)]; w != nil {
				c.ConvLayers++
				if len(w.Dims) > 0 {
					c.FilterDetails += w.Dims[0]
				}
			}
			if maker[input(n, 0)] == "GlobalAveragePool" {
				c.FCLayers++
			}
		case "MaxPool", "AveragePool", "GlobalAveragePool":
			c.PoolLayers++
		case "Gemm":
			c.FCLayers++
		case "MatMul":
			if initializers[input(n, 1)] != nil || maker[input(n, 0)] == "Flatten" {
				c.FCLayers++
			}
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

// peak is the most memory that activations hold at once when the nodes run in
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

// depth is the number of nodes on the longest path.
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

var activations = map[string]bool{"Relu": true, "LeakyRelu": true, "Clip": true, "Sigmoid": true, "Tanh": true, "HardSwish": true, "HardSigmoid": true}

// fused counts the kernels that are left when a run time joins a convolution or
// matrix product with the batch normalization and activation that alone follow
// it, and computes constants ahead.
func (a *Analysis) fused() int {
	users := map[string]int{}
	for _, i := range a.Order {
		for _, name := range needs(&a.Model.Graph.Nodes[i]) {
			users[name]++
		}
	}
	for _, v := range a.Model.Graph.Outputs {
		users[v.Name]++
	}
	joins := map[string]int{} // tensor -> what may still be joined: 2 both, 1 an activation
	count := 0
	for _, cost := range a.Costs {
		n := &a.Model.Graph.Nodes[cost.Node]
		if cost.Folded || len(n.Outputs) == 0 {
			continue
		}
		open := 0
		if len(n.Inputs) > 0 && users[n.Inputs[0]] == 1 {
			open = joins[n.Inputs[0]]
		}
		switch {
		case cost.Class == ClassConv || cost.Class == ClassDepthwise || n.Op == "Gemm":
			joins[n.Outputs[0]] = 2
		case n.Op == "BatchNormalization" && open == 2:
			joins[n.Outputs[0]] = 1
			continue
		case activations[n.Op] && open > 0:
			continue
		}
		count++
	}
	return count
}
