package split

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/native"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// weights are small numbers, none below zero as some are variances, the same ones again and again: soon
// written, where true random numbers take most of a test.
func weights(w io.Writer, t *onnx.Tensor) error {
	rng := rand.New(rand.NewPCG(3, uint64(len(t.Name))))
	block := make([]byte, 4004)
	for i := 0; i < len(block); i += 4 {
		binary.LittleEndian.PutUint32(block[i:], math.Float32bits(0.001+rng.Float32()/20))
	}
	for left := t.Stored; left > 0; left -= int64(len(block)) {
		if _, err := w.Write(block[:min(left, int64(len(block)))]); err != nil {
			return err
		}
	}
	return nil
}

// file writes a model with weights and reads it back.
func file(t *testing.T, m *onnx.Model) (*onnx.Model, *bytes.Reader) {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.Write(&b, m, weights); err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(b.Bytes())
	read, err := onnx.Read(r, r.Size())
	if err != nil {
		t.Fatal(err)
	}
	return read, r
}

func analyze(t *testing.T, m *onnx.Model) *onnx.Analysis {
	t.Helper()
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// small is a family's model that runs in a moment.
func small(t *testing.T, family string) *onnx.Model {
	t.Helper()
	m, err := synth.New(family, synth.Size{Width: 0.125, Resolution: 64})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run computes a model on tensors that may be more than it needs.
func run(t *testing.T, m *onnx.Model, r *bytes.Reader, tensors map[string]runtime.Tensor) map[string]runtime.Tensor {
	t.Helper()
	session, err := native.Load(m, r, onnx.Settings{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]runtime.Tensor{}
	for name, shape := range session.Inputs() {
		if _, there := tensors[name]; !there {
			t.Fatalf("no tensor %q of shape %v", name, shape)
		}
		inputs[name] = tensors[name]
	}
	out, err := session.Run(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// random fills a model's inputs.
func random(a *onnx.Analysis) map[string]runtime.Tensor {
	rng := rand.New(rand.NewPCG(1, 2))
	inputs := map[string]runtime.Tensor{}
	for _, v := range a.Model.Graph.Inputs {
		s := a.Tensors[v.Name]
		if s.Constant {
			continue
		}
		x := runtime.Tensor{Shape: s.Shape, Data: make([]float32, s.Elements())}
		for i := range x.Data {
			x.Data[i] = rng.Float32()
		}
		inputs[v.Name] = x
	}
	return inputs
}

// written is a part as another program gets it.
func written(t *testing.T, p Part, of *bytes.Reader) (*onnx.Model, *bytes.Reader) {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, of); err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(b.Bytes())
	m, err := onnx.Read(r, r.Size())
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// The parts of every family, run one after the other from what they were
// written as, compute the very numbers of the whole.
func TestPartsEqualTheWhole(t *testing.T) {
	for _, family := range synth.Families() {
		t.Run(family, func(t *testing.T) {
			m, r := file(t, small(t, family))
			a := analyze(t, m)
			inputs := random(a)
			want := map[string][]float32{}
			for name, x := range run(t, m, r, inputs) {
				want[name] = slices.Clone(x.Data)
			}
			c, err := a.Characteristics()
			if err != nil {
				t.Fatal(err)
			}
			for _, distance := range []int{0, 6} {
				parts, err := Parts(a, Settings{MinDistance: distance})
				if distance > 0 && errors.Is(err, ErrNoBridge) {
					continue // a short model
				}
				if err != nil {
					t.Fatal(err)
				}
				tensors := maps.Clone(inputs)
				operators, parameters := 0, int64(0)
				for i, p := range parts {
					if i < len(parts)-1 && len(p.Operators) < distance {
						t.Errorf("distance %d: part %d has %d operators", distance, i+1, len(p.Operators))
					}
					if !begins(p, i) {
						t.Errorf("distance %d: part %d begins with %q", distance, i+1, p.Carried)
					}
					operators += len(p.Operators)
					parameters += p.ParameterBytes
					part, file := written(t, p, r)
					for name, x := range run(t, part, file, tensors) {
						tensors[name] = runtime.Tensor{Shape: x.Shape, Data: slices.Clone(x.Data)}
					}
				}
				for name, w := range want {
					if !slices.Equal(tensors[name].Data, w) || slices.Max(w) == slices.Min(w) {
						t.Errorf("distance %d: output %q of %d parts is not the whole's", distance, name, len(parts))
					}
				}
				if operators > c.Nodes || parameters < c.ParameterBytes {
					t.Errorf("distance %d: %d operators of %d, %d bytes of weights of %d", distance, operators, c.Nodes, parameters, c.ParameterBytes)
				}
			}
		})
	}
}

// graph builds a model of nodes like "a b -> c"; x is the input, the last
// tensor the output, w a weight.
func graph(nodes ...string) *onnx.Model {
	four := []onnx.Dim{{Size: 4}}
	m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}}
	g := &m.Graph
	g.Inputs = []onnx.Value{{Name: "x", Type: onnx.Float32, Known: true, Shape: four}}
	g.Initializers = []onnx.Tensor{{Name: "w", Type: onnx.Float32, Dims: []int64{4}, Stored: 16, Data: make([]byte, 16)}}
	for _, text := range nodes {
		in, out, _ := strings.Cut(text, " -> ")
		n := onnx.Node{Inputs: strings.Fields(in), Outputs: strings.Fields(out)}
		n.Op = []string{"", "Relu", "Add", "Sum"}[len(n.Inputs)]
		g.Nodes = append(g.Nodes, n)
		g.Outputs = []onnx.Value{{Name: n.Outputs[0], Type: onnx.Float32, Known: true, Shape: four}}
	}
	return m
}

// begins says that a part takes first what the one before it gives.
func begins(p Part, i int) bool {
	for k, name := range p.Carried {
		if p.Model.Graph.Inputs[k].Name != name {
			return false
		}
	}
	return (i > 0) == (len(p.Carried) > 0)
}

func TestCuts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		nodes []string
		want  string // "tensors@operators before them"
	}{
		{"chain", []string{"x -> a", "a -> b", "b -> c"}, "a@1 b@2"},
		{"one operator", []string{"x -> a"}, ""},
		{"residual", []string{"x -> a", "a -> b", "a b -> c", "c -> d"}, "a@1 a+b@2 c@3"},
		{"the input skips", []string{"x -> a", "a -> b", "b x -> c", "c -> d"}, "a@1 b@2 c@3"},
		{"constants are copied", []string{"w -> k", "x k -> a", "a k -> b"}, "a@1"},
		{"file order does not matter", []string{"b -> c", "a -> b", "x -> a", "c -> d"}, "a@1 b@2 c@3"},
		{"dead branch", []string{"x -> a", "a -> dead", "a -> b", "b -> c"}, "a@1 b@2"},
		{"ladder", []string{"x -> a1", "x -> b1", "a1 b1 -> a2", "a1 b1 w -> b2", "a2 b2 -> c"}, "a1@1 a1+b1@2 a1+a2+b1@3 a2+b2@4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := file(t, graph(tt.nodes...))
			var got []string
			cuts, _ := newFlow(analyze(t, m)).cuts()
			for _, c := range cuts {
				got = append(got, fmt.Sprintf("%s@%d", strings.Join(c.tensors, "+"), c.after))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%q, want %q", s, tt.want)
			}
		})
	}
}

// An output in the middle is given out by the part that makes it, a constant one
// by the last.
func TestOutputs(t *testing.T) {
	m := graph("x -> a", "a -> aux", "a -> b", "w -> k", "b -> c")
	four := m.Graph.Outputs[0].Shape
	for _, name := range []string{"aux", "k", "w"} {
		m.Graph.Outputs = append(m.Graph.Outputs, onnx.Value{Name: name, Type: onnx.Float32, Known: true, Shape: four})
	}
	m, _ = file(t, m)
	parts, err := Parts(analyze(t, m), Settings{MinDistance: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range parts {
		var names []string
		for _, v := range p.Model.Graph.Outputs {
			names = append(names, v.Name)
		}
		got = append(got, strings.Join(names, " "))
	}
	if s := strings.Join(got, ", "); s != "b aux, c k w" {
		t.Errorf("outputs of the parts: %s", s)
	}
}

// The last cut is kept, however short the rest; distances are at least what was
// asked.
func TestDistance(t *testing.T) {
	m, _ := file(t, graph("x -> a", "a -> b", "b -> c", "c -> d", "d -> e", "e -> f", "f -> g"))
	a := analyze(t, m)
	for distance, want := range map[int]string{0: "1 1 1 1 1 1 1", 1: "1 1 1 1 1 1 1", 2: "2 2 2 1", 3: "3 3 1", 4: "4 3", 6: "6 1"} {
		parts, err := Parts(a, Settings{MinDistance: distance})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range parts {
			got = append(got, fmt.Sprint(len(p.Operators)))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("distance %d: %s, want %s", distance, s, want)
		}
	}
	if parts, err := Parts(a, Settings{MinDistance: 3, MaxParts: 3}); err != nil || len(parts) != 3 {
		t.Errorf("as many as may be: %d, %v", len(parts), err)
	}
	if _, err := Parts(a, Settings{MinDistance: 3, MaxParts: 2}); !errors.Is(err, ErrTooMany) || !strings.Contains(err.Error(), "3, at most 2") {
		t.Errorf("too many: %v", err)
	}
	if _, err := Parts(a, Settings{MinDistance: 7}); !errors.Is(err, ErrNoBridge) || !strings.Contains(err.Error(), "the model has 7 operators, a split needs more than 7") {
		t.Errorf("too far: %v", err)
	}
}

// Data of a typed field, which has another length in the file, is carried too.
func TestTypedData(t *testing.T) {
	var tensor []byte
	tensor = protowire.AppendTag(tensor, 1, protowire.VarintType)
	tensor = protowire.AppendVarint(tensor, 2)
	tensor = protowire.AppendTag(tensor, 2, protowire.VarintType)
	tensor = protowire.AppendVarint(tensor, uint64(onnx.Int64))
	tensor = protowire.AppendTag(tensor, 7, protowire.BytesType) // int64_data
	tensor = protowire.AppendBytes(tensor, []byte{7, 9})
	tensor = protowire.AppendTag(tensor, 8, protowire.BytesType)
	tensor = protowire.AppendString(tensor, "w")
	m := graph("x -> a", "a w -> b")
	m.Graph.Initializers = nil
	var b bytes.Buffer
	if err := onnx.Write(&b, m, weights); err != nil {
		t.Fatal(err)
	}
	// the tensor into the graph, which is the last field of the file
	content := b.Bytes()
	at := bytes.Index(content, []byte{7<<3 | 2})
	body, _ := protowire.ConsumeBytes(content[at+1:])
	body = protowire.AppendBytes(protowire.AppendTag(bytes.Clone(body), 5, protowire.BytesType), tensor)
	content = protowire.AppendBytes(bytes.Clone(content[:at+1]), body)
	r := bytes.NewReader(content)
	read, err := onnx.Read(r, r.Size())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Parts(analyze(t, read), Settings{})
	if err != nil || len(parts) != 2 {
		t.Fatal(parts, err)
	}
	last, _ := written(t, parts[1], r)
	if got := last.Graph.Initializers[0].Data; !bytes.Equal(got, []byte{7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("weights % x", got)
	}
}

func TestRefused(t *testing.T) {
	chain := func() *onnx.Model { return graph("x -> a", "a -> b") }
	for name, tt := range map[string]struct {
		change func(*onnx.Model)
		want   error
		part   string
	}{
		"no bridge":       {func(m *onnx.Model) { m.Graph.Nodes = m.Graph.Nodes[:1]; m.Graph.Outputs[0].Name = "a" }, ErrNoBridge, ": the model has 1 operators, a split needs more than 1"},
		"no operators":    {func(m *onnx.Model) { m.Graph.Nodes = nil; m.Graph.Outputs = nil }, ErrNoBridge, ": the model has 0 operators, a split needs more than 1"},
		"functions":       {func(m *onnx.Model) { m.Functions = []onnx.Function{{Name: "f"}} }, ErrUnsupported, "functions"},
		"sparse":          {func(m *onnx.Model) { m.Graph.Sparse = 1 }, ErrUnsupported, "sparse"},
		"external":        {func(m *onnx.Model) { m.Graph.Initializers[0].External = true }, ErrUnsupported, `"w" is in an external file`},
		"text":            {func(m *onnx.Model) { m.Graph.Initializers[0].Type = onnx.String }, ErrUnsupported, `"w" has type string`},
		"cut data":        {func(m *onnx.Model) { m.Graph.Initializers[0].Data = []byte{1} }, ErrUnsupported, "16 raw bytes"},
		"other attribute": {func(m *onnx.Model) { m.Graph.Nodes[1].Attributes = []onnx.Attribute{{Name: "keys", Kind: 8}} }, ErrUnsupported, `node 1 (Relu): attribute "keys"`},
		"a value of no known shape": {func(m *onnx.Model) {
			m.Graph.Nodes[0].Op, m.Graph.Nodes[1].Op = "NonMaxSuppression", "SequenceConstruct"
		}, ErrNoBridge, `shape of tensor "a" are unknown`},
	} {
		t.Run(name, func(t *testing.T) {
			m := chain()
			tt.change(m)
			if _, err := Parts(analyze(t, m), Settings{}); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.part) {
				t.Errorf("%v, want %v with %q", err, tt.want, tt.part)
			}
		})
	}
}

// Twenty thousand operators in a row, cut everywhere.
func TestLongChain(t *testing.T) {
	const n = 20_000
	m := graph("x -> t1")
	for i := 1; i < n; i++ {
		m.Graph.Nodes = append(m.Graph.Nodes, onnx.Node{Op: "Relu", Inputs: []string{fmt.Sprint("t", i)}, Outputs: []string{fmt.Sprint("t", i+1)}})
	}
	m.Graph.Outputs[0].Name = fmt.Sprint("t", n)
	parts, err := Parts(analyze(t, m), Settings{})
	if err != nil || len(parts) != n {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
}

// Weights are copied from the file, not held: each part's are the bytes of the
// whole's.
func TestWeightsAreCopied(t *testing.T) {
	m := graph("x w -> a", "a w -> b", "b -> c")
	long := &m.Graph.Initializers[0]
	long.Dims, long.Stored, long.Data = []int64{2000, 4}, 32000, nil
	m, r := file(t, m)
	parts, err := Parts(analyze(t, m), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 32000)
	if _, err := r.ReadAt(want, m.Graph.Initializers[0].Offset); err != nil {
		t.Fatal(err)
	}
	for i, p := range parts[:2] {
		part, file := written(t, p, r)
		got := make([]byte, 32000)
		if _, err := file.ReadAt(got, part.Graph.Initializers[0].Offset); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || binary.LittleEndian.Uint32(got) == 0 {
			t.Errorf("weights of part %d differ", i+1)
		}
	}
	if n := len(parts[2].Model.Graph.Initializers); n != 0 {
		t.Errorf("the last part has %d weights that it does not need", n)
	}
}
