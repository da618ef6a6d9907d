package onnx

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// What nobody gives is assumed: pictures and texts have a usual size, dimensions of
// one name the same one.
func TestAssumedSizes(t *testing.T) {
	open, three, one := Dim{Size: -1}, Dim{Size: 3}, Dim{Size: 1}
	for _, tt := range []struct {
		name string
		kind DataType
		dims []Dim
		want []int64
	}{
		{"picture", Float32, []Dim{open, three, open, open}, []int64{1, 3, 224, 224}},
		{"channels last", Uint8, []Dim{open, open, open, three}, []int64{1, 224, 224, 3}},
		{"strip", Float32, []Dim{open, three, {Size: 48}, open}, []int64{1, 3, 48, 224}},
		{"grey", Float32, []Dim{open, one, open, open}, []int64{1, 1, 224, 224}},
		{"mask", Float32, []Dim{open, one, one, open}, []int64{1, 1, 1, 1}},
		{"features", Float32, []Dim{open, {Size: 64}, open, open}, []int64{1, 64, 1, 1}},
		{"text", Int64, []Dim{open, open}, []int64{1, 128}},
		{"rows", Float32, []Dim{open, open}, []int64{1, 1}},
		{"scalar", Float32, nil, []int64{}},
	} {
		g := Graph{Name: "g", Inputs: []Value{{Name: "x", Type: tt.kind, Known: true, Shape: tt.dims}}}
		if got := analyzed(t, g, nil).Tensors["x"].Shape; !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	named := []Dim{{Size: -1, Name: "batch"}, {Size: -1, Name: "sequence"}}
	a := analyzed(t, Graph{Name: "g", Inputs: []Value{
		{Name: "ids", Type: Int64, Known: true, Shape: named}, {Name: "bias", Type: Float32, Known: true, Shape: named},
	}}, nil)
	if got := a.Tensors["bias"].Shape; !slices.Equal(got, []int64{1, 128}) || a.OpenDimensions[3].Given {
		t.Errorf("a second input: %v of %v", got, a.OpenDimensions)
	}
}

// The size that Ultralytics notes in the file is that of its pictures.
func TestNotedPicture(t *testing.T) {
	for value, want := range map[string][]int64{"[320, 640]": {1, 3, 320, 640}, "640": {1, 3, 224, 224}, "[0, 0]": {1, 3, 224, 224}} {
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "imgsz")
		entry = protowire.AppendString(protowire.AppendTag(entry, 2, protowire.BytesType), value)
		var file bytes.Buffer
		m := &Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: Graph{Name: "g", Inputs: []Value{
			{Name: "x", Type: Float32, Known: true, Shape: []Dim{{Size: 1}, {Size: 3}, {Size: -1, Name: "height"}, {Size: -1, Name: "width"}}},
		}}}
		if err := Write(&file, m, nil); err != nil {
			t.Fatal(err)
		}
		file.Write(protowire.AppendBytes(protowire.AppendTag(nil, 14, protowire.BytesType), entry))
		read, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Analyze(read, Settings{})
		if err != nil || !slices.Equal(a.Tensors["x"].Shape, want) {
			t.Errorf("imgsz %s: %v, %v, want %v", value, a.Tensors["x"].Shape, err, want)
		}
	}
}

// A size that an operator cannot take is refused, by its axis and the least that it
// takes; in a branch that another can stand in for it is not.
func TestImpossibleSizes(t *testing.T) {
	open, small := image("x", Dim{Size: 1}, Dim{Size: 1}, Dim{Size: -1, Name: "length"}), image("x", Dim{Size: 1}, Dim{Size: 3}, Dim{Size: 2}, Dim{Size: 8})
	pads := ints("pads", []int64{6}, 0, 0, 64, 0, 0, 64)
	reflected := does("Pad", []string{"x", "pads"}, "out", Attribute{Name: "mode", Kind: KindString, String: "reflect"})
	cheap := Graph{Nodes: []Node{does("Identity", []string{"x"}, "same")}, Outputs: []Value{{Name: "same"}}}
	either := func(then Graph) Graph {
		return Graph{Inputs: []Value{small, {Name: "c", Type: Bool, Known: true}}, Nodes: []Node{does("If", []string{"c"}, "out", inner("then_branch", then), inner("else_branch", convolved("x")))}}
	}
	for name, tt := range map[string]struct {
		graph Graph
		sizes map[string]int64
		want  string // "" is no error
	}{
		"reflected":       {Graph{Inputs: []Value{open}, Initializers: []Tensor{pads}, Nodes: []Node{reflected}}, nil, `impossible size: Pad "out": axis 2 is 1, want 65 or more; open dimensions: x:2 (length) = 1 assumed`},
		"long enough":     {Graph{Inputs: []Value{open}, Initializers: []Tensor{pads}, Nodes: []Node{reflected}}, map[string]int64{"length": 65}, ""},
		"a window":        {Graph{Inputs: []Value{small}, Nodes: convolved("x").Nodes}, nil, `impossible size: Conv "x-y": axis 2 is 2, want 3 or more; open dimensions: none`},
		"a pool":          {Graph{Inputs: []Value{small}, Nodes: []Node{does("MaxPool", []string{"x"}, "out", wholes("kernel_shape", 4, 4), wholes("pads", 1, 0, 0, 0))}}, nil, `impossible size: MaxPool "out": axis 2 is 2, want 3 or more; open dimensions: none`},
		"as much":         {Graph{Inputs: []Value{small}, Initializers: []Tensor{ints("to", []int64{2}, -1, 5)}, Nodes: []Node{does("Reshape", []string{"x", "to"}, "out")}}, nil, `impossible size: Reshape "out": 48 elements of shape [1 3 2 8] do not fit shape [-1 5]; open dimensions: none`},
		"the other":       {either(cheap), nil, ""},
		"no other branch": {either(convolved("x")), nil, `impossible size: Conv "x-y": axis 2 is 2, want 3 or more; open dimensions: none`},
	} {
		_, err := Analyze(&Model{Opsets: map[string]int64{"": 17}, Graph: tt.graph}, Settings{Sizes: tt.sizes})
		if tt.want == "" && err == nil || err != nil && errors.Is(err, ErrSize) && err.Error() == tt.want {
			continue
		}
		t.Errorf("%s: %v, want %q", name, err, tt.want)
	}
}

// The size of a name sets expressions of it too; one of a name without a size stays open.
func TestExpressions(t *testing.T) {
	dims := func(names ...string) Value {
		v := Value{Name: names[0], Type: Float32, Known: true}
		for _, name := range names {
			v.Shape = append(v.Shape, Dim{Size: -1, Name: name})
		}
		return v
	}
	g := Graph{Name: "g", Inputs: []Value{dims("past", "past + 1", "2*(past-12)", "past/0", "past + future", "past +")}}
	a := analyzed(t, g, map[string]int64{"past": 512})
	if got := a.Tensors["past"].Shape[:3]; !slices.Equal(got, []int64{512, 513, 1000}) {
		t.Errorf("sizes %v", got)
	}
	var given []bool
	for _, o := range a.OpenDimensions {
		given = append(given, o.Given)
	}
	if want := []bool{true, true, true, false, false, false}; !slices.Equal(given, want) {
		t.Errorf("given %v, want %v", given, want)
	}
	a = analyzed(t, g, map[string]int64{"past": 512, "past + 1": 7})
	if got := a.Tensors["past"].Shape[1]; got != 7 {
		t.Errorf("an expression that is given itself: %d", got)
	}
}
