package onnx

import (
	"errors"
	"strings"
	"testing"
)

// TestContradictions: a node whose attributes or inputs contradict each other is refused,
// not counted.
func TestContradictions(t *testing.T) {
	cube, matrix := []int64{4, 6, 8}, []int64{4, 8}
	for name, test := range map[string]struct {
		node   Node
		x, w   []int64
		wanted string
	}{
		"softmax":           {Node{Op: "Softmax", Attributes: []Attribute{IntAttribute("axis", 7)}}, cube, nil, "axis 7"},
		"softmax before":    {Node{Op: "Softmax", Attributes: []Attribute{IntAttribute("axis", -4)}}, cube, nil, "axis -4"},
		"softmax last":      {Node{Op: "Softmax", Attributes: []Attribute{IntAttribute("axis", -3)}}, cube, nil, ""},
		"argmax":            {Node{Op: "ArgMax", Attributes: []Attribute{IntAttribute("axis", 3)}}, cube, nil, "axis 3"},
		"layers":            {Node{Op: "LayerNormalization", Attributes: []Attribute{IntAttribute("axis", 3)}}, cube, []int64{8}, "axis 3"},
		"reduction":         {Node{Op: "ReduceMean", Attributes: []Attribute{IntsAttribute("axes", 0, 5)}}, cube, nil, "axis 5"},
		"flatten":           {Node{Op: "Flatten", Attributes: []Attribute{IntAttribute("axis", 4)}}, cube, nil, "axis 4"},
		"flatten all":       {Node{Op: "Flatten", Attributes: []Attribute{IntAttribute("axis", 3)}}, cube, nil, ""},
		"order":             {Node{Op: "Transpose", Attributes: []Attribute{IntsAttribute("perm", 0, 1, 1)}}, cube, nil, "order"},
		"product":           {Node{Op: "MatMul"}, matrix, []int64{9, 4}, "8 columns"},
		"product of three":  {Node{Op: "MatMul"}, cube, []int64{8, 4}, ""},
		"product by vector": {Node{Op: "MatMul"}, matrix, []int64{9}, "8 columns"},
		"general product":   {Node{Op: "Gemm", Attributes: []Attribute{IntAttribute("transB", 1)}}, matrix, []int64{4, 9}, "8 columns"},
		"turned product":    {Node{Op: "Gemm", Attributes: []Attribute{IntAttribute("transB", 1)}}, matrix, []int64{9, 8}, ""},
		"convolution":       {Node{Op: "Conv"}, []int64{1, 3, 8, 8}, []int64{16, 4, 3, 3}, "3 channels"},
		"in groups":         {Node{Op: "Conv", Attributes: []Attribute{IntAttribute("group", 2)}}, []int64{1, 8, 8, 8}, []int64{16, 4, 3, 3}, ""},
	} {
		value := func(name string, shape []int64) Value {
			v := Value{Name: name, Type: Float32, Known: true}
			for _, n := range shape {
				v.Shape = append(v.Shape, Dim{Size: n})
			}
			return v
		}
		test.node.Inputs, test.node.Outputs = []string{"x"}, []string{"y"}
		g := Graph{Inputs: []Value{value("x", test.x)}, Outputs: []Value{{Name: "y", Type: Float32}}}
		if test.w != nil {
			test.node.Inputs = append(test.node.Inputs, "w")
			g.Inputs = append(g.Inputs, value("w", test.w))
		}
		g.Nodes = []Node{test.node}
		_, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: g}, Settings{})
		if test.wanted == "" && err != nil || test.wanted != "" && (!errors.Is(err, ErrGraph) || !strings.Contains(err.Error(), test.wanted)) {
			t.Errorf("%s: %v, want %q", name, err, test.wanted)
		}
		if test.wanted == "" || len(test.x) == 0 {
			continue
		}
		g.Inputs[0].Shape[0].Size = -1 // an assumed size may be to blame
		if _, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: g}, Settings{}); !errors.Is(err, ErrSize) {
			t.Errorf("%s, open: %v", name, err)
		}
	}
}
