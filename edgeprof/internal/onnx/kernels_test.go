package onnx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chain builds a graph of nodes "op input,input > output"; names that start with
// w are initializers of a 4x4x1x1, 4, 1, 4x4 or 4x1x1 shape, by their length.
func chain(t *testing.T, nodes ...string) *Analysis {
	t.Helper()
	m := &Model{IRVersion: 8, Opsets: map[string]int64{"": 17}}
	m.Graph.Inputs = []Value{{Name: "x", Type: Float32, Known: true, Shape: []Dim{{Size: 1}, {Size: 4}, {Size: 4}, {Size: 4}}}}
	seen := map[string]bool{}
	for _, text := range nodes {
		op, rest, _ := strings.Cut(text, " ")
		in, out, _ := strings.Cut(rest, ">")
		n := Node{Op: op, Inputs: strings.Split(in, ","), Outputs: []string{out}}
		for _, name := range n.Inputs {
			if name[0] == 'w' && !seen[name] {
				seen[name] = true
				dims := map[int][]int64{1: {4, 4, 1, 1}, 2: {4}, 3: {1}, 4: {4, 4}, 5: {4, 1, 1}}[len(name)]
				m.Graph.Initializers = append(m.Graph.Initializers, Tensor{Name: name, Type: Float32, Dims: dims, Stored: 64})
			}
		}
		m.Graph.Nodes = append(m.Graph.Nodes, n)
	}
	m.Graph.Outputs = []Value{{Name: "y", Type: Float32}}
	a, err := Analyze(m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestKernels(t *testing.T) {
	for _, tt := range []struct {
		name  string
		nodes []string
		want  string // nodes of each kernel
	}{
		{"nothing", nil, ""},
		{"convolution, normalization, activation", []string{"Conv x,w>a", "BatchNormalization a,ww,ww,ww,ww>b", "Relu b>y"}, "[0 1 2]"},
		{"a second user keeps it apart", []string{"Conv x,w>a", "Relu a>b", "Add a,b>y"}, "[0] [1] [2]"},
		{"a factor and a bias for each channel", []string{"Conv x,w>a", "Mul a,wwwww>b", "Add wwwww,b>c", "Relu c>y"}, "[0 1 2 3]"},
		{"and after a normalization", []string{"Conv x,w>a", "BatchNormalization a,ww,ww,ww,ww>b", "Mul b,wwwww>c", "Sum c,x>d", "Relu d>y"}, "[0 1 2 3 4]"},
		{"a factor along the columns", []string{"Conv x,w>a", "Mul a,ww>b", "Relu b>y"}, "[0] [1] [2]"},
		{"a sum of two convolutions", []string{"Conv x,w>a", "Conv x,w>b", "Add a,b>c", "Relu c>y"}, "[0] [1 2 3]"},
		{"swish", []string{"Conv x,w>a", "Sigmoid a>b", "Mul a,b>y"}, "[0] [1 2]"},
		{"bias and activation", []string{"MatMul x,wwww>a", "Add a,ww>b", "Relu b>y"}, "[0 1 2]"},
		{"factor", []string{"MatMul x,x>a", "Mul a,www>b", "Relu b>y"}, "[0 1] [2]"},
		{"after the activation nothing", []string{"Conv x,w>a", "Relu a>b", "Relu b>y"}, "[0 1] [2]"},
		{"a sum and its normalization", []string{"Add x,x>a", "LayerNormalization a,ww,ww>y"}, "[0 1]"},
		{"a sum that is used again", []string{"Add x,x>a", "LayerNormalization a,ww,ww>b", "Add a,b>y"}, "[0] [1] [2]"},
		{"a sum with an activation's user", []string{"Relu x>a", "Add a,x>y"}, "[0] [1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := chain(t, tt.nodes...)
			var parts []string
			for _, k := range a.Kernels() {
				parts = append(parts, fmt.Sprint(k.Nodes))
			}
			if got := strings.Join(parts, " "); got != tt.want {
				t.Errorf("fused %s, want %s", got, tt.want)
			}
		})
	}
}

// A joined kernel moves what goes in and what comes out, not what stays inside.
func TestKernelBytes(t *testing.T) {
	k := chain(t, "Conv x,w>a", "Relu a>y").Kernels()[0]
	want := Kernel{
		Nodes: []int{0, 1}, Op: "Conv", Class: ClassConv, Work: Work{MACs: 4 * 64, ParameterBytes: 64, ReadBytes: 256, WrittenBytes: 256},
		Unfolded: 4 * 16, Times: 1, Effort: 2, // four filters fill a quarter of the vectors
	}
	if diff := cmp.Diff(want, k); diff != "" {
		t.Error(diff)
	}
}

func TestKernelsOfCosts(t *testing.T) {
	a := &Analysis{Costs: []Cost{{Node: 3, Class: ClassConv, Work: Work{MACs: 7, WrittenBytes: 8}}}}
	want := []Kernel{{Nodes: []int{3}, Class: ClassConv, Work: Work{MACs: 7, WrittenBytes: 8}, Times: 1}}
	if diff := cmp.Diff(want, a.Kernels()); diff != "" {
		t.Error(diff)
	}
}
