package profiler

import (
	"math"
	"testing"
)

// Times next to other work vary by it. They make the interval wider, and rates that are nearer
// to those of the idle machine; of times that were not repeated the most is assumed.
func TestExcess(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	idle, busy := 0.1, 1.8
	factors := map[bool][]float64{true: {1.2, 1.25, 1.5, 1.6}, false: {1, 1, 1, 1}}
	calibrate := func(felt *float64, disturbed bool, rounds int) *Calibration {
		cases := measurements(t, 0.05)
		for i := range cases {
			c := &cases[i]
			c.Times = nil
			for _, f := range factors[disturbed][:rounds] {
				c.Times = append(c.Times, f*c.Seconds)
			}
			shortest := factors[disturbed][0]
			c.Seconds *= shortest
			for j := range c.Kernels {
				*c.Kernels[j].Seconds *= shortest
			}
		}
		c, err := Calibrate(cases, Facts{ProbedTasks: felt})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	calm := calibrate(&idle, false, 4)
	kernels := measurements(t, 0)[0].Kernels
	far := func(c *Calibration) float64 { return math.Log(c.idle(kernels) / calm.idle(kernels)) }
	width := func(c *Calibration) float64 { return math.Log(c.High / c.Low) }
	next := calibrate(&busy, true, 4)
	mean := math.Log(1.25/1.2*1.5/1.2*1.6/1.2) / 4
	if calm.Facts.Excess != 0 || math.Abs(next.Facts.Excess-mean) > 1e-9 || math.Abs(far(next)-(math.Log(1.2)-mean+usualExcess)) > 1e-9 {
		t.Errorf("excess %v and %v, want 0 and %v; next to other work %v longer", calm.Facts.Excess, next.Facts.Excess, mean, far(next))
	}
	for name, c := range map[string]*Calibration{"an idle machine": calibrate(&idle, true, 4), "an unknown one": calibrate(nil, true, 4)} {
		if math.Abs(far(c)-math.Log(1.2)) > 1e-9 {
			t.Errorf("%s: times are corrected, %v longer", name, far(c))
		}
	}
	once := calibrate(&busy, true, 1)
	if !(width(next) > 1.5*width(calm)) || once.Facts.Excess != unrepeated || !(width(once) > width(next)) {
		t.Errorf("width %v alone, %v next to other work, %v measured once with an excess of %v", width(calm), width(next), width(once), once.Facts.Excess)
	}
}
