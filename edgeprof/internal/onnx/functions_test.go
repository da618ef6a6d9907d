package onnx

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// call is a node of a function.
func callOf(name string, inputs []string, output string, attributes ...Attribute) Node {
	n := does(name, inputs, output, attributes...)
	n.Domain = "local"
	return n
}

// Functions cost what their nodes cost, with the attributes of each call.
func TestFunctions(t *testing.T) {
	reference := Attribute{Name: "transB", Kind: KindInt, Reference: "turned"}
	linear := Function{
		Name: "Linear", Domain: "local", Inputs: []string{"X", "W"}, Outputs: []string{"Y"}, Defaults: []Attribute{whole1("turned", 0)},
		Nodes: []Node{does("Gemm", []string{"X", "W"}, "product", reference), does("Relu", []string{"product"}, "Y")},
	}
	twice := Function{
		Name: "Twice", Domain: "local", Inputs: []string{"X", "W", "V"}, Outputs: []string{"Y"},
		Nodes: []Node{
			callOf("Linear", []string{"X", "W"}, "product"), callOf("Linear", []string{"product", "V"}, "Y", whole1("turned", 1)),
		},
	}
	m := &Model{Opsets: map[string]int64{"": 17}, Functions: []Function{linear, twice}, Graph: Graph{
		Inputs: []Value{image("x", Dim{Size: 2}, Dim{Size: 8}), image("w", Dim{Size: 8}, Dim{Size: 4}), image("v", Dim{Size: 8}, Dim{Size: 4})},
		Nodes:  []Node{callOf("Twice", []string{"x", "w", "v"}, "a"), callOf("Linear", []string{"a", "w"}, "y")}, Outputs: []Value{{Name: "y"}},
	}}
	a, err := Analyze(m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Characteristics()
	if err != nil || c.MACs.Total != 2*8*4+2*4*8+2*8*4 || c.Ops["Gemm"] != 3 || c.Ops["Relu"] != 3 || c.Nodes != 6 || len(a.UncountedWarnings()) > 0 {
		t.Errorf("%+v, %v, %v", c, a.Warnings, err)
	}
	if y := a.Tensors["y"]; !slices.Equal(y.Shape, []int64{2, 4}) {
		t.Errorf("y %+v", y)
	}
	if len(m.Graph.Nodes) != 2 {
		t.Errorf("the model was changed: %d nodes", len(m.Graph.Nodes))
	}

	m.Functions[1].Nodes[0].Op = "Twice"
	if _, err := Analyze(m, Settings{}); !errors.Is(err, ErrGraph) {
		t.Errorf("a function that calls itself: %v", err)
	}
	m.Functions = nil // each calls the one before 32 times
	for i := range 8 {
		f := Function{Name: fmt.Sprint(i), Domain: "local", Inputs: []string{"X"}, Outputs: []string{"Y"}, Nodes: []Node{does("Relu", []string{"X"}, "Y")}}
		if i > 0 {
			f.Nodes = nil
			for range 32 {
				f.Nodes = append(f.Nodes, callOf(fmt.Sprint(i-1), []string{"X"}, "Y"))
			}
		}
		m.Functions = append(m.Functions, f)
	}
	m.Graph.Nodes = []Node{callOf("7", []string{"x"}, "y")}
	if _, err := Analyze(m, Settings{}); !errors.Is(err, ErrLimit) {
		t.Errorf("functions that double: %v", err)
	}
}

// A body in a function takes the tensors of the function.
func TestFunctionWithBody(t *testing.T) {
	body := Graph{Nodes: []Node{does("MatMul", []string{"X", "W"}, "Z")}, Outputs: []Value{{Name: "Z"}}}
	other := Graph{Nodes: []Node{does("Identity", []string{"X"}, "Z")}, Outputs: []Value{{Name: "Z"}}}
	f := Function{Name: "F", Domain: "local", Inputs: []string{"X", "W", "C"}, Outputs: []string{"Y"}, Nodes: []Node{
		does("If", []string{"C"}, "Y", inner("then_branch", body), inner("else_branch", other)),
	}}
	m := &Model{Opsets: map[string]int64{"": 17}, Functions: []Function{f}, Graph: Graph{
		Inputs: []Value{image("x", Dim{Size: 2}, Dim{Size: 8}), image("w", Dim{Size: 8}, Dim{Size: 4}), {Name: "c", Type: Bool, Known: true}},
		Nodes:  []Node{callOf("F", []string{"x", "w", "c"}, "y")}, Outputs: []Value{{Name: "y"}},
	}}
	a, err := Analyze(m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := a.Characteristics(); err != nil || c.MACs.Total != 2*8*4 {
		t.Errorf("%+v, %v", c, err)
	}
}
