package timing

import (
	"testing"
	"time"
)

// Threads that wake for a moment beside one that computes want no processor of
// their own; an interval counts by how long any thread was ready in it.
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
