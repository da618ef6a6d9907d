package onnx

import (
	"cmp"
	"slices"
	"strings"
)

// Kernel is one piece of work that a runtime starts: a node, with those it
// is joined with.
type Kernel struct {
	Nodes []int  `dataset:"-"`  // indices in the graph; the first gives the kernel its name
	Op    string `dataset:"op"` // of the first node, or [SkipNormalization]
	Class Class  `dataset:"class"`
	Work
	Unfolded int64 `dataset:"unfolded,optional"` // values that a convolution unfolds under its windows
	// Precision is the type other than float32 in which it multiplies; "" for none.
	Precision string `dataset:"precision,optional"`
	Times     int64  `dataset:"-"` // that it runs in one inference: 1, or the trips of a loop around it
	// Effort is its time as a multiple of that by the rates of its class; 0 is 1.
	Effort float64 `dataset:"effort,optional"`
	// Unmet reports whether the effort is a guess: no calibration has met the form.
	Unmet bool `dataset:"unmet,optional"`
}

// SkipNormalization is the operator that a sum and the normalization of layers
// that alone follows it become.
const SkipNormalization = "SkipLayerNormalization"

// Kernels lists the work of one inference in order, with the nodes joined that ONNX
// Runtime joins on processors with all optimisations: convolutions and matrix products
// with the normalization, factor and bias of each channel, sum and activation that alone
// follow them, a matrix product with a constant factor, a product with one's own sigmoid,
// and a sum with the normalization of layers. Nodes whose results are known ahead are not
// work. An analysis without a model has costs alone: each is a kernel.
func (a *Analysis) Kernels() []Kernel {
	if a.Model == nil {
		kernels := make([]Kernel, len(a.Costs))
		for i, c := range a.Costs {
			kernels[i] = Kernel{Nodes: []int{c.Node}, Class: c.Class, Work: c.Work, Times: 1}
		}
		return kernels
	}
	j := joiner{a: a, users: map[string]int{}, chain: map[string]*open{}, real: map[string]DataType{}, blocked: map[string]bool{}}
	a.costs(func(c *Cost, _ int64) {
		if c.Folded {
			return
		}
		for _, name := range needs(c.node) {
			j.users[name]++
		}
	})
	for _, v := range a.Model.Graph.Outputs {
		j.users[v.Name]++
	}
	for _, name := range a.ends {
		j.users[name]++
	}
	j.between = quantizedNodes(a, j.users)
	a.costs(func(c *Cost, times int64) {
		if !c.Folded && !j.join(c) {
			j.start(c, times)
		}
	})
	kernels := make([]Kernel, len(j.kernels))
	for i, k := range j.kernels {
		kernels[i] = *k
	}
	return kernels
}

// stage limits the operators that may still join a kernel, from the most on.
type stage int

const (
	closed     stage = iota
	activation       // an activation
	bias             // a constant bias or factor, then an activation
	scaling          // a normalization, factors and biases, and the sum with another tensor first
	skipping         // the normalization of layers
)

type open struct {
	kernel *Kernel
	first  *Node // of the kernel
	next   stage
}

type joiner struct {
	a       *Analysis
	users   map[string]int
	chain   map[string]*open    // by the tensor that a kernel ends in
	real    map[string]DataType // of tensors that were whole numbers and are made real: of what
	between quantized
	blocked map[string]bool // tensors in the layout of ONNX Runtime's convolutions
	kernels []*Kernel
}

// start begins a kernel with a node, unless ONNX Runtime removes it.
func (j *joiner) start(c *Cost, times int64) {
	n := c.node
	k := &Kernel{Nodes: []int{c.Node}, Op: n.Op, Class: c.Class, Work: c.Work, Times: times}
	k.Unfolded = unfoldedValues(n, c)
	k.Precision = j.precision(n, c)
	if j.between.gone[n] {
		return
	}
	if j.between.whole[n] {
		k.ReadBytes /= 4
		k.ParameterBytes /= 4
		k.WrittenBytes /= 4
	}
	if j.between.whole[n] || n.is(quantizes) {
		k.Class = inBytes(k.Class, k.Precision)
	}
	k.Effort = j.effortOf(c)
	if k.Effort == unmet {
		k.Effort = unmetEffort
		k.Unmet = true
	}
	j.lay(n, c, k)
	j.kernels = append(j.kernels, k)
	if len(n.Outputs) > 0 {
		j.chain[n.Outputs[0]] = &open{k, n, openStage(n, c)}
	}
}

// effortOf returns the effort of a node by the types that it computes with; [unmet] if it is
// unknown.
func (j *joiner) effortOf(c *Cost) float64 {
	n := c.node
	rule := operators[n.operator()].effort
	if j.between.whole[n] {
		if whole := byteEffort(n); whole != nil {
			rule = whole
		}
	}
	factor := 1.0
	if rule != nil {
		factor = rule(c)
	}
	if len(c.Inputs) > 0 && c.Inputs[0].Type == Float64 {
		factor *= cmp.Or(doubleEfforts[n.Op], 1)
	}
	if c.widens() {
		factor *= halfEffort
	}
	if j.between.restored[n] {
		factor *= restoredEffort
	}
	return factor
}

// openStage returns the operators that may join a kernel after its first node.
func openStage(n *Node, c *Cost) stage {
	next := operators[n.operator()].opens
	if next == skipping && (len(c.Inputs) != 2 || c.Inputs[0].Constant || c.Inputs[1].Constant || !slices.Equal(c.Inputs[0].Shape, c.Inputs[1].Shape)) {
		return closed
	}
	return next
}

// lay notes whether the result of a node is in the layout of convolutions, and adds to the
// effort of a pool whose input is not: ONNX Runtime reorders it.
func (j *joiner) lay(n *Node, c *Cost, k *Kernel) {
	if n.Domain != "" || len(n.Outputs) == 0 || len(c.shapeOf(0)) != 4 || c.Inputs[0].Type != Float32 {
		return
	}
	blocked := n.Op == "Conv"
	if strings.Contains(keepLayout, " "+n.Op+" ") {
		blocked = true
		for i, name := range n.Inputs {
			blocked = blocked && (j.blocked[name] || c.Inputs[i].Constant)
		}
		if k.Class == ClassPool && !blocked {
			k.Effort += reordered
		}
	}
	j.blocked[n.Outputs[0]] = blocked
}

// reordered is the part of the bytes of a pool that takes as long as bringing its input into
// the layout of convolutions.
const reordered = 1.4

// keepLayout names the operators that ONNX Runtime runs in the layout of convolutions, in
// which neighbouring values are those of several channels, if their inputs have it.
const keepLayout = " MaxPool AveragePool GlobalAveragePool GlobalMaxPool Relu Clip LeakyRelu Sigmoid HardSigmoid HardSwish Gelu Tanh Add Sum Mul Concat BatchNormalization "

// precision returns the type other than float32 in which a node multiplies, be it between
// operators that make it real and whole again.
func (j *joiner) precision(n *Node, c *Cost) string {
	if len(c.Inputs) == 0 {
		return ""
	}
	t := c.Inputs[0].Type
	if t == Float32 && n.is(quantizes) && len(c.Inputs) > 1 && c.Inputs[1].Type != 0 {
		t = c.Inputs[1].Type // it makes the first whole by itself
	}
	if n.Op == "DequantizeLinear" && len(n.Outputs) > 0 {
		j.real[n.Outputs[0]] = t
	}
	if of, ok := j.real[n.Inputs[0]]; ok && j.between.whole[n] {
		t = of
	}
	if c.MACs == 0 || t == Float32 || t == 0 {
		return ""
	}
	return t.String()
}

// join adds a node to the kernel that alone makes its input.
func (j *joiner) join(c *Cost) bool {
	n := c.node
	if len(n.Outputs) == 0 {
		return false
	}
	for i := len(n.Inputs) - 1; i >= 0; i-- {
		o := j.chain[n.Inputs[i]]
		if o == nil {
			continue
		}
		next, ok := j.follows(o, n, c, i)
		if !ok {
			continue
		}
		k := o.kernel
		k.Nodes = append(k.Nodes, c.Node)
		switch {
		case o.next == skipping:
			k.Op, k.Class = SkipNormalization, ClassNormalize
		case n.Op == "Mul" && k.Op == "Sigmoid":
			k.Effort = 1 // see [aloneEffort]
		}
		k.ParameterBytes += c.ParameterBytes
		k.ReadBytes += c.ReadBytes - c.Inputs[i].Bytes()
		k.WrittenBytes += c.WrittenBytes - c.Inputs[i].Bytes()
		delete(j.chain, n.Inputs[i])
		j.blocked[n.Outputs[0]] = j.blocked[n.Inputs[i]]
		j.chain[n.Outputs[0]] = &open{k, o.first, next}
		return true
	}
	return false
}

// follows reports whether a node can be joined to a kernel by its input i, and what
// may follow then.
func (j *joiner) follows(o *open, n *Node, c *Cost, i int) (stage, bool) {
	constant := len(c.Inputs) == 2 && c.Inputs[1-min(i, 1)].Constant
	switch {
	case n.Op == "Mul" && o.kernel.Op == "Sigmoid" && len(o.kernel.Nodes) == 1:
		sigmoid := o.first
		return closed, j.users[n.Inputs[i]] == 1 && len(sigmoid.Inputs) > 0 && slices.Contains(n.Inputs, sigmoid.Inputs[0])
	case j.users[n.Inputs[i]] != 1:
		return closed, false
	case o.next == skipping:
		return closed, n.Op == "LayerNormalization" && i == 0
	case n.Op == "BatchNormalization":
		return scaling, o.next == scaling && i == 0
	case (n.Op == "Mul" || n.Op == "Add") && o.kernel.Op == "Conv" && o.next == scaling && constant && perChannel(c, 1-i):
		return scaling, true
	case (n.Op == "Add" || n.Op == "Sum" && len(c.Inputs) == 2) && o.kernel.Op == "Conv":
		return activation, o.next == scaling && !constant && slices.Equal(c.Inputs[0].Shape, c.Inputs[1].Shape)
	case n.Op == "Add":
		return activation, o.next == bias && constant
	case n.Op == "Mul":
		return closed, o.next == bias && constant && c.Inputs[1-min(i, 1)].Elements() == 1
	case n.is(activates) && i == 0:
		return closed, o.next != closed && (n.Op != "Clip" || o.kernel.Class.convolves())
	}
	return closed, false
}

// inBytes returns the class of a kernel of some class and precision.
func inBytes(class Class, precision string) Class {
	switch {
	case precision != Int8.String() && precision != Uint8.String():
	case class == ClassConv:
		return ClassConv8
	case class == ClassDense:
		return ClassDense8
	}
	return class
}

// convolves reports whether a class is one of convolutions.
func (c Class) convolves() bool {
	switch c {
	case ClassConv, ClassDepthwise, ClassConv1D, ClassConv3D, ClassDepthwiseND, ClassConv8:
		return true
	}
	return false
}

// perChannel reports whether an input has one value for each channel of the other, as
// a normalization that was folded into a factor and a bias has.
func perChannel(c *Cost, i int) bool {
	of, values := c.Inputs[1-i].Shape, c.Inputs[i].Shape
	if len(of) < 3 || len(values) > len(of) || len(values) < len(of)-1 || c.Inputs[i].Elements() != of[1] {
		return false
	}
	return values[len(values)-len(of)+1] == of[1]
}

// unfoldedValues returns the number of values that a convolution unfolds under its windows; 0 for
// other nodes and unknown shapes.
func unfoldedValues(n *Node, c *Cost) int64 {
	out, elements := c.result()
	w := c.shapeOf(filter(n.Op))
	if elements < 1 || !c.Class.convolves() || len(w) <= 2 || len(out) <= 2 {
		return 0
	}
	depth, _ := product(w[1:])
	return multiplyCounts(max(1, n.Int("group", 1)), depth, elements/max(1, out[1]))
}
