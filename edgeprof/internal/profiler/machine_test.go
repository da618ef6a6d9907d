package profiler

import (
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// A prediction for the machine at hand allows for a change of its speed to both sides and,
// on a loaded machine, for an end of the load. The value stays.
func TestForThisMachine(t *testing.T) {
	c, err := Calibrate(measurements(t, 0.05), Facts{UUID: "here", MaxMHz: 2000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := analysis(t, "resnet", synth.Size{Width: 0.5})
	four := 4.0
	free := device.Device{UUID: "here", Cores: 4}
	busy := device.Device{UUID: "here", Cores: 2, Load: device.Load{ProbedTasks: &four}}
	plain, here := c.Predict(a, free), c.ForThisMachine().Predict(a, free)
	if here.Seconds.Value != plain.Seconds.Value || here.Idle != plain.Idle {
		t.Errorf("value %v, idle %v; without %v, %v", here.Seconds.Value, here.Idle, plain.Seconds.Value, plain.Idle)
	}
	const factor = 1.484 // of the change of speed at 90 %
	if high := here.Seconds.High / here.Seconds.Value; high < factor || here.Seconds.High <= plain.Seconds.High {
		t.Errorf("upper end %.3f times the value, want %v or more", high, factor)
	}
	if low := here.Seconds.Value / here.Seconds.Low; low < factor || here.Seconds.Low >= plain.Seconds.Low {
		t.Errorf("lower end 1/%.3f of the value, want 1/%v or less", low, factor)
	}
	loaded := c.ForThisMachine().Predict(a, busy)
	if loaded.Slowdown < 1.5 || loaded.Seconds.Low > loaded.Idle {
		t.Errorf("slowed %.2f times: at least %v s, where the idle machine takes %v", loaded.Slowdown, loaded.Seconds.Low, loaded.Idle)
	}
	if again := c.Predict(a, free); again.Seconds != plain.Seconds {
		t.Error("the calibration itself has changed")
	}
}
