package onnx

import (
	"slices"
	"testing"
)

// Between DequantizeLinear and QuantizeLinear ONNX Runtime works on whole numbers: one
// kernel of a quarter of the bytes is left of each operator, and none of the pairs.
func TestQuantizedPairs(t *testing.T) {
	value := func(name string) Value {
		return Value{Name: name, Type: Float32, Known: true, Shape: []Dim{{Size: 1}, {Size: 8}, {Size: 16}, {Size: 16}}}
	}
	scalar := func(name string, kind DataType, data ...byte) Tensor {
		return Tensor{Name: name, Type: kind, Dims: []int64{}, Stored: int64(len(data)), Data: data}
	}
	pair := func(from, to string) []Node {
		return []Node{
			{Op: "QuantizeLinear", Inputs: []string{from, "scale", "zero"}, Outputs: []string{from + "_q"}},
			{Op: "DequantizeLinear", Inputs: []string{from + "_q", "scale", "zero"}, Outputs: []string{to}},
		}
	}
	weights := Node{Op: "DequantizeLinear", Inputs: []string{"w", "scale", "zero_i"}, Outputs: []string{"wf"}}
	conv := Node{Op: "Conv", Inputs: []string{"xd", "wf"}, Outputs: []string{"c"}, Attributes: []Attribute{IntsAttribute("pads", 1, 1, 1, 1)}}
	relu := Node{Op: "Relu", Inputs: []string{"c"}, Outputs: []string{"r"}}
	for name, tt := range map[string]struct {
		nodes [][]Node
		want  []string // operators and classes of the kernels
		bytes int64    // of the convolution
	}{
		"all pairs":       {[][]Node{pair("x", "xd"), {weights, conv, relu}, pair("r", "y")}, []string{"QuantizeLinear other", "Conv conv_int8", "DequantizeLinear other"}, 2048 + 2048 + 576},
		"no pair behind":  {[][]Node{pair("x", "xd"), {weights, conv, {Op: "Relu", Inputs: []string{"c"}, Outputs: []string{"y"}}}}, []string{"QuantizeLinear other", "DequantizeLinear other", "Conv conv"}, 4 * (2048 + 2048 + 576)},
		"a real bias":     {[][]Node{pair("x", "xd"), {weights, {Op: "Conv", Inputs: []string{"xd", "wf", "bias"}, Outputs: []string{"c"}, Attributes: conv.Attributes}, relu}, pair("r", "y")}, []string{"QuantizeLinear other", "DequantizeLinear other", "Conv conv", "QuantizeLinear other", "DequantizeLinear other"}, 4 * (2048 + 2048 + 576 + 8)},
		"no pair at all":  {[][]Node{{weights, {Op: "Conv", Inputs: []string{"x", "wf"}, Outputs: []string{"y"}, Attributes: conv.Attributes}}}, []string{"Conv conv"}, 4 * (2048 + 2048 + 576)},
		"used in between": {[][]Node{pair("x", "xd"), {weights, conv, relu, {Op: "Neg", Inputs: []string{"r"}, Outputs: []string{"y"}}}, pair("r", "z")}, []string{"QuantizeLinear other", "DequantizeLinear other", "Conv conv", "Neg other", "QuantizeLinear other", "DequantizeLinear other"}, 4 * (2048 + 2048 + 576)},
	} {
		t.Run(name, func(t *testing.T) {
			g := Graph{Name: "g", Inputs: []Value{value("x")}, Outputs: []Value{{Name: "y"}}, Nodes: slices.Concat(tt.nodes...)}
			if name == "used in between" {
				g.Outputs = append(g.Outputs, Value{Name: "z"})
			}
			g.Initializers = []Tensor{
				{Name: "w", Type: Int8, Dims: []int64{8, 8, 3, 3}, Stored: 576},
				scalar("scale", Float32, 0, 0, 0x80, 0x3f), scalar("zero", Uint8, 0), scalar("zero_i", Int8, 0),
				{Name: "bias", Type: Float32, Dims: []int64{8}, Stored: 32},
			}
			a, err := Analyze(&Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: g}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range a.Kernels() {
				got = append(got, k.Op+" "+string(k.Class))
				if slow := k.Op == "Conv" && k.Class == ClassConv; slow && k.Effort < restoredEffort {
					t.Errorf("effort %v of a convolution whose weights are made real, want %v or more", k.Effort, restoredEffort)
				}
				if k.Op == "Conv" && k.Bytes() != tt.bytes {
					t.Errorf("the convolution moves %d bytes, want %d", k.Bytes(), tt.bytes)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("kernels %q, want %q", got, tt.want)
			}
		})
	}
}

// Nodes that lack the inputs or outputs of their operator, which a graph may name, are counted
// without a panic.
func TestPairsWithoutEnds(t *testing.T) {
	for name, nodes := range map[string][]Node{
		"no output":           {{Op: "DequantizeLinear"}},
		"clip without output": {{Op: "DequantizeLinear", Inputs: []string{"x", "s"}, Outputs: []string{"v"}}, {Op: "Conv", Inputs: []string{"v", "v"}, Outputs: []string{"w"}}, {Op: "Relu", Inputs: []string{"w"}}},
		"no input":            {{Op: "Sigmoid", Outputs: []string{"t"}}, {Op: "Mul", Inputs: []string{"t", "x"}, Outputs: []string{"y"}}},
	} {
		g := Graph{Inputs: []Value{{Name: "x", Type: Float32, Known: true, Shape: []Dim{{Size: 1}, {Size: 3}, {Size: 8}, {Size: 8}}}, {Name: "s", Type: Float32, Known: true}}, Nodes: nodes}
		a, err := Analyze(&Model{Opsets: map[string]int64{"": 20}, Graph: g}, Settings{})
		if err != nil {
			continue
		}
		if k := a.Kernels(); len(k) > len(nodes) {
			t.Errorf("%s: %d kernels", name, len(k))
		}
	}
}
