package timing

import (
	"errors"
	"math"
	"testing"
	"time"
)

// machineClocks holds a wall clock and a processor clock that work advances.
type machineClocks struct{ wall, cpu time.Duration }

func (c *machineClocks) now() time.Time                    { return time.Unix(1000, 0).Add(c.wall) }
func (c *machineClocks) processor() (time.Duration, error) { return c.cpu, nil }
func (c *machineClocks) work(wall, cpu time.Duration) func() float64 {
	return func() float64 { c.wall += wall; c.cpu += cpu; return 1 }
}

// TestYardstickParts checks that each part gets the wall and the processor time of
// its own work.
func TestYardstickParts(t *testing.T) {
	c := &machineClocks{}
	y := &Yardstick{now: c.now, cpu: c.processor, compute: c.work(40*time.Millisecond, 15*time.Millisecond), memory: c.work(20*time.Millisecond, 18*time.Millisecond)}
	r, err := y.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := Reading{At: time.Unix(1000, 0), Compute: Cost{0.040, 0.015}, Memory: Cost{0.020, 0.018}}
	for _, d := range []float64{r.Compute.Wall - want.Compute.Wall, r.Compute.CPU - want.Compute.CPU, r.Memory.Wall - want.Memory.Wall, r.Memory.CPU - want.Memory.CPU} {
		if math.Abs(d) > 1e-12 {
			t.Fatalf("got %+v, want %+v", r, want)
		}
	}
	if !r.At.Equal(want.At) {
		t.Errorf("at %v, want the start, %v", r.At, want.At)
	}
}

func TestYardstickClockFails(t *testing.T) {
	c, bad := &machineClocks{}, errors.New("no such clock")
	y := &Yardstick{now: c.now, cpu: func() (time.Duration, error) { return 0, bad }, compute: c.work(1, 1), memory: c.work(1, 1)}
	if _, err := y.Read(); !errors.Is(err, bad) {
		t.Errorf("got %v, want the clock's error", err)
	}
}

// TestYardstickReal checks that the real work costs processor time on the real
// clocks, and that the compiler cannot know its result.
func TestYardstickReal(t *testing.T) {
	y := NewYardstick(time.Now, ThreadCPU)
	r, err := y.Read()
	if err != nil {
		t.Fatal(err)
	}
	if !r.valid() || y.result == 0 || math.IsNaN(y.result) || math.IsInf(y.result, 0) {
		t.Errorf("reading %+v, result %v", r, y.result)
	}
	before, err := ProcessCPU()
	if err != nil {
		t.Fatal(err)
	}
	y.compute()
	if after, err := ProcessCPU(); err != nil || after <= before {
		t.Errorf("the process's processor time went from %v to %v, %v", before, after, err)
	}
}
