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

// TestHalf: ONNX Runtime runs a chain of operators on numbers of 16 bits in float32, between
// two casts; it moves such numbers as they are.
func TestHalf(t *testing.T) {
	const tensor = 64 * 32 * 32 * 2 // bytes in 16 bits
	for _, tt := range []struct {
		ops  []string
		want []int64 // tensors of 16 bits that are read and written
	}{
		{[]string{"Relu"}, []int64{2 + 2 + 3 + 3}},
		{[]string{"Exp", "Abs", "Exp"}, []int64{4 + 3, 4, 4 + 3}},
		{[]string{"Transpose"}, []int64{2}},
		{[]string{"Transpose", "Exp"}, []int64{2, 4 + 3 + 3}},
		{[]string{"Exp", "Transpose"}, []int64{4 + 3, 2 + 3}},
	} {
		kernels := analyzed(t, network(Float16, tt.ops...), nil).Kernels()
		for i := range kernels {
			if got := kernels[i].Bytes(); got != tt.want[i]*tensor {
				t.Errorf("%v: kernel %d: %d bytes, want %d times %d", tt.ops, i, got, tt.want[i], tensor)
			}
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
