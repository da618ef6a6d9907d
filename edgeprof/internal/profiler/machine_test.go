package profiler

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/timing"
)

// A prediction for the machine at hand allows for other work that may start, by the
// defaults where nothing is known of it and hardly where it was always quiet, and,
// on a loaded machine, for an end of the load. The value stays.
func TestOn(t *testing.T) {
	c, err := Calibrate(measurements(t, 0.05), Facts{UUID: "here", MaxMHz: 2000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := analysis(t, "resnet", synth.Size{Width: 0.5})
	four := 4.0
	free, busy := device.Device{UUID: "here", Cores: 4}, device.Device{UUID: "here", Cores: 2, Load: device.Load{ProbedTasks: &four}}
	var quiet []timing.Reading
	for i := range 300 {
		part := timing.Cost{Wall: 0.015, CPU: 0.015}
		quiet = append(quiet, timing.Reading{At: time.Unix(1e6, 0).Add(time.Duration(i) * time.Minute), Compute: part, Memory: part})
	}
	plain := c.Predict(a, free)
	warned := func(p Prediction) bool {
		return slices.ContainsFunc(p.Warnings, func(w error) bool { return errors.Is(w, ErrMachine) })
	}
	for _, tt := range []struct {
		name       string
		readings   []timing.Reading
		least, top float64 // of the upper factor, over that without
		warned     bool
	}{{"unknown", nil, 1.3, 3, true}, {"quiet", quiet, 1, 1.1, false}} {
		p := c.On(tt.readings, time.Minute).Predict(a, free)
		if r := p.Seconds.High / plain.Seconds.High; !(tt.least <= r && r <= tt.top) || warned(p) != tt.warned {
			t.Errorf("%s: upper end %.3f times that without, warnings %v", tt.name, r, p.Warnings)
		}
		if p.Seconds.Value != plain.Seconds.Value || p.Idle != plain.Idle {
			t.Errorf("%s: value %v, idle %v; without %v, %v", tt.name, p.Seconds.Value, p.Idle, plain.Seconds.Value, plain.Idle)
		}
	}
	// A long inference feels the wait, one of a millisecond little of it.
	o := timing.NewOutlook(nil, timing.Sampled{Horizon: time.Minute, Crowd: 1, Level: Level})
	long, short := felt(o, 10), felt(o, 1e-3)
	if math.Abs(long.High/o.Wall.High-1) > 0.01 || math.Abs(short.High/(o.CPU.High*math.Pow(o.Wall.High/o.CPU.High, 1./11))-1) > 1e-9 || short.Low > 1 {
		t.Errorf("of 10 s %+v, of 1 ms %+v, by %+v", long, short, o)
	}
	loaded := c.On(nil, time.Minute).Predict(a, busy)
	if loaded.Slowdown < 1.5 || loaded.Seconds.Low > loaded.Idle {
		t.Errorf("slowed %.2f times: at least %v s, where the idle machine takes %v", loaded.Slowdown, loaded.Seconds.Low, loaded.Idle)
	}
	if p := c.Predict(a, free); math.Abs(p.Seconds.High-plain.Seconds.High) > 0 {
		t.Error("the calibration itself has changed")
	}
}
