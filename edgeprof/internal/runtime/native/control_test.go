package native

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

func tensorOf(name string, kind onnx.DataType, shape ...int64) onnx.Value {
	v := onnx.Value{Name: name, Type: kind, Known: true}
	for _, n := range shape {
		v.Shape = append(v.Shape, onnx.Dim{Size: n})
	}
	return v
}

func nodeOf(op string, inputs []string, output string, attributes ...onnx.Attribute) onnx.Node {
	return onnx.Node{Op: op, Name: op, Inputs: inputs, Outputs: strings.Fields(output), Attributes: attributes}
}

func bodyOf(name string, g onnx.Graph) onnx.Attribute {
	return onnx.Attribute{Name: name, Kind: onnx.KindGraph, Graphs: []onnx.Graph{g}}
}

// outputs of a graph whose inputs are given in order.
func outputs(t *testing.T, g onnx.Graph, inputs ...[]float32) (map[string]runtime.Tensor, error) {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.Write(&b, &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: g}, nil); err != nil {
		t.Fatal(err)
	}
	file := bytes.NewReader(b.Bytes())
	m, err := onnx.Read(file, int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(m, file, onnx.Settings{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]runtime.Tensor{}
	for i, v := range g.Inputs {
		shape := s.Inputs()[v.Name]
		in[v.Name] = runtime.Tensor{Shape: shape, Data: inputs[i]}
	}
	return s.Run(t.Context(), in)
}

// A branch sees the tensors around it, which live as long as it may need them.
func TestIf(t *testing.T) {
	x, c := tensorOf("x", onnx.Float32, 2), tensorOf("c", onnx.Bool)
	then := onnx.Graph{Name: "then", Nodes: []onnx.Node{nodeOf("Add", []string{"y", "x"}, "a")}, Outputs: []onnx.Value{tensorOf("a", onnx.Float32, 2)}}
	otherwise := onnx.Graph{Name: "else", Outputs: []onnx.Value{tensorOf("y", onnx.Float32, 2)}}
	g := onnx.Graph{
		Name: "g", Inputs: []onnx.Value{c, x}, Outputs: []onnx.Value{tensorOf("out", onnx.Float32, 2)},
		Nodes: []onnx.Node{nodeOf("Neg", []string{"x"}, "y"), nodeOf("Neg", []string{"y"}, "z"), nodeOf("If", []string{"c"}, "r", bodyOf("then_branch", then), bodyOf("else_branch", otherwise)), nodeOf("Add", []string{"r", "z"}, "out")},
	}
	for condition, want := range map[float32][]float32{1: {1, 2}, 0: {0, 0}} {
		got, err := outputs(t, g, []float32{condition}, []float32{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got["out"].Data); diff != "" {
			t.Errorf("condition %v: %s", condition, diff)
		}
	}
}

// A loop carries a sum, collects it at each trip and ends when its condition does.
func TestLoop(t *testing.T) {
	scalar := func(name string, kind onnx.DataType) onnx.Value { return tensorOf(name, kind) }
	body := onnx.Graph{
		Name: "body", Inputs: []onnx.Value{scalar("i", onnx.Int64), scalar("go", onnx.Bool), tensorOf("sum", onnx.Float32, 2)},
		Nodes:   []onnx.Node{nodeOf("Add", []string{"sum", "x"}, "more"), nodeOf("Identity", []string{"more"}, "slice"), nodeOf("Identity", []string{"go"}, "on")},
		Outputs: []onnx.Value{scalar("on", onnx.Bool), tensorOf("more", onnx.Float32, 2), tensorOf("slice", onnx.Float32, 2)},
	}
	g := onnx.Graph{
		Name: "g", Inputs: []onnx.Value{tensorOf("x", onnx.Float32, 2)}, Outputs: []onnx.Value{tensorOf("end", onnx.Float32, 2), tensorOf("all", onnx.Float32, 3, 2)},
		Initializers: []onnx.Tensor{{Name: "n", Type: onnx.Int64, Dims: []int64{}, Data: []byte{3, 0, 0, 0, 0, 0, 0, 0}, Stored: 8}, {Name: "yes", Type: onnx.Bool, Dims: []int64{}, Data: []byte{1}, Stored: 1}},
		Nodes:        []onnx.Node{nodeOf("Loop", []string{"n", "yes", "x"}, "end all", bodyOf("body", body))},
	}
	got, err := outputs(t, g, []float32{1, 10})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{4, 40}, {2, 20, 3, 30, 4, 40}}, [][]float32{got["end"].Data, got["all"].Data}); diff != "" {
		t.Error(diff)
	}
}
