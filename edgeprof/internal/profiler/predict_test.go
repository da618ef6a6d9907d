package profiler

import (
	"math"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// TestCallCounts: an inference takes its kernels' time and that of a call.
func TestCallCounts(t *testing.T) {
	c := bare()
	c.Call, c.Low, c.High = 1e-3, 1, 1
	a := &onnx.Analysis{Costs: []onnx.Cost{{Class: onnx.ClassConv, Work: onnx.Work{MACs: 3e6}}}}
	if p := c.Predict(a, device.Device{UUID: "here", Cores: 4}); math.Abs(p.Idle-4e-3) > 1e-12 || p.Shares[0].Part != 1 {
		t.Errorf("%v s, want 3 ms of a kernel and 1 ms of the call: %+v", p.Idle, p)
	}
}

// TestDoubtfulModel: where a file does not say all that a model costs, it may take ten
// times as long or a tenth.
func TestDoubtfulModel(t *testing.T) {
	c := bare()
	c.Low, c.High = 0.5, 3
	sure, _ := c.interval(nil, nil, 1e-3, false)
	doubtful, _ := c.interval(nil, nil, 1e-3, true)
	if math.Abs(doubtful.Low/sure.Low-0.1) > 1e-9 || math.Abs(doubtful.High/sure.High-10) > 1e-9 {
		t.Errorf("%+v, doubtful %+v", sure, doubtful)
	}
}

// TestLoadOfSlowerDevice: load slows a model by the time that it takes on that device.
func TestLoadOfSlowerDevice(t *testing.T) {
	c, err := (&Model{}).Calibrate(measurements(t, 0.05), Facts{Runtime: "go", UUID: "here", MaxMHz: 2000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	slow := device.Device{Node: "slow", UUID: "other", Cores: 4, MaxMHz: 200, Load: device.Load{CPUPercent: 100}}
	p := c.Predict(analysis(t, "resnet", synth.Size{Width: 0.5}), slow)
	if want := math.Pow(1.25, p.Idle/(p.Idle+slice)); math.Abs(p.Slowdown/want-1) > 1e-9 {
		t.Errorf("%v s slowed by %v, want %v", p.Idle, p.Slowdown, want)
	}
}
