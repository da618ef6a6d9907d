package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// FuzzRead: whatever the bytes, reading and counting end without a panic and
// with a typed error.
func FuzzRead(f *testing.F) {
	f.Add(small(f))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrLimit) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		if _, err := characterize(m, Settings{}); err != nil && !errors.Is(err, ErrGraph) {
			t.Fatalf("untyped error: %v", err)
		}
	})
}

func read(t testing.TB, data []byte) *Model {
	t.Helper()
	m, err := Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// message writes one length-delimited field.
func message(number protowire.Number, content ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), bytes.Join(content, nil))
}

func number(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

func node(op string, inputs, outputs []string) []byte {
	var b [][]byte
	for _, s := range inputs {
		b = append(b, message(1, []byte(s)))
	}
	for _, s := range outputs {
		b = append(b, message(2, []byte(s)))
	}
	return message(1, append(b, message(4, []byte(op)))...)
}

func model(graph ...[]byte) []byte {
	return bytes.Join([][]byte{number(1, 8), message(8, number(2, 13)), message(7, graph...)}, nil)
}

// Lists of elements without content are counted before they take memory, and functions
// before they are inlined.
func TestReadLimited(t *testing.T) {
	const most = 1 << 20
	empty := func(field protowire.Number) []byte { return bytes.Repeat(message(field), most/4) }
	attribute := func(field protowire.Number) []byte {
		return model(message(1, message(4, []byte("Relu")), message(5, message(1, []byte("a")), empty(field))))
	}
	opsets := []byte{}
	for i := range most / 16 {
		opsets = append(opsets, message(8, message(1, fmt.Append(nil, i)))...)
	}
	functions := [][]byte{model(message(1, message(4, []byte("f9")), message(7, []byte("my"))))}
	for k := range 10 {
		call := message(7, message(1, []byte("x")), message(2, []byte("y")), message(4, fmt.Append(nil, "f", k-1)), message(7, []byte("my")))
		functions = append(functions, message(25, message(1, fmt.Append(nil, "f", k)), message(10, []byte("my")), bytes.Repeat(call, 10)))
	}
	for name, data := range map[string][]byte{
		"nodes": model(empty(1)), "values": model(empty(13)), "tensors": model(empty(5)), "inputs": model(message(1, empty(1))),
		"strings": attribute(9), "graphs": attribute(11), "opsets": append(model(), opsets...), "functions": slices.Concat(functions...),
	} {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		_, err := ReadLimited(bytes.NewReader(data), int64(len(data)), most)
		goruntime.ReadMemStats(&after)
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v, want %v", name, err, ErrLimit)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 5*most {
			t.Errorf("%s: %d bytes were allocated, the limit is %d", name, used, most)
		}
	}
}

func TestHostileModels(t *testing.T) {
	dims := func(sizes ...uint64) []byte {
		var b []byte
		for _, s := range sizes {
			b = append(b, number(1, s)...)
		}
		return message(5, b, number(2, 1), message(8, []byte("w")))
	}
	nested := []byte{}
	for range 200 {
		nested = message(1, message(4, []byte("If")), message(5, message(1, []byte("then_branch")), message(6, nested)))
	}
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrSyntax},
		{"text", []byte("hello, world"), ErrSyntax},
		{"no graph", number(1, 8), ErrSyntax},
		{"two graphs", append(message(7), message(7)...), ErrSyntax},
		{"a graph that is a number", number(7, 1), ErrSyntax},
		{"4 GB declared", append([]byte{7<<3 | 2}, 0xff, 0xff, 0xff, 0xff, 0x0f), ErrSyntax},
		{"2^63 declared", append([]byte{7<<3 | 2}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), ErrSyntax},
		{"nested 200 deep", model(nested), ErrLimit},
		{"dimensions beyond int64", model(dims(1<<40, 1<<40)), ErrGraph},
		{"negative dimensions", model(dims(1 << 63)), ErrGraph},
		{"parameters beyond int64", model(dims(1<<62), dims(1<<62)), ErrGraph},
		{"a cycle", model(node("Relu", []string{"a"}, []string{"b"}), node("Relu", []string{"b"}, []string{"a"})), ErrGraph},
		{"a node that needs itself", model(node("Relu", []string{"a"}, []string{"a"})), ErrGraph},
		{"one name made twice", model(node("Relu", []string{"x"}, []string{"a"}), node("Relu", []string{"x"}, []string{"a"})), ErrGraph},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Read(bytes.NewReader(tt.data), int64(len(tt.data)))
			if err == nil {
				_, err = characterize(m, Settings{})
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// Cut anywhere, a model is an error, never a panic and never a whole model of
// fewer nodes.
func TestTruncated(t *testing.T) {
	data := small(t)
	whole := read(t, data)
	for n := range len(data) {
		m, err := Read(bytes.NewReader(data[:n]), int64(n))
		if err == nil && len(m.Graph.Nodes) != len(whole.Graph.Nodes) {
			t.Fatalf("cut at %d of %d: %d nodes and no error", n, len(data), len(m.Graph.Nodes))
		}
	}
}

// small is a model with every kind of part that is read.
func small(t testing.TB) []byte {
	t.Helper()
	m := everyPart()
	var b bytes.Buffer
	if err := Write(&b, m, func(w io.Writer, t *Tensor) error {
		_, err := w.Write(make([]byte, t.Stored))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func everyPart() *Model {
	floats := []byte{0, 0, 128, 63, 0, 0, 0, 64}
	branch := Graph{
		Name: "then", Nodes: []Node{{Op: "Identity", Inputs: []string{"c"}, Outputs: []string{"z"}}}, Outputs: []Value{{Name: "z", Type: Float32}},
		Initializers: []Tensor{{Name: "in", Type: Float32, Dims: []int64{2}, Stored: 8, Data: floats}},
	}
	return &Model{
		IRVersion: 8, Producer: "test", Opsets: map[string]int64{"": 17, "ai.onnx.ml": 3},
		Graph: Graph{
			Name: "g",
			Nodes: []Node{
				{Name: "n0", Op: "Conv", Inputs: []string{"x", "w"}, Outputs: []string{"a"}, Attributes: []Attribute{{Name: "pads", Kind: KindInts, Ints: []int64{1, 1, 1, 1}}}},
				{Op: "LeakyRelu", Inputs: []string{"a"}, Outputs: []string{"c"}, Attributes: []Attribute{{Name: "alpha", Kind: KindFloat, Float: 0.1}}},
				{Op: "Custom", Domain: "com.example", Inputs: []string{"c"}, Outputs: []string{"d"}, Attributes: []Attribute{
					{Name: "s", Kind: KindString, String: "text"}, {Name: "f", Kind: KindFloats, Floats: []float32{1, 2}}, {Name: "i", Kind: KindInt, Int: -3},
					{Name: "t", Kind: KindTensor, Tensor: &Tensor{Type: Float32, Dims: []int64{2}, Stored: 8, Data: floats}},
					{Name: "g", Kind: KindGraph, Graphs: []Graph{branch}},
				}},
			},
			Inputs:       []Value{{Name: "x", Type: Float32, Known: true, Shape: []Dim{{Size: -1, Name: "N"}, {Size: 3}, {Size: 8}, {Size: 8}}}},
			Outputs:      []Value{{Name: "d", Type: Float32}},
			Values:       []Value{{Name: "a", Type: Float32, Known: true, Shape: []Dim{{Size: -1}, {Size: 4}, {Size: 8}, {Size: 8}}}},
			Initializers: []Tensor{{Name: "w", Type: Float32, Dims: []int64{4, 3, 3, 3}, Stored: 432}},
		},
	}
}

func TestWriteAndRead(t *testing.T) {
	want := everyPart()
	got := read(t, small(t))
	got.Graph.Initializers[0].Data, got.Graph.Initializers[0].Offset = nil, 0
	branch := &got.Graph.Nodes[2].Attributes[4].Graphs[0]
	branch.Initializers[0].Offset = 0
	got.Graph.Nodes[2].Attributes[3].Tensor.Offset = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if err := Write(io.Discard, want, func(io.Writer, *Tensor) error { return nil }); err == nil {
		t.Error("an initializer without its data is accepted")
	}
}

func TestCharacterize(t *testing.T) {
	m := read(t, small(t))
	c, err := characterize(m, Settings{Sizes: map[string]int64{"N": 2}})
	if err != nil {
		t.Fatal(err)
	}
	// 2 images of 4 x 8 x 8 outputs, 3 x 3 x 3 products each.
	if want := int64(2 * 4 * 8 * 8 * 27); c.MACs.Conv != want || c.MACs.Total != want {
		t.Errorf("MACs %+v, want %d", c.MACs, want)
	}
	// The convolution's input, 1536 bytes, and output, 2048, live at once; then
	// its output and the activation's.
	if c.PeakActivationBytes != 4096 || c.ParameterBytes != 432+8 || c.ModelInputSize != 1536 || c.Depth != 3 || c.FusedNodes != 2 {
		t.Errorf("%+v", c)
	}
	if !c.Dynamic || c.Ops["com.example.Custom"] != 1 || c.FilterDetails != 4 {
		t.Errorf("%+v", c)
	}
	var dynamic, unshaped, bodies bool
	for _, w := range c.Warnings {
		dynamic, unshaped, bodies = dynamic || errors.Is(w, ErrDynamic), unshaped || errors.Is(w, ErrUnshaped), bodies || errors.Is(w, ErrBodies)
	}
	if dynamic || !unshaped || !bodies {
		t.Errorf("warnings %v", c.Warnings)
	}
}
