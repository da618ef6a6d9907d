package onnx_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// A model with node names has the same nodes and weights, and each node its own name.
func TestWithNodeNames(t *testing.T) {
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	m.Graph.Nodes[0].Name, m.Graph.Nodes[2].Name = "", m.Graph.Nodes[1].Name
	var original bytes.Buffer
	if err := onnx.Write(&original, m, synth.RandomWeights(1)); err != nil {
		t.Fatal(err)
	}
	renamed, err := onnx.WithNodeNames(original.Bytes(), m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := onnx.Read(bytes.NewReader(renamed), int64(len(renamed)))
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Graph.Nodes) != len(m.Graph.Nodes) || len(back.Graph.Initializers) != len(m.Graph.Initializers) {
		t.Fatalf("%d nodes and %d initializers, want %d and %d", len(back.Graph.Nodes), len(back.Graph.Initializers), len(m.Graph.Nodes), len(m.Graph.Initializers))
	}
	for i := range back.Graph.Nodes {
		if n := &back.Graph.Nodes[i]; n.Name != onnx.NodeName(i) || n.Op != m.Graph.Nodes[i].Op {
			t.Errorf("node %d: %s %s", i, n.Op, n.Name)
		}
	}
	again, err := onnx.WithNodeNames(renamed, back)
	if err != nil || !bytes.Equal(again, renamed) {
		t.Errorf("renamed twice: %d bytes, want %d; %v", len(again), len(renamed), err)
	}
	if _, err := onnx.WithNodeNames(renamed[:len(renamed)-1], back); !errors.Is(err, onnx.ErrSyntax) {
		t.Errorf("a truncated model: %v", err)
	}
}

// The nodes of functions get names too, in place of the calls.
func TestWithNodeNamesInFunctions(t *testing.T) {
	model := encodedFunctions()
	m, err := onnx.Read(bytes.NewReader(model), int64(len(model)))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Functions) != 1 || !onnx.CanInline(m) {
		t.Fatalf("%d functions, inlinable %v", len(m.Functions), onnx.CanInline(m))
	}
	renamed, err := onnx.WithNodeNames(model, m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := onnx.Read(bytes.NewReader(renamed), int64(len(renamed)))
	if err != nil {
		t.Fatal(err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want := a.Model.Graph.Nodes
	if len(back.Functions) != 0 || len(back.Graph.Nodes) != len(want) {
		t.Fatalf("%d functions and %d nodes, want 0 and %d", len(back.Functions), len(back.Graph.Nodes), len(want))
	}
	for i := range want {
		n := &back.Graph.Nodes[i]
		if n.Name != onnx.NodeName(i) || n.Op != want[i].Op || !slices.Equal(n.Inputs, want[i].Inputs) || !slices.Equal(n.Outputs, want[i].Outputs) {
			t.Errorf("node %d: %s %s of %q to %q, want %s of %q to %q", i, n.Op, n.Name, n.Inputs, n.Outputs, want[i].Op, want[i].Inputs, want[i].Outputs)
		}
	}
}

// encodedFunctions returns a model that calls a function of two nodes twice, before and
// after a node of its own.
func encodedFunctions() []byte {
	text := func(b []byte, n protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
	}
	message := func(b []byte, n protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
	}
	number := func(b []byte, n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
	node := func(domain, op, in, out string) []byte {
		return text(text(text(text(nil, 1, in), 2, out), 4, op), 7, domain)
	}
	value := func(name string) []byte {
		shape := message(message(nil, 1, number(nil, 1, 2)), 1, number(nil, 1, 3))
		return message(text(nil, 1, name), 2, message(nil, 1, message(number(nil, 1, 1), 2, shape)))
	}
	var graph []byte
	for _, n := range [][]byte{node("own", "Block", "x", "a"), node("", "Tanh", "a", "b"), node("own", "Block", "b", "y")} {
		graph = message(graph, 1, n)
	}
	graph = message(message(text(graph, 2, "g"), 11, value("x")), 12, value("y"))
	function := text(text(text(nil, 1, "Block"), 4, "in"), 5, "out")
	function = message(message(function, 7, node("", "Relu", "in", "t")), 7, node("", "Exp", "t", "out"))
	function = text(function, 10, "own")
	model := message(message(number(nil, 1, 9), 8, number(text(nil, 1, ""), 2, 17)), 8, number(text(nil, 1, "own"), 2, 1))
	return message(message(model, 7, graph), 25, function)
}
