package timing

import (
	"testing"
	"time"
)

// TestParallel checks that threads that wake for a moment during a computation do
// not count as parallel, and that an interval is weighted by the longest ready time
// of a thread.
func TestParallel(t *testing.T) {
	var m Meter
	for _, step := range []struct {
		ready []time.Duration
		want  float64
	}{
		{nil, 0},
		{[]time.Duration{0, 0}, 0},
		{[]time.Duration{20, 1, 2}, 1},
		{[]time.Duration{20, 20, 19, 1}, 2}, // (20*1 + 20*3) / 40
		{[]time.Duration{1, 1, 1, 1, 1}, 85.0 / 41},
	} {
		if got := m.parallel(step.ready); got != step.want {
			t.Errorf("%v: %v, want %v", step.ready, got, step.want)
		}
	}
}
