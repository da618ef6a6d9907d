package onnx_test

import (
	"bytes"
	"errors"
	"testing"

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
	if err := onnx.Write(&original, m, synth.Weights(1)); err != nil {
		t.Fatal(err)
	}
	renamed, err := onnx.WithNodeNames(original.Bytes())
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
	again, err := onnx.WithNodeNames(renamed)
	if err != nil || !bytes.Equal(again, renamed) {
		t.Errorf("renamed twice: %d bytes, want %d; %v", len(again), len(renamed), err)
	}
	if _, err := onnx.WithNodeNames(renamed[:len(renamed)-1]); !errors.Is(err, onnx.ErrSyntax) {
		t.Errorf("a truncated model: %v", err)
	}
}
