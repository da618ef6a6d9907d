package profiler

import (
	"math"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// TestUnknownCost: a model of which part of the cost is unknown has a lower bound only,
// and one whose size was assumed has no interval.
func TestUnknownCost(t *testing.T) {
	c := bare()
	c.Low, c.High = 0.5, 3
	here := device.Device{UUID: "here", Cores: 4}
	costs := []onnx.Cost{{Class: onnx.ClassConv, Work: onnx.Work{MACs: 3e6}}}
	known := c.Predict(&onnx.Analysis{Costs: costs}, here).Seconds
	if !known.IsBounded() {
		t.Fatalf("%+v", known)
	}
	for _, w := range []error{onnx.ErrOperator, onnx.ErrUnshaped, onnx.ErrTrips, onnx.ErrBodies} {
		p := c.Predict(&onnx.Analysis{Costs: costs, Warnings: []error{w}}, here).Seconds
		if p.Value != known.Value || p.Low != known.Low || !math.IsInf(p.High, 1) {
			t.Errorf("%v: %+v, want from %v on", w, p, known.Low)
		}
	}
	p := c.Predict(&onnx.Analysis{Costs: costs, OpenDimensions: []onnx.OpenDimension{{Input: "x", Axis: 2, Size: 224}}}, here).Seconds
	if p.Value != known.Value || !math.IsInf(p.Low, -1) || !math.IsInf(p.High, 1) {
		t.Errorf("an assumed size: %+v", p)
	}
	p = c.Predict(&onnx.Analysis{Costs: costs, OpenDimensions: []onnx.OpenDimension{{Input: "x", Axis: 2, Size: 224, Given: true}}}, here).Seconds
	if p != known {
		t.Errorf("a given size: %+v", p)
	}
}

// TestBranches: where either branch of an If may run, the interval holds the times of both.
func TestBranches(t *testing.T) {
	branch := func(name, op string, inputs ...string) onnx.Attribute {
		return onnx.Attribute{Name: name, Kind: onnx.KindGraph, Graphs: []onnx.Graph{{Name: name, Outputs: []onnx.Value{{Name: name}}, Nodes: []onnx.Node{{Op: op, Inputs: inputs, Outputs: []string{name}}}}}}
	}
	side := onnx.Dim{Size: 500}
	graph := onnx.Graph{
		Name: "g", Outputs: []onnx.Value{{Name: "y"}},
		Inputs: []onnx.Value{{Name: "c", Type: onnx.Bool, Known: true}, {Name: "x", Type: onnx.Float32, Known: true, Shape: []onnx.Dim{side, side}}},
		Nodes:  []onnx.Node{{Op: "If", Inputs: []string{"c"}, Outputs: []string{"y"}, Attributes: []onnx.Attribute{branch("then_branch", "MatMul", "x", "x"), branch("else_branch", "Identity", "x")}}},
	}
	a, err := onnx.Analyze(&onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 18}, Graph: graph}, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c := bare()
	c.Low, c.High = 0.5, 3
	here := device.Device{UUID: "here", Cores: 4}
	both, least := c.Predict(a, here), c.Predict(a.Cheapest(), here)
	if least.Idle >= both.Idle/10 || both.Seconds.Low > least.Seconds.Low*1.01 || both.Seconds.High < 2*both.Idle {
		t.Errorf("%+v, the cheaper branch %+v", both, least)
	}
}

// TestLoadOfSlowerDevice: load slows a model by the time that it takes on that device.
func TestLoadOfSlowerDevice(t *testing.T) {
	c, err := Calibrate(measurements(t, 0.05), Facts{UUID: "here", MaxMHz: 2000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	slow := device.Device{Node: "slow", UUID: "other", Cores: 4, MaxMHz: 200, Load: device.Load{CPUPercent: 100}}
	p := c.Predict(analysis(t, "resnet", synth.Size{Width: 0.5}), slow)
	if want := math.Pow(1.25, p.Idle/(p.Idle+slice)); math.Abs(p.Slowdown/want-1) > 1e-9 {
		t.Errorf("%v s slowed by %v, want %v", p.Idle, p.Slowdown, want)
	}
}
