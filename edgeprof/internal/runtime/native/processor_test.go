package native

import (
	"errors"
	"testing"
	"time"
)

// A kernel's time is its processor time where that is less than its wall time, and
// its wall time without a processor clock, with one that fails, and where other
// threads of the process worked meanwhile.
func TestTimedKernel(t *testing.T) {
	var wall, used time.Duration
	s := &Session{clock: func() time.Time { return time.Unix(0, 0).Add(wall) }}
	kernel := func(w, cpu time.Duration) float64 {
		return s.timedKernel(func() { wall, used = wall+w, used+cpu })
	}
	if got := kernel(30*time.Millisecond, 10*time.Millisecond); got != 0.030 {
		t.Errorf("without a processor clock: %v s", got)
	}
	s.UseProcessorTime(func() (time.Duration, error) { return used, nil })
	if got := kernel(30*time.Millisecond, 10*time.Millisecond); got != 0.010 {
		t.Errorf("20 of 30 ms were a wait: %v s", got)
	}
	if got := kernel(30*time.Millisecond, 50*time.Millisecond); got != 0.030 {
		t.Errorf("beside the garbage collector: %v s", got)
	}
	s.UseProcessorTime(func() (time.Duration, error) { return 0, errors.New("no clock") })
	if got := kernel(30*time.Millisecond, 10*time.Millisecond); got != 0.030 {
		t.Errorf("with a clock that fails: %v s", got)
	}
}
