package placement

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/profiler"
	"github.com/foretime/foretime/edgeprof/synth"
)

func TestRank(t *testing.T) {
	m, err := synth.New("alexnet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	cal := &profiler.Calibration{Facts: profiler.Facts{UUID: "calibrated", Runtime: "go", MaxMHz: 2000, Threads: 1}, Low: 0.5, High: 2, Shortest: 1e-6, Longest: 10, Rates: map[onnx.Class]profiler.Rates{}}
	for _, class := range []onnx.Class{onnx.ClassConv, onnx.ClassDense, onnx.ClassPool, onnx.ClassFunction, onnx.ClassOther} {
		cal.Rates[class] = profiler.Rates{MAC: 1e-9, Byte: 1e-10, Nodes: 1}
	}
	rates := func(device.Device) (*profiler.Calibration, error) { return cal, nil }
	devices := []device.Device{
		{Node: "busy", Cores: 2, MaxMHz: 2000, Load: device.Load{CPUPercent: 100}},
		{Node: "idle", Cores: 2, MaxMHz: 2000},
		{Node: "fast", Cores: 2, MaxMHz: 4000, Load: device.Load{CPUPercent: 10}},
		{Node: "small", Cores: 2, MaxMHz: 9000, Load: device.Load{MemoryAvailableBytes: 1 << 20}},
	}
	r, err := Rank(a, devices, []device.Excluded{{Node: "gone", Reason: "stale"}}, rates)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range r.Candidates {
		order = append(order, c.Node)
		if !(c.Low < c.Seconds && c.Seconds < c.High) || len(c.Reasons) == 0 {
			t.Errorf("%+v", c)
		}
	}
	if got := strings.Join(order, " "); got != "fast idle busy" {
		t.Errorf("order %q", got)
	}
	for range 50 { // the same bytes each time
		again, err := Rank(a, devices, []device.Excluded{{Node: "gone", Reason: "stale"}}, rates)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("ranked again: %+v %v, not %+v", again, err, r)
		}
	}
	if len(r.Excluded) != 2 || r.Excluded[0].Node != "gone" || !strings.Contains(r.Excluded[1].Reason, "bytes of memory") {
		t.Errorf("excluded %+v", r.Excluded)
	}
	if _, err := Rank(a, devices[3:], nil, rates); !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "small: ") {
		t.Errorf("no device left: %v", err)
	}
	if _, err := Rank(a, nil, nil, rates); !errors.Is(err, ErrNoDevice) {
		t.Errorf("no devices: %v", err)
	}
	broken := errors.New("no such file")
	if _, err := Rank(a, devices, nil, func(device.Device) (*profiler.Calibration, error) { return nil, broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), "busy: ") {
		t.Errorf("rates that cannot be read: %v", err)
	}
}
