package profiler

import (
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// productOf returns a product with an input of a type, or with one that was quantized before.
func productOf(t *testing.T, of onnx.DataType, quantized bool) *onnx.Analysis {
	t.Helper()
	value := func(name string) onnx.Value {
		return onnx.Value{Name: name, Type: of, Known: true, Shape: []onnx.Dim{{Size: 64}, {Size: 64}}}
	}
	g := onnx.Graph{
		Name: "g", Inputs: []onnx.Value{value("x")}, Outputs: []onnx.Value{value("y")},
		Initializers: []onnx.Tensor{{Name: "w", Type: of, Dims: []int64{64, 64}}, {Name: "scale", Type: onnx.Float32, Dims: []int64{}}, {Name: "zero", Type: onnx.Uint8, Dims: []int64{}}},
	}
	from, weights := "x", "w"
	if quantized {
		g.Initializers[0].Type, weights = onnx.Uint8, "v"
		g.Nodes = append(g.Nodes, onnx.Node{Op: "DequantizeLinear", Inputs: []string{"w", "scale", "zero"}, Outputs: []string{"v"}})
		g.Nodes = append(g.Nodes, onnx.Node{Op: "QuantizeLinear", Inputs: []string{"x", "scale", "zero"}, Outputs: []string{"q"}}, onnx.Node{Op: "DequantizeLinear", Inputs: []string{"q", "scale", "zero"}, Outputs: []string{"r"}})
		from = "r"
	}
	g.Nodes = append(g.Nodes, onnx.Node{Op: "MatMul", Inputs: []string{from, weights}, Outputs: []string{"y"}})
	a, err := onnx.Analyze(&onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: g}, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Products in another precision than that of the rates are told, and doubtful.
func TestPrecision(t *testing.T) {
	c := bare()
	c.Low, c.High = 0.9, 1.1
	// Rates of whole numbers leave less doubt about these.
	measured := c.Predict(productOf(t, onnx.Float32, true), device.Device{UUID: "here", Cores: 1})
	if wide := measured.Seconds.High / measured.Seconds.Value; wide < 1.1*1.1 || wide > 2 || len(measured.Warnings) > 0 {
		t.Errorf("with rates of 8 bits: %v, %v", measured.Seconds, measured.Warnings)
	}
	r := c.Rates[onnx.ClassDense8]
	r.Nodes = 0
	c.Rates[onnx.ClassDense8] = r
	for name, tt := range map[string]struct {
		a    *onnx.Analysis
		want string
	}{
		"float32": {productOf(t, onnx.Float32, false), ""}, "float16": {productOf(t, onnx.Float16, false), "float16"}, "quantized": {productOf(t, onnx.Float32, true), "uint8"},
	} {
		p := c.Predict(tt.a, device.Device{UUID: "here", Cores: 1})
		told := false
		for _, w := range p.Warnings {
			told = told || tt.want != "" && strings.Contains(w.Error(), "multiplies in "+tt.want+",")
		}
		if told != (tt.want != "") || (p.Seconds.High/p.Seconds.Value > 2) != told {
			t.Errorf("%s: %v, %v", name, p.Seconds, p.Warnings)
		}
	}
}
