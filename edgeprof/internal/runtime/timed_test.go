package runtime

import (
	"os/exec"
	goruntime "runtime"
	"testing"
	"time"
)

// Other work makes an inference longer by what its threads wait, and no more.
func TestUncontended(t *testing.T) {
	for name, tt := range map[string]struct {
		timed   Timing
		threads int
		want    float64
	}{
		"half of the time":            {Timing{[]float64{1, 1}, 1, 1}, 1, 0.5},
		"helpers waited too":          {Timing{[]float64{1, 1}, 1, 50}, 1, 0.5},
		"asleep":                      {Timing{[]float64{1, 1}, 1, 0}, 1, 1},
		"two threads, a third waited": {Timing{[]float64{3}, 4, 2}, 2, 2},
		"no clock":                    {Timing{[]float64{3}, 0, 0}, 2, 3},
	} {
		if got := tt.timed.UncontendedSeconds(tt.threads); got != tt.want {
			t.Errorf("%s: %v s, want %v", name, got, tt.want)
		}
	}
}

// Beside twice as many busy processes as there are processors a thread waits for one.
func TestStopwatch(t *testing.T) {
	for range 2 * goruntime.NumCPU() {
		c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Wait() })
	}
	w := NewStopwatch(5)
	if w.Runs != 6 {
		t.Errorf("%d runs for 5 counted", w.Runs)
	}
	for range w.Runs {
		start, x := time.Now(), 1.0
		for range 30_000_000 {
			x += 1 / x
		}
		w.Add(time.Since(start).Seconds() + 0*x)
	}
	timed := w.Timing()
	if len(timed.Seconds) != 5 {
		t.Errorf("%d times, want 5", len(timed.Seconds))
	}
	if had := timed.CPUShare(1); had > 0.9 || had <= 0 {
		t.Errorf("it had a processor for %.2f of its time: %+v", had, timed)
	}
}
