package profiler

import (
	"math"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// Each task gets its part of the cores, however many
// there are; an inference far shorter than a slice mostly does not wait, and may.
func TestFairLoad(t *testing.T) {
	c := bare()
	c.Low, c.High = 0.9, 1.1
	busy := device.Device{UUID: "here", Cores: 2, Load: device.Load{CPUPercent: 100, Load1: 7}}
	for seconds, want := range map[float64]float64{1: 4, 1e-6: 1} {
		for class := range c.Rates {
			c.Rates[class] = Rates{Start: seconds, Nodes: 1}
		}
		p := c.Predict(productOf(t, 1, false), busy)
		if math.Abs(p.Slowdown/want-1) > 0.02 || p.Seconds.High/p.Seconds.Value < 1.9 {
			t.Errorf("8 tasks on 2 cores, %v s: %v times, %+v", seconds, p.Slowdown, p.Seconds)
		}
	}
}
