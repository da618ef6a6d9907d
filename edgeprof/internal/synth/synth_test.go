package synth

import (
	"bytes"
	"errors"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// tiny sizes keep each family to a few megabytes.
var tiny = map[string]Size{
	"vgg": {Width: 0.1, Depth: 11, Resolution: 32}, "alexnet": {Width: 0.1, Resolution: 96}, "densenet": {Width: 0.25, Resolution: 64}, "resnet": {Width: 0.25, Resolution: 64},
	"googlenet": {Width: 0.25, Resolution: 64}, "mobilenetv2": {Width: 0.25, Resolution: 64}, "efficientnet": {Width: 0.25, Resolution: 64},
}

// What a family says of its shapes is what they follow to be from the file, for
// every tensor, and writing twice gives the same bytes.
func TestFamilies(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	for _, name := range Families() {
		t.Run(name, func(t *testing.T) {
			m, err := New(name, tiny[name])
			if err != nil {
				t.Fatal(err)
			}
			var first, second bytes.Buffer
			for _, b := range []*bytes.Buffer{&first, &second} {
				if err := onnx.Write(b, m, RandomWeights(1)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Error("the same seed gives other bytes")
			}
			back, err := onnx.Read(bytes.NewReader(first.Bytes()), int64(first.Len()))
			if err != nil {
				t.Fatal(err)
			}
			stated := back.Graph.Outputs[0].Shape
			back.Graph.Outputs[0].Known = false
			a, err := onnx.Analyze(back, onnx.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Warnings) > 0 {
				t.Errorf("warnings: %v", a.Warnings)
			}
			got := a.Tensors[back.Graph.Outputs[0].Name].Shape
			if len(got) != len(stated) {
				t.Fatalf("output %v, stated %v", got, stated)
			}
			for i := range got {
				if got[i] != stated[i].Size {
					t.Fatalf("output %v, stated %v", got, stated)
				}
			}
			c, err := a.Characteristics()
			if err != nil || c.MACs.Total == 0 || c.PeakActivationBytes == 0 {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// Published counts: AlexNet's five convolutions of 1376 filters (Krizhevsky
// 2012); parameters of VGG-16 138,357,544, ResNet-50 25.6 M, GoogLeNet about 7 M,
// MobileNetV2 3.5 M and 300 M MACs, DenseNet-121 8 M, EfficientNet-B0 5.3 M and
// 0.39 G MACs, from their papers.
func TestPublishedCounts(t *testing.T) {
	count := func(name string, s Size) *onnx.Characteristics {
		m, err := New(name, s)
		if err != nil {
			t.Fatal(err)
		}
		a, err := onnx.Analyze(m, onnx.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Characteristics()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := count("alexnet", Size{})
	if a.ConvLayers != 5 || a.FilterDetails != 1376 || a.FCLayers != 3 || a.PoolLayers != 3 {
		t.Errorf("alexnet: %d/%d/%d/%d, want 5/1376/3/3", a.ConvLayers, a.FilterDetails, a.FCLayers, a.PoolLayers)
	}
	if v := count("vgg", Size{}); v.TotalParameters != 138357544 || v.ConvLayers != 13 || v.FilterDetails != 4224 {
		t.Errorf("vgg: %d parameters, %d convolutions of %d filters", v.TotalParameters, v.ConvLayers, v.FilterDetails)
	}
	for _, tt := range []struct {
		name       string
		size       Size
		parameters float64 // millions; 0 is not checked
		macs       float64 // millions
		tolerance  float64
	}{
		{"resnet", Size{Depth: 50}, 25.6, 4100, 0.02}, {"resnet", Size{Depth: 18}, 11.7, 1820, 0.02}, {"mobilenetv2", Size{}, 3.5, 300, 0.03},
		{"densenet", Size{}, 8, 2870, 0.03}, {"efficientnet", Size{}, 5.3, 390, 0.03}, {"googlenet", Size{}, 7, 1550, 0.05}, {"vgg", Size{}, 138.36, 15470, 0.01},
	} {
		c := count(tt.name, tt.size)
		parameters, macs := float64(c.TotalParameters)/1e6, float64(c.MACs.Total)/1e6
		if off(parameters, tt.parameters) > tt.tolerance || off(macs, tt.macs) > tt.tolerance {
			t.Errorf("%s %+v: %.2f M parameters, %.0f M MACs; published %.2f and %.0f", tt.name, tt.size, parameters, macs, tt.parameters, tt.macs)
		}
	}
}

func off(got, want float64) float64 {
	if got > want {
		return got/want - 1
	}
	return 1 - got/want
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		size Size
		want error
	}{
		{"perceptron", Size{}, ErrFamily}, {"vgg", Size{Depth: 12}, ErrSize}, {"alexnet", Size{Resolution: 20}, ErrSize},
		{"mlp", Size{Width: -1}, ErrSize}, {"mlp", Size{Batch: -2}, ErrSize},
	} {
		if _, err := New(tt.name, tt.size); !errors.Is(err, tt.want) {
			t.Errorf("%s %+v: %v, want %v", tt.name, tt.size, err, tt.want)
		}
	}
}

func TestSet(t *testing.T) {
	names, families := map[string]bool{}, map[string]bool{}
	for _, n := range TrainingSet() {
		if _, err := New(n.Family, n.Size); err != nil || names[n.Name] {
			t.Errorf("%s: %v (there before: %v)", n.Name, err, names[n.Name])
		}
		names[n.Name], families[n.Family] = true, true
	}
	if len(families) != 11 || len(names) < 40 {
		t.Errorf("%d models of %d families, want 40 of 11", len(names), len(families))
	}
}
