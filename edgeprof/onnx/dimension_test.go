package onnx

import (
	"bytes"
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
	if got := a.Tensors["bias"].Shape; !slices.Equal(got, []int64{1, 128}) || a.Open[3].Given {
		t.Errorf("a second input: %v of %v", got, a.Open)
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
