package profiler

import (
	"errors"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// oneOperator is the analysis of a model of one node with one input.
func oneOperator(t *testing.T, op string, shape []int64, attributes ...onnx.Attribute) *onnx.Analysis {
	t.Helper()
	value := func(name string, known bool) onnx.Value {
		v := onnx.Value{Name: name, Type: onnx.Float32, Known: known}
		for _, n := range shape {
			v.Shape = append(v.Shape, onnx.Dim{Size: n})
		}
		return v
	}
	m := &onnx.Model{Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{
		Inputs: []onnx.Value{value("x", true)}, Outputs: []onnx.Value{value("y", false)},
		Nodes: []onnx.Node{{Op: op, Inputs: []string{"x"}, Outputs: []string{"y"}, Attributes: attributes}},
	}}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestUnmeasured: rates of a class say little of an operator that no model of the
// calibration has, or of a form that none has.
func TestUnmeasured(t *testing.T) {
	c := bare()
	c.Low, c.High, c.Shortest = 0.8, 1.2, 1e-9
	for class := range c.Rates {
		c.Rates[class] = Rates{Byte: 1e-10, Nodes: 100}
	}
	images, cube := []int64{1, 16, 64, 64}, []int64{64, 128, 64}
	for _, test := range []struct {
		op         string
		shape      []int64
		attributes []onnx.Attribute
		unknown    bool
	}{
		{"Relu", cube, nil, false},
		{"Asinh", cube, nil, true},
		{"DepthToSpace", images, []onnx.Attribute{onnx.IntAttribute("blocksize", 2)}, true},
		{"AveragePool", images, []onnx.Attribute{onnx.IntsAttribute("kernel_shape", 2, 2), onnx.IntsAttribute("strides", 2, 2)}, false},
		{"AveragePool", images, []onnx.Attribute{onnx.IntsAttribute("kernel_shape", 7, 7)}, false},
		{"Softmax", cube, []onnx.Attribute{onnx.IntAttribute("axis", -1)}, false},
		{"Softmax", cube, []onnx.Attribute{onnx.IntAttribute("axis", 1)}, true},
		{"ReduceMean", []int64{1, 64, 256}, []onnx.Attribute{onnx.IntsAttribute("axes", 1)}, false},
		{"ReduceMean", cube, []onnx.Attribute{onnx.IntsAttribute("axes", 1)}, true},
		{"ReduceMean", cube, []onnx.Attribute{onnx.IntsAttribute("axes", 2)}, true},
		{"Transpose", cube, []onnx.Attribute{onnx.IntsAttribute("perm", 1, 0, 2)}, false},
		{"Transpose", cube, []onnx.Attribute{onnx.IntsAttribute("perm", 0, 2, 1)}, true},
		{"Transpose", []int64{1, 128, 64}, []onnx.Attribute{onnx.IntsAttribute("perm", 0, 2, 1)}, false},
		{"Transpose", cube, []onnx.Attribute{onnx.IntsAttribute("perm", 1, 2, 0)}, true},
		{"Transpose", cube, []onnx.Attribute{onnx.IntsAttribute("perm", 2, 1, 0)}, true},
	} {
		a := oneOperator(t, test.op, test.shape, test.attributes...)
		p := c.Predict(a, device.Device{UUID: "here", Cores: 4})
		named := false
		for _, w := range p.Warnings {
			named = named || errors.Is(w, ErrUnlike) && strings.Contains(w.Error(), test.op)
		}
		wide := p.Seconds.High/p.Seconds.Low > uncounted
		if named != test.unknown || wide != test.unknown {
			t.Errorf("%s %v: interval %v to %v, warnings %v", test.op, test.attributes, p.Seconds.Low, p.Seconds.High, p.Warnings)
		}
	}
	c.Facts.Runtime = "ort"
	if p := c.Predict(oneOperator(t, "Identity", cube), device.Device{UUID: "here", Cores: 4}); len(p.Warnings) > 0 {
		t.Errorf("another runtime: %v", p.Warnings)
	}
}

// TestOwnOperators: a model given by --for measures its operators, and their efforts are not
// counted twice.
func TestOwnOperators(t *testing.T) {
	c := bare()
	c.Low, c.High, c.Shortest = 0.8, 1.2, 1e-9
	for class := range c.Rates {
		c.Rates[class] = Rates{Byte: 1e-10, Nodes: 100}
	}
	a := oneOperator(t, "Round", []int64{64, 128, 64})
	before := c.Predict(a, device.Device{UUID: "here", Cores: 4})
	kernels := measurement.NewKernels(a.Kernels(onnx.FusionNone))
	seconds := before.Idle
	kernels[0].Seconds = &seconds
	c.learnNear([]Case{{Family: Own, Model: "own", Seconds: seconds, Kernels: kernels}})
	after := c.Predict(a, device.Device{UUID: "here", Cores: 4})
	if after.Idle < 0.99*before.Idle || after.Idle > 1.01*before.Idle || after.Seconds.High/after.Seconds.Low > uncounted {
		t.Errorf("before %v, after %v in %v to %v", before.Idle, after.Idle, after.Seconds.Low, after.Seconds.High)
	}
}
