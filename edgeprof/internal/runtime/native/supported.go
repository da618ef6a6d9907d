package native

import (
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// CheckSupport reports why [Load] cannot run a model, as far as its types and operators say:
// no weight is read. The error matches [runtime.ErrUnsupported].
func CheckSupport(a *onnx.Analysis) error {
	if a.Model == nil {
		return nil // counts alone
	}
	for _, v := range a.Model.Graph.Inputs {
		if t := a.Tensors[v.Name]; !t.Constant && t.Type != 0 && !isNumber(t.Type) {
			return fmt.Errorf("%w: input %q has type %v", runtime.ErrUnsupported, v.Name, t.Type)
		}
	}
	return supported(&a.Model.Graph, a.Costs)
}

// supported checks a graph and the bodies in it.
func supported(g *onnx.Graph, costs []onnx.Cost) error {
	for i := range g.Initializers {
		if t := &g.Initializers[i]; !isNumber(t.Type) {
			return fmt.Errorf("%w: initializer %q has type %v", runtime.ErrUnsupported, t.Name, t.Type)
		}
	}
	for i := range costs {
		c := &costs[i]
		n := &g.Nodes[c.Node]
		for b := range c.Bodies {
			if err := supported(c.Bodies[b].Graph, c.Bodies[b].Costs); err != nil {
				return err
			}
		}
		if len(c.Bodies) > 0 || c.Times > 0 || shapesAlone(c) {
			continue
		}
		switch n.Domain {
		case "", "ai.onnx", "com.microsoft":
		default:
			continue // nothing is known of the operator, nor of its cost
		}
		if _, ok := kernelOf(n); !ok {
			return noKernel(c.Node, n)
		}
		for k, out := range c.Outputs {
			if n.Outputs[k] != "" && out.Type != 0 && !isNumber(out.Type) {
				return fmt.Errorf("%w: node %d (%s): output %q has type %v", runtime.ErrUnsupported, c.Node, n.Op, n.Outputs[k], out.Type)
			}
		}
	}
	return nil
}

// shapesAlone reports whether the analysis worked out all that a node computes.
func shapesAlone(c *onnx.Cost) bool {
	for _, out := range c.Outputs {
		if out.Value == nil || !wholes(out.Type) {
			return false
		}
	}
	return len(c.Outputs) > 0
}

// kernelOf returns what makes the kernel of a node; false if there is none.
func kernelOf(n *onnx.Node) (func(site) (kernel, error), bool) {
	switch n.Domain {
	case "", "ai.onnx":
		k, ok := kernels[n.Op]
		return k, ok
	case "com.microsoft":
		k, ok := microsoft[n.Op]
		return k, ok
	}
	return nil, false
}

func noKernel(node int, n *onnx.Node) error {
	return fmt.Errorf("%w: node %d: operator %s %s", runtime.ErrUnsupported, node, n.Domain, n.Op)
}
