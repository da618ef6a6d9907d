package profiler

import (
	"math"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// Layers sum to the prediction, on a loaded device and elsewhere too.
func TestLayers(t *testing.T) {
	c, err := Calibrate(measurements(t, 0.05), Facts{UUID: "here", Threads: 1, MaxMHz: 2000})
	if err != nil {
		t.Fatal(err)
	}
	a := analysis(t, "resnet", synth.Size{Width: 0.5})
	counts, err := a.Characteristics()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []device.Device{{UUID: "here", Cores: 4}, {UUID: "other", Cores: 2, MaxMHz: 1000, Load: device.Load{CPUPercent: 100}}} {
		layers, p := c.Layers(a, d)
		sum, macs := 0.0, int64(0)
		for _, l := range layers {
			sum += l.Seconds
			macs += l.MACs
		}
		if math.Abs(sum/p.Seconds.Value-1) > 1e-9 || macs != counts.MACs.Total || p.Seconds != c.Predict(a, d).Seconds {
			t.Errorf("%v s of %v, %d multiply-accumulates of %d", sum, p.Seconds.Value, macs, counts.MACs.Total)
		}
	}
}
