package profiler

import (
	"errors"
	"math"
	"testing"

	"github.com/foretime/foretime/edgeprof/device"
)

// What was measured under load is found again, and what it leaves is doubt; more
// tasks than were tried go on as these did.
func TestLearnLoad(t *testing.T) {
	c := bare()
	c.Low, c.High, c.Facts.Cores, c.Facts.Threads = 0.9, 1.1, 2, 1
	var measured []Loaded
	for others := 1; others <= 4; others++ {
		for _, seconds := range []float64{1e-3, 50e-3} {
			x := terms(float64(others), 2, 1, seconds)
			for _, off := range []float64{0.9, 1.1} {
				measured = append(measured, Loaded{others, seconds, off * math.Exp(0.2*x[0]+1.4*x[1])})
			}
		}
	}
	if err := c.LearnLoad(measured); err != nil {
		t.Fatal(err)
	}
	if l := c.Load; math.Abs(l.Beside-0.2) > 0.05 || math.Abs(l.Waiting-1.4) > 0.05 || l.Spread < 0.08 || l.Spread > 0.13 {
		t.Errorf("%+v", l)
	}
	busy := device.Device{UUID: "here", Cores: 2, Load: device.Load{CPUPercent: 100, Running: 9}}
	a := multiplied(t, 1, false)
	for class := range c.Rates {
		c.Rates[class] = Rates{Start: 1, Nodes: 1} // far longer than a slice
	}
	idle, loaded := c.Predict(a, device.Device{UUID: "here", Cores: 2}), c.Predict(a, busy)
	if want := math.Exp(0.2) * math.Pow(5, 1.4); math.Abs(loaded.Slowdown/want-1) > 0.1 || idle.Slowdown != 1 {
		t.Errorf("10 tasks on 2 cores: %v times, want %v; idle %v", loaded.Slowdown, want, idle.Slowdown)
	}
	if !(loaded.Seconds.High/loaded.Seconds.Value > idle.Seconds.High/idle.Seconds.Value) {
		t.Errorf("no doubt from the load: %+v, idle %+v", loaded.Seconds, idle.Seconds)
	}
	if err := c.LearnLoad([]Loaded{{1, 1, math.NaN()}}); !errors.Is(err, ErrLoad) {
		t.Errorf("a factor that is none: %v", err)
	}
}

// Where nothing was measured each task gets its part of the cores, however many
// there are; an inference far shorter than a slice mostly does not wait, and may.
func TestFairLoad(t *testing.T) {
	c := bare()
	c.Low, c.High = 0.9, 1.1
	busy := device.Device{UUID: "here", Cores: 2, Load: device.Load{CPUPercent: 100, Load1: 7}}
	for seconds, want := range map[float64]float64{1: 4, 1e-6: 1} {
		for class := range c.Rates {
			c.Rates[class] = Rates{Start: seconds, Nodes: 1}
		}
		p := c.Predict(multiplied(t, 1, false), busy)
		if math.Abs(p.Slowdown/want-1) > 0.02 || p.Seconds.High/p.Seconds.Value < 1.9 {
			t.Errorf("8 tasks on 2 cores, %v s: %v times, %+v", seconds, p.Slowdown, p.Seconds)
		}
	}
}
