package ncnn

import (
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// graph is an ONNX graph as it grows.
type graph struct {
	g      onnx.Graph
	stands map[string]string  // blobs of Split: copies that are none
	shapes map[string][]int64 // that are hinted at
	made   map[string]bool
	used   map[string]bool
	extra  int
}

func newGraph() *graph {
	return &graph{stands: map[string]string{}, shapes: map[string][]int64{}, made: map[string]bool{}, used: map[string]bool{}}
}

// add translates one layer.
func (g *graph) add(l *layer) error {
	for i, name := range l.inputs {
		if !g.made[name] {
			return fmt.Errorf("%s %s: no earlier layer produces %q", l.kind, l.name, name)
		}
		if stands, ok := g.stands[name]; ok {
			l.inputs[i] = stands
		}
		g.used[l.inputs[i]] = true
	}
	for i, name := range l.outputs {
		if g.made[name] {
			return fmt.Errorf("%s %s: %q is produced twice", l.kind, l.name, name)
		}
		g.made[name] = true
		if shape := l.shape(i); shape != nil {
			g.shapes[name] = shape
		}
	}
	if len(l.outputs) == 0 {
		return nil
	}
	translate, ok := layers[l.kind]
	if !ok {
		g.node(Domain, l.kind, l, l.inputs)
		return nil
	}
	return translate(g, l)
}

// Domain is the domain of layers for which ONNX has no operator.
const Domain = onnx.LayerDomain

// node appends a node for a layer's outputs.
func (g *graph) node(domain, op string, l *layer, inputs []string, attributes ...onnx.Attribute) {
	g.g.Nodes = append(g.g.Nodes, onnx.Node{Name: l.name, Domain: domain, Op: op, Inputs: inputs, Outputs: l.outputs, Attributes: attributes})
	for _, name := range l.outputs {
		if shape := g.shapes[name]; shape != nil {
			g.g.Values = append(g.g.Values, value(name, shape))
		}
	}
}

// step appends a node for a tensor in between, and names it.
func (g *graph) step(domain, op string, l *layer, inputs []string, attributes ...onnx.Attribute) string {
	g.extra++
	name := fmt.Sprintf("%s/%d", l.name, g.extra)
	g.g.Nodes = append(g.g.Nodes, onnx.Node{Name: name, Domain: domain, Op: op, Inputs: inputs, Outputs: []string{name}, Attributes: attributes})
	return name
}

// weights appends a constant whose values lie elsewhere.
func (g *graph) weights(l *layer, what string, kind onnx.DataType, dims ...int64) string {
	name := l.name + "." + what
	g.g.Initializers = append(g.g.Initializers, onnx.Tensor{Name: name, Type: kind, Dims: dims})
	return name
}

// model is the whole, its results those blobs that no layer takes.
func (g *graph) model() *onnx.Model {
	for i := range g.g.Nodes {
		for _, name := range g.g.Nodes[i].Outputs {
			if !g.used[name] && g.made[name] {
				g.g.Outputs = append(g.g.Outputs, value(name, g.shapes[name]))
			}
		}
	}
	return &onnx.Model{Producer: "ncnn", Opsets: map[string]int64{"": 17, Domain: 1}, Graph: g.g}
}

// axes are the names of an image's axes.
var axes = [4]string{"batch", "channels", "height", "width"}

func value(name string, shape []int64) onnx.Value {
	v := onnx.Value{Name: name, Type: onnx.Float32, Known: shape != nil}
	for i, size := range shape {
		d := onnx.Dim{Size: size}
		if size < 0 && len(shape) == len(axes) {
			d.Name = axes[i]
		}
		v.Shape = append(v.Shape, d)
	}
	return v
}
