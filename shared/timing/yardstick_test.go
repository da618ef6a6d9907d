package timing

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestYardstickSD(t *testing.T) {
	var cpu, cost time.Duration
	y := &Yardstick{
		cpu:  func() (time.Duration, error) { return cpu, nil },
		work: func() float64 { cpu += cost; return 1 },
	}
	if got := y.SD(); got != 0 {
		t.Errorf("no readings: SD %v, want 0", got)
	}
	for _, cost = range []time.Duration{10 * time.Millisecond, 40 * time.Millisecond} {
		if err := y.Read(); err != nil {
			t.Fatal(err)
		}
	}
	want := math.Log(4) / math.Sqrt2 // two values that far apart
	if got := y.SD(); math.Abs(got-want) > 1e-12 {
		t.Errorf("SD %v, want %v", got, want)
	}
}

func TestYardstickClockFails(t *testing.T) {
	bad := errors.New("no such clock")
	y := NewYardstick(func() (time.Duration, error) { return 0, bad })
	if err := y.Read(); !errors.Is(err, bad) {
		t.Errorf("got %v, want the clock's error", err)
	}
	if n := len(y.readings); n != 0 {
		t.Errorf("%d readings kept, want none", n)
	}
}

// TestYardstickReal checks that the real work costs processor time on the real
// clocks, and that the compiler cannot know its result.
func TestYardstickReal(t *testing.T) {
	y := NewYardstick(ThreadCPU)
	if err := y.Read(); err != nil {
		t.Fatal(err)
	}
	if len(y.readings) != 1 || !(y.readings[0] > 0) || y.result == 0 || math.IsNaN(y.result) || math.IsInf(y.result, 0) {
		t.Errorf("readings %v, result %v", y.readings, y.result)
	}
}
