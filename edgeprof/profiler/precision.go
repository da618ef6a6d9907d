package profiler

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/onnx"
)

// rounded is how many times longer or shorter products in another precision than
// float32, of which rates are, took in models that were tried: 0.72 to 2.97.
const rounded = 3

// precisions are the types other than float32 in which a model multiplies, but for
// operators that were measured in the user's own models. Which of them a processor
// is good at, its float32 does not show.
func (c *Calibration) precisions(a *onnx.Analysis) []string {
	if a.Model == nil {
		return nil
	}
	found := map[string]bool{}
	nodes := a.Model.Graph.Nodes
	whole := map[string]onnx.DataType{} // what was quantized before it was made real
	for i := range a.Costs {
		k := &a.Costs[i]
		n := &nodes[k.Node]
		if n.Op == "DequantizeLinear" && len(n.Outputs) > 0 && len(k.Inputs) > 0 && !k.Folded {
			whole[n.Outputs[0]] = k.Inputs[0].Type
		}
		if k.MACs == 0 || k.Folded || len(k.Inputs) == 0 || len(c.neighbours.byOp[n.Op]) > 0 {
			continue
		}
		t := k.Inputs[0].Type
		if q, ok := whole[n.Inputs[0]]; ok {
			t = q
		}
		if t != onnx.Float32 && t != 0 {
			found[strings.ToLower(t.String())] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// roundedSpread is the doubt of another precision, as a logarithm.
var roundedSpread = math.Log(rounded)
