package onnx

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Detectors compute the size that they pad or resize to from real numbers: the longest
// side, the reciprocal of the shortest one, rounded up.
func TestSizesFromRealNumbers(t *testing.T) {
	floats := func(name string, bytes ...byte) Tensor {
		return Tensor{Name: name, Type: Float32, Dims: []int64{int64(len(bytes) / 4)}, Stored: int64(len(bytes)), Data: bytes}
	}
	sides := floats("sides", 0, 0, 0x80, 0x40, 0, 0, 0, 0x41)                                                 // 4, 8
	limit := Tensor{Name: "limit", Type: Float32, Dims: []int64{}, Stored: 4, Data: []byte{0, 0, 0xc0, 0x40}} // 6
	node := func(op, from, to string, attributes ...Attribute) Node {
		return Node{Op: op, Inputs: []string{from}, Outputs: []string{to}, Attributes: attributes}
	}
	for name, tt := range map[string]struct {
		nodes []Node
		want  int64
	}{
		"longest side":            {[]Node{node("ReduceMax", "sides", "m", IntAttribute("keepdims", 1)), node("Ceil", "m", "r")}, 8},
		"shortest side":           {[]Node{node("ReduceMin", "sides", "m", IntAttribute("keepdims", 1)), node("Ceil", "m", "r")}, 4},
		"limited":                 {[]Node{node("ReduceMax", "sides", "m", IntAttribute("keepdims", 1)), {Op: "Clip", Inputs: []string{"m", "", "limit"}, Outputs: []string{"r"}}}, 6},
		"sum of both":             {[]Node{node("ReduceSum", "sides", "m", IntAttribute("keepdims", 1)), node("Ceil", "m", "r")}, 12},
		"reciprocal of a quarter": {[]Node{node("ReduceMin", "sides", "m", IntAttribute("keepdims", 1)), node("Reciprocal", "m", "q"), node("Reciprocal", "q", "r")}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			g := Graph{Name: "g", Inputs: []Value{{Name: "x", Type: Float32, Known: true, Shape: []Dim{{Size: 1}}}}, Outputs: []Value{{Name: "y"}}, Initializers: []Tensor{sides, limit}}
			g.Nodes = append(tt.nodes, node("Cast", "r", "size", IntAttribute("to", int64(Int64))), Node{Op: "Expand", Inputs: []string{"x", "size"}, Outputs: []string{"y"}})
			a, err := Analyze(&Model{IRVersion: 8, Opsets: map[string]int64{"": 13}, Graph: g}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if y := a.Tensors["y"]; !y.Known || !slices.Equal(y.Shape, []int64{tt.want}) {
				t.Errorf("shape %v (known: %v), want [%d]", y.Shape, y.Known, tt.want)
			}
		})
	}
}

// A file of another kind is named, as what people have instead of a model.
func TestOtherKinds(t *testing.T) {
	for name, tt := range map[string]struct{ data, want string }{
		"LFS": {"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 17\n", "git lfs pull"}, "page": {"<!DOCTYPE html>\n<html></html>", "HTML"},
		"gzip": {"\x1f\x8b\x08\x00\x00\x00\x00\x00", "gzip"}, "PyTorch": {"PK\x03\x04\x00\x00\x08\x08\x00\x00", "PyTorch"}, "TensorFlow Lite": {"\x1c\x00\x00\x00TFL3\x14\x00", "tf2onnx"},
		"ORT format": {"\x18\x00\x00\x00ORTM\x00\x00", ".ort"}, "empty": {"", "empty"}, "a pickle": {"\x80\x02\x8a\x0a", "pickle"}, "a pickle of protocol 4": {"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94", "pickle"}, "other": {"\xff\xff\xff", "byte"},
	} {
		_, err := Read(strings.NewReader(tt.data), int64(len(tt.data)))
		if !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
