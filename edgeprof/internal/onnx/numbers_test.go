package onnx

import (
	"math"
	"testing"
)

// network returns a graph of operators, one after the other, on an image of a type.
func network(kind DataType, ops ...string) Graph {
	g := Graph{Name: "g", Inputs: []Value{image("x", Dim{Size: 1}, Dim{Size: 64}, Dim{Size: 32}, Dim{Size: 32})}, Outputs: []Value{{Name: "y"}}}
	g.Inputs[0].Type = kind
	from := "x"
	for i, op := range ops {
		to := "y"
		if i < len(ops)-1 {
			to = op + "'s result"
		}
		g.Nodes, from = append(g.Nodes, does(op, []string{from}, to)), to
	}
	return g
}

// TestHalf: ONNX Runtime computes with numbers of 16 bits in float32; it moves such numbers as
// they are.
func TestHalf(t *testing.T) {
	for op, want := range map[string]float64{"Relu": halfEffort, "Transpose": 1, "Cast": 1} {
		if got := analyzed(t, network(Float16, op), nil).Kernels()[0].Effort; got < want || got > 40 || op == "Cast" && got != 1 {
			t.Errorf("%s: effort %v, want %v", op, got, want)
		}
	}
}

// TestDouble: functions of float64 take much longer than their bytes say.
func TestDouble(t *testing.T) {
	for op, want := range map[string]float64{"Exp": 26, "Sigmoid": 36, "Abs": 1} {
		k := analyzed(t, network(Float64, op), nil).Kernels()[0]
		if got := max(k.Effort, 1); math.Abs(math.Log(got/want)) > math.Log(1.5) {
			t.Errorf("%s: effort %.3g, want about %v", op, got, want)
		}
	}
}
