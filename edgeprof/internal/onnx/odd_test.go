package onnx

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// No operator ends the program, whatever the number, shapes, types and values of its
// inputs and whatever its attributes.
func TestOddNodes(t *testing.T) {
	names := slices.Sorted(maps.Keys(operators))
	attributes := []string{
		"axis", "axes", "kernel_shape", "strides", "pads", "dilations", "group", "perm", "num_heads", "kv_num_heads", "q_num_heads", "qkv_hidden_sizes", "hidden_size", "N", "K", "blocksize",
		"output_shape", "pooled_shape", "output_height", "output_width", "sampling_ratio", "dtype", "to", "output_dtype", "output_datatype", "layout", "keepdims", "sample_size", "batch_dims",
		"cats_int64s", "classlabels_int64s", "coefficients", "nodes_featureids", "nodes_treeids", "tree_roots", "n_targets", "new_axis", "equation", "mode",
		"start", "end", "value_ints", "order", "shape", "split", "scales", "auto_pad", "reduction", "transA", "transB", "num_scan_inputs", "k", "noop_with_empty_axes", "ceil_mode",
	}
	number := rapid.SampledFrom([]int64{-3, -1, 0, 1, 2, 3, 5, 8, 1 << 20, 1 << 62, -1 << 63})
	rapid.Check(t, func(t *rapid.T) {
		domain, op := "", rapid.SampledFrom(names).Draw(t, "operator")
		if at := strings.LastIndexByte(op, '.'); at >= 0 {
			domain, op = op[:at], op[at+1:]
		}
		n := Node{Op: op, Domain: domain}
		for range rapid.IntRange(0, 5).Draw(t, "outputs") {
			n.Outputs = append(n.Outputs, "y"+string(rune('0'+len(n.Outputs))))
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(attributes), 0, 6, rapid.ID).Draw(t, "attributes") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				n.Attributes = append(n.Attributes, IntAttribute(name, number.Draw(t, name)))
			case 1:
				n.Attributes = append(n.Attributes, IntsAttribute(name, rapid.SliceOfN(number, 0, 6).Draw(t, name)...))
			default:
				n.Attributes = append(n.Attributes, Attribute{Name: name, Kind: KindString, String: rapid.SampledFrom([]string{"", "none", "CRD", "SAME_UPPER", "ij,jk->ik", "ii", "cubic"}).Draw(t, name)})
			}
		}
		g := Graph{}
		for i := range rapid.IntRange(0, 8).Draw(t, "inputs") {
			name := string(rune('a' + i))
			kind := rapid.SampledFrom([]DataType{0, Float32, Int64, Bool, String, Float16}).Draw(t, "type")
			switch rapid.IntRange(0, 3).Draw(t, "input") {
			case 0:
				name = ""
			case 1:
				values := rapid.SliceOfN(number, 0, 5).Draw(t, "values")
				g.Initializers = append(g.Initializers, ints(name, []int64{int64(len(values))}, values...))
			default:
				v := Value{Name: name, Type: kind, Known: rapid.Bool().Draw(t, "known")}
				for range rapid.IntRange(0, 5).Draw(t, "rank") {
					v.Shape = append(v.Shape, Dim{Size: rapid.SampledFrom([]int64{0, 1, 2, 3, 6, 8, 1 << 40}).Draw(t, "size")})
				}
				g.Inputs = append(g.Inputs, v)
			}
			n.Inputs = append(n.Inputs, name)
		}
		g.Nodes = []Node{n}
		a, err := Analyze(&Model{Opsets: map[string]int64{"": 20}, Graph: g}, Settings{})
		if err != nil {
			if !errors.Is(err, ErrGraph) && !errors.Is(err, ErrSize) {
				t.Fatal(err)
			}
			return
		}
		for _, c := range a.Costs {
			if c.MACs < 0 || c.ReadBytes < 0 || c.WrittenBytes < 0 || c.ParameterBytes < 0 {
				t.Fatalf("%+v", c)
			}
		}
		if _, err := a.Characteristics(); err != nil && !errors.Is(err, ErrGraph) {
			t.Fatal(err)
		}
		a.Kernels()
	})
}

// A size beyond 64 bits is refused wherever it comes up: it must not count as nothing.
func TestCountsBeyondInt64(t *testing.T) {
	value := func(sizes ...int64) Value {
		v := Value{Name: "x", Type: Float32, Known: true}
		for _, s := range sizes {
			v.Shape = append(v.Shape, Dim{Size: s})
		}
		return v
	}
	relu := Graph{Nodes: []Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}}}
	with := func(g Graph, v Value) Graph {
		g.Inputs = []Value{v}
		return g
	}
	repeated := Graph{
		Nodes:        []Node{{Op: "Tile", Inputs: []string{"x", "times"}, Outputs: []string{"y"}}},
		Initializers: []Tensor{ints("times", []int64{2}, 1<<35, 1<<25)},
	}
	outer := Graph{
		Nodes:  []Node{{Op: "MatMul", Inputs: []string{"x", "w"}, Outputs: []string{"y"}}},
		Inputs: []Value{value(1<<22, 1<<22), {Name: "w", Type: Float32, Known: true, Shape: []Dim{{Size: 1 << 22}, {Size: 1 << 22}}}},
	}
	for name, tt := range map[string]struct {
		graph   Graph
		refused bool
	}{
		"elements":          {with(relu, value(1<<40, 1<<20, 16)), true},
		"one dimension":     {with(relu, value(1<<63-1)), true},
		"bytes":             {with(relu, value(1<<61)), true},
		"bytes of the sum":  {with(relu, value(1<<60)), true},
		"of a rule":         {with(repeated, value(4, 4)), true},
		"products":          {outer, true},
		"nothing":           {with(relu, value(1<<40, 1<<40, 0)), false},
		"the largest sizes": {with(relu, value(1<<57)), false},
	} {
		_, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: tt.graph}, Settings{})
		if errors.Is(err, ErrGraph) != tt.refused || tt.refused && !strings.Contains(err.Error(), "64 bits") {
			t.Errorf("%s: %v, want an error: %v", name, err, tt.refused)
		}
	}
}
