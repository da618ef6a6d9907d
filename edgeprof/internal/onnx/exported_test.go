package onnx

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// ints and reals are constants as exporters write them.
func ints(name string, shape []int64, values ...int64) Tensor {
	t := Tensor{Name: name, Type: Int64, Dims: shape}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint64(t.Data, uint64(v))
	}
	return t
}

func reals(name string, values ...float32) Tensor {
	t := Tensor{Name: name, Type: Float32, Dims: []int64{int64(len(values))}}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
	}
	return t
}

func does(op string, inputs []string, output string, attributes ...Attribute) Node {
	return Node{Name: output, Op: op, Inputs: inputs, Outputs: []string{output}, Attributes: attributes}
}

func whole1(name string, v int64) Attribute    { return Attribute{Name: name, Kind: KindInt, Int: v} }
func wholes(name string, v ...int64) Attribute { return Attribute{Name: name, Kind: KindInts, Ints: v} }
func inner(name string, graph Graph) Attribute {
	return Attribute{Name: name, Kind: KindGraph, Graphs: []Graph{graph}}
}
func tensor(name string, value Tensor) Attribute {
	return Attribute{Name: name, Kind: KindTensor, Tensor: &value}
}

func image(name string, dims ...Dim) Value {
	return Value{Name: name, Type: Float32, Known: true, Shape: dims}
}

func analyzed(t *testing.T, g Graph, sizes map[string]int64) *Analysis {
	t.Helper()
	a, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: g}, Settings{Sizes: sizes})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// torch writes paddings as a ConstantOfShape that is joined, turned over, sliced
// in two dimensions and transposed; detectors write the sizes of a Resize by the
// shape of another tensor, or by scales.
func TestShapesAsExported(t *testing.T) {
	x := image("x", Dim{Size: -1, Name: "batch"}, Dim{Size: 3}, Dim{Size: -1, Name: "?"}, Dim{Size: -1})
	g := Graph{
		Inputs: []Value{x},
		Initializers: []Tensor{
			ints("four", []int64{1}, 4), ints("pads", []int64{4}, 1, 2, 3, 4), ints("pairs", []int64{2}, -1, 2), ints("last", []int64{1}, -1),
			ints("first", []int64{1}, math.MinInt64), ints("zero", []int64{1}, 0), ints("flat", []int64{1}, -1), reals("scales", 1, 1, 2, 2.5), ints("two", []int64{1}, 2), ints("end", []int64{1}, 4),
		},
		Nodes: []Node{
			does("ConstantOfShape", []string{"four"}, "zeros", tensor("value", ints("", []int64{1}, 0))),
			does("Concat", []string{"pads", "zeros"}, "all", whole1("axis", 0)),
			does("Reshape", []string{"all", "pairs"}, "table"),
			does("Slice", []string{"table", "last", "first", "zero", "last"}, "turned"),
			does("Transpose", []string{"turned"}, "sides", wholes("perm", 1, 0)),
			does("Reshape", []string{"sides", "flat"}, "line"),
			does("Pad", []string{"x", "line"}, "padded"),
			does("Resize", []string{"x", "", "scales"}, "grown"),
			does("Shape", []string{"x"}, "shape"),
			does("Slice", []string{"shape", "two", "end"}, "hw"),
			does("Add", []string{"hw", "hw"}, "double"),
			does("Slice", []string{"shape", "zero", "two"}, "nc"),
			does("Concat", []string{"nc", "double"}, "size", whole1("axis", 0)),
			does("Resize", []string{"x", "", "", "size"}, "doubled"),
		},
		Values: []Value{image("padded", Dim{Size: -1, Name: "unk__1"}, Dim{Size: 3}, Dim{Size: -1}, Dim{Size: -1})},
	}
	a := analyzed(t, g, map[string]int64{"batch": 2, "x:2": 10, "x:3": 20})
	for name, want := range map[string][]int64{
		"padded": {2, 3, 10 + 3 + 4, 20 + 1 + 2}, // the pairs from the last axis on: 1 and 2, 3 and 4
		"grown":  {2, 3, 20, 50}, "doubled": {2, 3, 20, 40},
	} {
		if got := a.Tensors[name]; !got.Known || !slices.Equal(got.Shape, want) {
			t.Errorf("%s: %v, want %v", name, got.Shape, want)
		}
	}
	if len(a.OpenDimensions) != 3 || a.OpenDimensions[0] != (OpenDimension{"x", 0, "batch", 2, true, true}) || a.OpenDimensions[1] != (OpenDimension{"x", 2, "", 10, true, false}) {
		t.Errorf("open %v", a.OpenDimensions)
	}
	if a = analyzed(t, g, nil); !slices.Equal(a.Tensors["grown"].Shape, []int64{1, 3, 448, 560}) || a.OpenDimensions[2].Given || !errors.Is(a.Warnings[len(a.Warnings)-1], ErrDynamic) {
		t.Errorf("with nothing given: %v of %v", a.Tensors["grown"].Shape, a.OpenDimensions)
	}
	if _, err := Analyze(&Model{Graph: g}, Settings{Sizes: map[string]int64{"nosuch": 4}}); !errors.Is(err, ErrDimension) {
		t.Errorf("an unknown name: %v", err)
	}
}

// A stated shape with an open dimension is not taken for one of size 1.
func TestStatedShapeStaysOpen(t *testing.T) {
	g := Graph{
		Inputs: []Value{image("x", Dim{Size: -1, Name: "batch"}, Dim{Size: 8})},
		Nodes:  []Node{{Op: "Mystery", Domain: "com.example", Inputs: []string{"x"}, Outputs: []string{"y", "z", "w"}}},
		Values: []Value{image("y", Dim{Size: -1, Name: "other"}), image("z", Dim{Size: -1}, Dim{Size: 8}), image("w", Dim{Size: -1, Name: "batch"}, Dim{Size: 8})},
	}
	a := analyzed(t, g, map[string]int64{"batch": 3})
	if a.Tensors["y"].Known || a.Tensors["z"].Known || !slices.Equal(a.Tensors["w"].Shape, []int64{3, 8}) {
		t.Errorf("%+v", a.Tensors)
	}
	if len(a.UncountedWarnings()) == 0 || !slices.ContainsFunc(a.Warnings, func(w error) bool { return errors.Is(w, ErrOperator) }) {
		t.Errorf("warnings %v", a.Warnings)
	}
	if a = analyzed(t, g, map[string]int64{"other": 5}); !slices.Equal(a.Tensors["y"].Shape, []int64{5}) {
		t.Errorf("other given: %v", a.Tensors["y"])
	}
}

// convolved is a body of one convolution of 3 x 3 x 3 x 4 weights in a Constant.
func convolved(image string) Graph {
	return Graph{
		Nodes: []Node{
			does("Constant", nil, image+"-w", tensor("value", Tensor{Type: Float32, Dims: []int64{4, 3, 3, 3}})),
			does("Conv", []string{image, image + "-w"}, image+"-y"),
		},
		Outputs: []Value{{Name: image + "-y"}},
	}
}

const oneConv = 4 * 3 * 3 * 3 * 6 * 6 // multiply-accumulates on 8 x 8

// Bodies cost what they contain.
func TestControlFlow(t *testing.T) {
	x := image("x", Dim{Size: 1}, Dim{Size: 3}, Dim{Size: 8}, Dim{Size: 8})
	cheap := Graph{Nodes: []Node{does("Identity", []string{"x"}, "same")}, Outputs: []Value{{Name: "same"}}}
	loop := Graph{
		Inputs: []Value{{Name: "i"}, {Name: "go"}}, Outputs: []Value{{Name: "go"}, {Name: "x-y"}}, Nodes: convolved("x").Nodes,
	}
	scan := Graph{Inputs: []Value{{Name: "part"}}, Nodes: convolved("part").Nodes, Outputs: []Value{{Name: "part-y"}}}
	for name, tt := range map[string]struct {
		graph  Graph
		macs   int64
		shape  []int64
		doubt  error
		sizes  map[string]int64
		unsure bool
	}{
		"if, dearer": {Graph{Inputs: []Value{x, {Name: "c", Type: Bool, Known: true}}, Nodes: []Node{does("If", []string{"c"}, "out", inner("then_branch", cheap), inner("else_branch", convolved("x")))}},
			oneConv, []int64{1, 4, 6, 6}, ErrBranch, nil, false},
		"if, known": {Graph{Inputs: []Value{x}, Initializers: []Tensor{ints("four", []int64{}, 4)}, Nodes: []Node{
			does("Shape", []string{"x"}, "s"), does("Size", []string{"s"}, "rank"), does("Equal", []string{"rank", "four"}, "c"),
			does("If", []string{"c"}, "out", inner("then_branch", cheap), inner("else_branch", convolved("x")))}},
			0, []int64{1, 3, 8, 8}, nil, nil, false},
		"loop": {Graph{Inputs: []Value{x}, Initializers: []Tensor{ints("n", []int64{}, 5), {Name: "c", Type: Bool, Data: []byte{1}}}, Nodes: []Node{does("Loop", []string{"n", "c"}, "out", inner("body", loop))}},
			5 * oneConv, []int64{5, 1, 4, 6, 6}, nil, nil, false},
		"loop, unknown": {Graph{Inputs: []Value{x, {Name: "n", Type: Int64, Known: true}}, Nodes: []Node{does("Loop", []string{"n", ""}, "out", inner("body", loop))}},
			oneConv, nil, ErrTrips, nil, true},
		"loop, given": {Graph{Inputs: []Value{x, {Name: "n", Type: Int64, Known: true}}, Nodes: []Node{does("Loop", []string{"n", ""}, "out", inner("body", loop))}},
			7 * oneConv, []int64{7, 1, 4, 6, 6}, nil, map[string]int64{"out:trips": 7}, false},
		"scan": {Graph{Inputs: []Value{image("xs", Dim{Size: 9}, Dim{Size: 1}, Dim{Size: 3}, Dim{Size: 8}, Dim{Size: 8})}, Nodes: []Node{does("Scan", []string{"xs"}, "out", inner("body", scan), whole1("num_scan_inputs", 1))}},
			9 * oneConv, []int64{9, 1, 4, 6, 6}, nil, nil, false},
	} {
		tt.graph.Outputs = []Value{{Name: "out"}}
		a := analyzed(t, tt.graph, tt.sizes)
		c, err := a.Characteristics()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.MACs.Total != tt.macs || !slices.Equal(a.Tensors["out"].Shape, tt.shape) {
			t.Errorf("%s: %d multiply-accumulates and %v, want %d and %v", name, c.MACs.Total, a.Tensors["out"].Shape, tt.macs, tt.shape)
		}
		if tt.doubt != nil && !slices.ContainsFunc(a.Warnings, func(w error) bool { return errors.Is(w, tt.doubt) }) || (len(a.UncountedWarnings()) > 0) != tt.unsure {
			t.Errorf("%s: warnings %v, doubtful %v", name, a.Warnings, a.UncountedWarnings())
		}
		if why := a.InputDecides(); (why != nil) != (tt.doubt != nil || tt.sizes != nil) {
			t.Errorf("%s: inputs decide the work: %v", name, why)
		}
		if sum := sumOf(a.Kernels()); sum != tt.macs {
			t.Errorf("%s: kernels of %d multiply-accumulates, want %d", name, sum, tt.macs)
		}
		if tt.macs > 0 && c.ConvLayers != 1 {
			t.Errorf("%s: %d convolutions", name, c.ConvLayers)
		}
	}
}

// The value of an input decides how many values a node returns, unless it is given.
func TestInputDecides(t *testing.T) {
	g := Graph{
		Inputs:  []Value{image("x", Dim{Size: 8}), {Name: "k", Type: Int64, Known: true, Shape: []Dim{{Size: 1}}}},
		Nodes:   []Node{{Op: "TopK", Inputs: []string{"x", "k"}, Outputs: []string{"values", "places"}}},
		Outputs: []Value{{Name: "values"}},
	}
	if why := analyzed(t, g, nil).InputDecides(); !errors.Is(why, ErrUnshaped) {
		t.Errorf("k is an input: %v", why)
	}
	g.Inputs = g.Inputs[:1]
	g.Initializers = []Tensor{ints("k", []int64{1}, 3)}
	if why := analyzed(t, g, nil).InputDecides(); why != nil {
		t.Errorf("k is in the file: %v", why)
	}
}

func sumOf(kernels []Kernel) (macs int64) {
	for _, k := range kernels {
		macs += k.MACs * k.Times
	}
	return macs
}

// Weights count wherever they stand: in Constant, ConstantOfShape or quantized.
func TestConstantWeights(t *testing.T) {
	x := image("x", Dim{Size: 1}, Dim{Size: 3}, Dim{Size: 8}, Dim{Size: 8})
	for name, weights := range map[string]Node{
		"Constant":         does("Constant", nil, "w", tensor("value", Tensor{Type: Float32, Dims: []int64{4, 3, 3, 3}})),
		"ConstantOfShape":  does("ConstantOfShape", []string{"shape"}, "w"),
		"DequantizeLinear": does("DequantizeLinear", []string{"q", "scale"}, "w"),
	} {
		g := Graph{Inputs: []Value{x}, Outputs: []Value{{Name: "y"}}, Nodes: []Node{weights, does("Conv", []string{"x", "w"}, "y")}}
		want := int64(108)
		switch name {
		case "ConstantOfShape":
			g.Initializers = []Tensor{ints("shape", []int64{4}, 4, 3, 3, 3)}
		case "DequantizeLinear":
			g.Initializers = []Tensor{{Name: "q", Type: Int8, Dims: []int64{4, 3, 3, 3}}, {Name: "scale", Type: Float32, Dims: []int64{4}}}
			want += 4
		}
		c, err := analyzed(t, g, nil).Characteristics()
		if err != nil || c.TotalParameters != want || c.ConvLayers != 1 || c.FilterDetails != 4 || c.MACs.Total != oneConv {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// Products by other names.
func TestProducts(t *testing.T) {
	a, b := image("a", Dim{Size: 2}, Dim{Size: 5}, Dim{Size: 7}), image("b", Dim{Size: 7}, Dim{Size: 9})
	for op, n := range map[string]Node{
		"Einsum":      does("Einsum", []string{"a", "b"}, "y", Attribute{Name: "equation", Kind: KindString, String: "bij,jk->bik"}),
		"FusedMatMul": {Op: "FusedMatMul", Domain: "com.microsoft", Inputs: []string{"a", "b"}, Outputs: []string{"y"}},
		"MatMulNBits": {Op: "MatMulNBits", Domain: "com.microsoft", Inputs: []string{"a", "b"}, Outputs: []string{"y"}, Attributes: []Attribute{whole1("K", 7), whole1("N", 9)}},
	} {
		an := analyzed(t, Graph{Inputs: []Value{a, b}, Outputs: []Value{{Name: "y"}}, Nodes: []Node{n}}, nil)
		c, err := an.Characteristics()
		if err != nil || c.MACs.Dense != 2*5*7*9 || !slices.Equal(an.Tensors["y"].Shape, []int64{2, 5, 9}) || len(an.Warnings) > 0 {
			t.Errorf("%s: %+v %v, %v, %v", op, c.MACs, an.Tensors["y"].Shape, an.Warnings, err)
		}
	}
}

// characterize counts a model as it stands.
func characterize(m *Model, s Settings) (*Characteristics, error) {
	a, err := Analyze(m, s)
	if err != nil {
		return nil, err
	}
	return a.Characteristics()
}

// A while loop as tf2onnx writes it counts in its condition: the largest count there is, and two
// counters that it carries. Its number of iterations and the shapes of its results are known.
func TestWhileLoop(t *testing.T) {
	scalar := func(name string, kind DataType) Value {
		return Value{Name: name, Type: kind, Known: true, Shape: []Dim{}}
	}
	row := Value{Name: "state", Type: Float32, Known: true, Shape: []Dim{{Size: 1}, {Size: 8}}}
	body := Graph{
		Name:   "body",
		Inputs: []Value{scalar("iter", Int64), scalar("cond", Bool), scalar("i", Int64), row},
		Nodes: []Node{
			does("Add", []string{"i", "one"}, "next"), does("Tanh", []string{"state"}, "after"),
			does("Less", []string{"next", "limit"}, "below"), does("Less", []string{"next", "many"}, "few"), does("And", []string{"below", "few"}, "go"),
		},
		Outputs:      []Value{scalar("go", Bool), scalar("next", Int64), {Name: "after"}, {Name: "after"}},
		Initializers: []Tensor{ints("one", []int64{}, 1), ints("many", []int64{}, 1000)},
	}
	for name, tt := range map[string]struct {
		limit int64
		trips int64
	}{"ten": {10, 10}, "at once": {0, 1}} {
		g := Graph{
			Inputs:       []Value{{Name: "x", Type: Float32, Known: true, Shape: row.Shape}},
			Initializers: []Tensor{ints("most", []int64{}, 1<<62), ints("limit", []int64{}, tt.limit), ints("zero", []int64{}, 0), {Name: "yes", Type: Bool, Dims: []int64{}, Stored: 1, Data: []byte{1}}},
			Nodes: []Node{{
				Name: "while", Op: "Loop", Inputs: []string{"most", "yes", "zero", "x"}, Outputs: []string{"i", "last", "all"},
				Attributes: []Attribute{{Name: "body", Kind: KindGraph, Graphs: []Graph{body}}},
			}},
			Outputs: []Value{{Name: "all"}},
		}
		a := analyzed(t, g, nil)
		if got := a.Tensors["all"]; !got.Known || !slices.Equal(got.Shape, []int64{tt.trips, 1, 8}) || len(a.UncountedWarnings()) > 0 {
			t.Errorf("%s: %v, %v", name, got, a.Warnings)
		}
	}
}

// A condition that is a constant, or that is handed on, ends a loop after the first iteration or
// never, however many there are.
func TestConstantCondition(t *testing.T) {
	scalar := func(name string, kind DataType) Value {
		return Value{Name: name, Type: kind, Known: true, Shape: []Dim{}}
	}
	row := []Dim{{Size: 1}, {Size: 8}}
	for name, tt := range map[string]struct {
		most, trips int64
		value       byte
		next        Node
	}{
		"false":                {7, 1, 0, does("Identity", []string{"constant"}, "go")},
		"true":                 {7, 7, 1, does("Identity", []string{"constant"}, "go")},
		"true for long":        {20000, 20000, 1, does("Identity", []string{"constant"}, "go")},
		"handed on":            {7, 7, 0, does("Identity", []string{"cond"}, "go")},
		"handed on for longer": {20000, 20000, 0, does("Identity", []string{"cond"}, "go")},
	} {
		body := Graph{
			Name:         "body",
			Inputs:       []Value{scalar("iter", Int64), scalar("cond", Bool), {Name: "state", Type: Float32, Known: true, Shape: row}},
			Nodes:        []Node{tt.next, does("Tanh", []string{"state"}, "after")},
			Outputs:      []Value{scalar("go", Bool), {Name: "after"}, {Name: "after"}},
			Initializers: []Tensor{{Name: "constant", Type: Bool, Dims: []int64{}, Stored: 1, Data: []byte{tt.value}}},
		}
		g := Graph{
			Inputs:       []Value{{Name: "x", Type: Float32, Known: true, Shape: row}},
			Initializers: []Tensor{ints("most", []int64{}, tt.most), {Name: "yes", Type: Bool, Dims: []int64{}, Stored: 1, Data: []byte{1}}},
			Nodes: []Node{{
				Name: "for", Op: "Loop", Inputs: []string{"most", "yes", "x"}, Outputs: []string{"last", "all"},
				Attributes: []Attribute{{Name: "body", Kind: KindGraph, Graphs: []Graph{body}}},
			}},
			Outputs: []Value{{Name: "all"}},
		}
		a := analyzed(t, g, nil)
		if got := a.Tensors["all"]; !got.Known || !slices.Equal(got.Shape, []int64{tt.trips, 1, 8}) || len(a.UncountedWarnings()) > 0 {
			t.Errorf("%s: %v, %v", name, got, a.Warnings)
		}
	}
}
