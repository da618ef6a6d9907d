package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// onTensors is a node whose inputs are float32 tensors of some shapes; nil is left out.
func onTensors(n Node, shapes ...[]int64) Graph {
	g := Graph{Nodes: []Node{n}, Outputs: []Value{{Name: n.Outputs[0]}}}
	for i, shape := range shapes {
		name := string(rune('a' + i))
		if shape == nil {
			name = ""
		} else {
			v := Value{Name: name, Type: Float32, Known: true}
			for _, size := range shape {
				v.Shape = append(v.Shape, Dim{Size: size})
			}
			g.Inputs = append(g.Inputs, v)
		}
		g.Nodes[0].Inputs = append(g.Nodes[0].Inputs, name)
	}
	return g
}

func microsoft(op string, attributes ...Attribute) Node {
	return Node{Op: op, Domain: "com.microsoft", Outputs: []string{"y"}, Attributes: attributes}
}

// The multiply-accumulates of operators, by their documentation.
func TestOperatorWork(t *testing.T) {
	node := func(op string, attributes ...Attribute) Node { return does(op, nil, "y", attributes...) }
	for name, tt := range map[string]struct {
		graph Graph
		class Class
		macs  int64
		shape []int64
	}{
		"attention": {onTensors(node("Attention"), []int64{1, 8, 128, 64}, []int64{1, 8, 100, 64}, []int64{1, 8, 100, 32}), ClassDense, 8 * 128 * 100 * (64 + 32), []int64{1, 8, 128, 32}},
		"attention of three axes": {onTensors(node("Attention", IntAttribute("q_num_heads", 8), IntAttribute("kv_num_heads", 2)), []int64{2, 7, 512}, []int64{2, 9, 128}, []int64{2, 9, 128}),
			ClassDense, 2 * 8 * 7 * 9 * 128, []int64{2, 7, 512}},
		"attention after earlier steps": {onTensors(node("Attention"), []int64{1, 8, 1, 64}, []int64{1, 8, 1, 64}, []int64{1, 8, 1, 64}, nil, []int64{1, 8, 99, 64}, []int64{1, 8, 99, 64}),
			ClassVector, 8 * 100 * 128, []int64{1, 8, 1, 64}},
		"grouped queries": {onTensors(microsoft("GroupQueryAttention", IntAttribute("num_heads", 8), IntAttribute("kv_num_heads", 2)), []int64{1, 1, 512}, []int64{1, 1, 128}, []int64{1, 1, 128}, []int64{1, 2, 1023, 64}, []int64{1, 2, 1023, 64}),
			ClassVector, 8 * 1024 * 128, []int64{1, 1, 512}},
		"packed queries":      {onTensors(microsoft("GroupQueryAttention", IntAttribute("num_heads", 8), IntAttribute("kv_num_heads", 2)), []int64{1, 5, 12 * 64}), ClassDense, 8 * 5 * 5 * 128, []int64{1, 5, 512}},
		"many heads":          {onTensors(microsoft("MultiHeadAttention", IntAttribute("num_heads", 8)), []int64{1, 128, 512}, []int64{1, 100, 512}, []int64{1, 100, 512}), ClassDense, 8 * 128 * 100 * 128, []int64{1, 128, 512}},
		"many heads, packed":  {onTensors(microsoft("MultiHeadAttention", IntAttribute("num_heads", 8)), []int64{1, 128, 8, 3, 64}), ClassDense, 8 * 128 * 128 * 128, []int64{1, 128, 512}},
		"projected attention": {onTensors(microsoft("Attention", IntAttribute("num_heads", 8)), []int64{1, 128, 512}, []int64{512, 3 * 512}), ClassDense, 128*512*3*512 + 2*128*128*512, []int64{1, 128, 512}},
		"quantised LSTM":      {onTensors(microsoft("DynamicQuantizeLSTM", IntAttribute("hidden_size", 128)), []int64{200, 1, 64}, []int64{1, 64, 512}, []int64{1, 128, 512}), ClassRecurrent, 200 * (64 + 128) * 512, []int64{200, 1, 1, 128}},
		"quantised product":   {onTensors(microsoft("DynamicQuantizeMatMul"), []int64{64, 100}, []int64{100, 7}), ClassDense, 64 * 100 * 7, []int64{64, 7}},
		"product of 4 bits":   {onTensors(microsoft("MatMulNBits", IntAttribute("K", 1024), IntAttribute("N", 100)), []int64{1, 64, 1024}), ClassDense, 64 * 1024 * 100, []int64{1, 64, 100}},
		"deformed":            {onTensors(node("DeformConv", IntsAttribute("pads", 1, 1, 1, 1)), []int64{1, 16, 8, 8}, []int64{32, 16, 3, 3}, []int64{1, 18, 8, 8}), ClassDepthwise, 32 * 16 * 9 * 64, []int64{1, 32, 8, 8}},
		"signal":              {onTensors(node("Conv"), []int64{1, 4, 100}, []int64{8, 4, 5}), ClassConv1D, 8 * 4 * 5 * 96, []int64{1, 8, 96}},
		"volume":              {onTensors(node("Conv"), []int64{1, 4, 6, 6, 6}, []int64{8, 4, 3, 3, 3}), ClassConv3D, 8 * 4 * 27 * 64, []int64{1, 8, 4, 4, 4}},
		"depthwise volume":    {onTensors(node("Conv", IntAttribute("group", 4)), []int64{1, 4, 6, 6, 6}, []int64{4, 1, 3, 3, 3}), ClassDepthwiseND, 4 * 27 * 64, []int64{1, 4, 4, 4, 4}},
		"pointwise volume":    {onTensors(node("Conv"), []int64{1, 4, 6, 6, 6}, []int64{8, 4, 1, 1, 1}), ClassConv, 8 * 4 * 216, []int64{1, 8, 6, 6, 6}},
		"transposed signal":   {onTensors(node("ConvTranspose"), []int64{1, 4, 10}, []int64{4, 8, 3}), ClassConv1D, 8 * 3 * 40, []int64{1, 8, 12}},
		"causal":              {onTensors(node("CausalConvWithState"), []int64{1, 16, 100}, []int64{16, 1, 4}), ClassDepthwise, 4 * 16 * 100, []int64{1, 16, 100}},
		"linear classifier": {onTensors(Node{Op: "LinearClassifier", Domain: "ai.onnx.ml", Outputs: []string{"y", "z"}, Attributes: []Attribute{{Name: "coefficients", Kind: KindFloats, Floats: make([]float32, 30)}, IntsAttribute("classlabels_ints", 0, 1, 2)}},
			[]int64{5, 10}), ClassDense, 5 * 30, []int64{5}},
	} {
		a, err := Analyze(&Model{Opsets: map[string]int64{"": 23, "com.microsoft": 1}, Graph: tt.graph}, Settings{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c := a.Costs[0]
		if c.Class != tt.class || c.MACs != tt.macs || !slices.Equal(a.Tensors["y"].Shape, tt.shape) {
			t.Errorf("%s: %s, %d multiply-accumulates, %v; want %s, %d, %v", name, c.Class, c.MACs, a.Tensors["y"].Shape, tt.class, tt.macs, tt.shape)
		}
	}
}

// Results beyond the first have shapes too: optimised graphs go on from them.
func TestFurtherResults(t *testing.T) {
	for name, tt := range map[string]struct {
		node   Node
		shapes [][]int64
		want   [][]int64
	}{
		"sum of a skipped normalization": {microsoft("SkipLayerNormalization"), [][]int64{{1, 7, 64}, {1, 7, 64}, {64}}, [][]int64{{1, 7, 64}, {1, 7, 1}, {1, 7, 1}, {1, 7, 64}}},
		"keys and values so far":         {microsoft("GroupQueryAttention", IntAttribute("num_heads", 8), IntAttribute("kv_num_heads", 2)), [][]int64{{1, 3, 512}, {1, 3, 128}, {1, 3, 128}, {1, 2, 5, 64}, {1, 2, 5, 64}}, [][]int64{{1, 3, 512}, {1, 2, 8, 64}, {1, 2, 8, 64}}},
		"projected keys so far":          {microsoft("Attention", IntAttribute("num_heads", 8)), [][]int64{{1, 3, 512}, {512, 1536}, nil, nil, {2, 1, 8, 5, 64}}, [][]int64{{1, 3, 512}, {2, 1, 8, 8, 64}}},
		"states of a quantised LSTM":     {microsoft("DynamicQuantizeLSTM"), [][]int64{{9, 2, 64}, {1, 64, 512}, {1, 128, 512}}, [][]int64{{9, 1, 2, 128}, {1, 2, 128}, {1, 2, 128}}},
	} {
		tt.node.Outputs = nil
		for i := range tt.want {
			tt.node.Outputs = append(tt.node.Outputs, string(rune('p'+i)))
		}
		a, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: onTensors(tt.node, tt.shapes...)}, Settings{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, output := range tt.node.Outputs {
			if got := a.Tensors[output]; !got.Known || !slices.Equal(got.Shape, tt.want[i]) {
				t.Errorf("%s: result %d is %v, want %v", name, i, got.Shape, tt.want[i])
			}
		}
	}
}

// An operator that quantises its input multiplies in the type of its weights.
func TestPrecisionOfWeights(t *testing.T) {
	for _, op := range []string{"DynamicQuantizeLSTM", "DynamicQuantizeMatMul"} {
		g := onTensors(microsoft(op), []int64{9, 2, 64}, []int64{1, 64, 512}, []int64{1, 128, 512})
		g.Inputs[1].Type = Int8
		a, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: g}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if k := a.Kernels(); len(k) != 1 || k[0].Precision != "int8" {
			t.Errorf("%s: %+v", op, k)
		}
	}
}

// A size that is the value of an input is named, and can be given.
func TestValuesOfInputs(t *testing.T) {
	g := Graph{
		Inputs:  []Value{image("x", Dim{Size: 1}, Dim{Size: 3}, Dim{Size: 8}, Dim{Size: 8}), {Name: "size", Type: Int64, Known: true, Shape: []Dim{{Size: 2}}}},
		Nodes:   []Node{does("Concat", []string{"head", "size"}, "to", whole1("axis", 0)), does("Resize", []string{"x", "", "", "to"}, "y")},
		Outputs: []Value{{Name: "y"}}, Initializers: []Tensor{ints("head", []int64{2}, 1, 3)},
	}
	a := analyzed(t, g, nil)
	if doubts := a.UncountedWarnings(); len(doubts) != 1 || !errors.Is(doubts[0], ErrUnshaped) || !strings.Contains(doubts[0].Error(), "after Resize (1), by the value of input size (--size NAME=VALUE)") {
		t.Errorf("%v", doubts)
	}
	for text, want := range map[string][]int64{"size=16,20": {1, 3, 16, 20}, "size=9": {1, 3, 9, 9}} {
		var s Settings
		if err := s.ParseValues([]string{text}); err != nil {
			t.Fatal(err)
		}
		a, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: g}, s)
		if err != nil || !slices.Equal(a.Tensors["y"].Shape, want) || a.UncountedWarnings() != nil {
			t.Errorf("%s: %v, %v", text, a, err)
		}
	}
	for _, text := range []string{"size=1,2,3", "nosuch=4"} {
		var s Settings
		if err := s.ParseValues([]string{text}); err != nil {
			t.Fatal(err)
		}
		if _, err := Analyze(&Model{Graph: g}, s); !errors.Is(err, ErrValue) {
			t.Errorf("%s: %v", text, err)
		}
	}
	var s Settings
	for _, text := range []string{"size", "=4", "size=many"} {
		if err := s.ParseValues([]string{text}); !errors.Is(err, ErrValue) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Open dimensions are guessed by their names; only batches are no reason for doubt.
func TestGuesses(t *testing.T) {
	for name, want := range map[string]struct {
		size    int64
		assumed bool
	}{
		"batch": {1, false}, "batch_size": {1, false}, "N": {1, true}, "num_boxes": {1, true}, "num_tokens": {128, true}, "height": {224, true}, "image_width": {224, true}, "sequence_length": {128, true},
		"num_samples": {16000, true}, "frames": {100, true}, "channels": {3, true}, "whatever": {1, true},
	} {
		g := Graph{Inputs: []Value{image("x", Dim{Size: 5}, Dim{Size: -1, Name: name})}, Nodes: []Node{does("Relu", []string{"x"}, "y")}, Outputs: []Value{{Name: "y"}}}
		a := analyzed(t, g, nil)
		if a.OpenDimensions[0].Size != want.size || (len(a.AssumedSizes()) > 0) != want.assumed {
			t.Errorf("%s: %+v, assumed %v", name, a.OpenDimensions[0], a.AssumedSizes())
		}
		if a = analyzed(t, g, map[string]int64{name: 7}); len(a.AssumedSizes()) > 0 || !slices.Equal(a.Tensors["y"].Shape, []int64{5, 7}) {
			t.Errorf("%s given: %+v", name, a.OpenDimensions)
		}
	}
}

// A batch is the first axis, unless its name says so: the points of a cloud are N, too.
func TestFirstAxis(t *testing.T) {
	for name, assumed := range map[string]bool{"": false, "N": false, "b": false, "batch": false, "s0": false, "num_images": false, "num_boxes": true, "points": true, "num_nodes": true} {
		g := Graph{Inputs: []Value{image("x", Dim{Size: -1, Name: name}, Dim{Size: 5})}, Nodes: []Node{does("Relu", []string{"x"}, "y")}, Outputs: []Value{{Name: "y"}}}
		if got := analyzed(t, g, nil).AssumedSizes(); len(got) > 0 != assumed {
			t.Errorf("%q: assumed %v", name, got)
		}
	}
}

// Subnormal weights are counted with the multiplications that they take part in, and many are
// reported; the cost stays known.
func TestSubnormalWeights(t *testing.T) {
	for name, tt := range map[string]struct {
		weights []float32
		uses    float64
	}{"usual": {[]float32{1, -1e-37, 0, 2}, 0}, "subnormal": {[]float32{1, 1e-39, -1e-40, 2}, 2 * 3}} {
		weights := reals("w", tt.weights...)
		weights.Dims = []int64{4, 1}
		g := Graph{Inputs: []Value{image("x", Dim{Size: 3}, Dim{Size: 4})}, Nodes: []Node{does("MatMul", []string{"x", "w"}, "y")}, Outputs: []Value{{Name: "y"}}, Initializers: []Tensor{weights}}
		path := filepath.Join(t.TempDir(), "m.onnx")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(f, &Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: g}, nil); err != nil {
			t.Fatal(err)
		}
		f.Close()
		m, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Analyze(m, Settings{})
		if err == nil {
			err = a.CheckWeights(path)
		}
		if err != nil || a.SubnormalUses != tt.uses || (len(a.Warnings) > 0) != (tt.uses > 0) || len(a.UncountedWarnings()) > 0 {
			t.Errorf("%s: %v uses, %v, %v", name, a.SubnormalUses, a.Warnings, err)
		}
	}
}

// Shapes follow from the stated result, from an ellipsis, from the types of sequences and
// from values of inputs.
func TestFurtherShapes(t *testing.T) {
	vector := func(name string, kind DataType, size int64) Value {
		return Value{Name: name, Type: kind, Known: true, Shape: []Dim{{Size: size}}}
	}
	element := image("", Dim{Size: 3}, Dim{Size: 4})
	inputs := []Value{
		image("x", Dim{Size: 2}, Dim{Size: 3}, Dim{Size: 3}), vector("n", Int64, 1), vector("keep", Bool, 3), vector("twice", Float32, 4),
		{Name: "list", Element: &element}, {Name: "perhaps", Optional: &element}, vector("place", Int64, 1),
	}
	half := Tensor{Name: "half", Type: Float32, Dims: []int64{}, Data: []byte{0, 0, 0, 63}}
	g := Graph{Inputs: inputs, Initializers: []Tensor{half}, Nodes: []Node{
		does("ReduceSum", []string{"x", "n"}, "sum"), does("Mul", []string{"half", "sum"}, "halved"), does("Sqrt", []string{"halved"}, "root"),
		does("Einsum", []string{"x"}, "diagonal", Attribute{Name: "equation", Kind: KindString, String: "...ii->...i"}),
		does("Compress", []string{"x", "keep"}, "kept", whole1("axis", 1)), does("Unique", []string{"twice"}, "once"),
		does("SequenceInsert", []string{"list", "perhaps"}, "longer"), does("SequenceAt", []string{"longer", "place"}, "third"),
	}, Outputs: []Value{{Name: "root", Type: Float32, Known: true, Shape: []Dim{{Size: 2}, {Size: 1}, {Size: 3}}}, {Name: "diagonal"}, {Name: "kept"}, {Name: "once"}, {Name: "third"}}}
	a, err := Analyze(&Model{Opsets: map[string]int64{"": 18}, Graph: g}, Settings{Values: map[string][]float64{"keep": {1, 0, 1}, "twice": {5, 7, 5, 7}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]int64{"sum": {2, 1, 3}, "halved": {2, 1, 3}, "diagonal": {2, 3}, "kept": {2, 2, 3}, "once": {2}, "third": {3, 4}} {
		if s := a.Tensors[name]; !s.Known || !slices.Equal(s.Shape, want) {
			t.Errorf("%s: %+v, want %v", name, s, want)
		}
	}
	if doubts := a.UncountedWarnings(); doubts != nil {
		t.Error(doubts)
	}
}

// A loop that makes a sequence longer leaves its length unknown, and that of everything
// joinTensors from it.
func TestSequenceOfLoop(t *testing.T) {
	body := Graph{Inputs: []Value{{Name: "i"}, {Name: "c"}, {Name: "s"}}, Nodes: []Node{
		does("Identity", []string{"c"}, "on"), does("SequenceInsert", []string{"s", "x"}, "more"),
	}, Outputs: []Value{{Name: "on"}, {Name: "more"}}}
	g := Graph{Inputs: []Value{image("x", Dim{Size: 3})}, Initializers: []Tensor{ints("trips", []int64{}, 5), {Name: "yes", Type: Bool, Dims: []int64{}, Data: []byte{1}}}, Nodes: []Node{
		does("SequenceEmpty", nil, "none"), does("Loop", []string{"trips", "yes", "none"}, "all", Attribute{Name: "body", Kind: KindGraph, Graphs: []Graph{body}}),
		does("ConcatFromSequence", []string{"all"}, "y", whole1("axis", 0)),
	}, Outputs: []Value{{Name: "y"}}}
	a := analyzed(t, g, nil)
	if s := a.Tensors["y"]; s.Known || len(a.UncountedWarnings()) != 1 || !strings.Contains(a.UncountedWarnings()[0].Error(), "1 tensor, after ConcatFromSequence (1)") {
		t.Errorf("%+v, %v", s, a.UncountedWarnings())
	}
}
