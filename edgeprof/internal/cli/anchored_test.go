package cli

import (
	"testing"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// Rates of the idle machine are kept; those measured next to other work, or next to an unknown
// amount of it, for some minutes.
func TestLasting(t *testing.T) {
	when := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	none, some, much := 0.0, profiler.Busy, 1.7
	for name, test := range map[string]struct {
		felt  *float64
		after time.Duration
		want  bool
	}{
		"idle": {&none, 100 * time.Hour, true}, "almost idle": {&some, 100 * time.Hour, true},
		"busy, a minute ago": {&much, time.Minute, true}, "busy, an hour ago": {&much, time.Hour, false},
		"unknown, a minute ago": {nil, time.Minute, true}, "unknown, an hour ago": {nil, time.Hour, false},
	} {
		f := profiler.Facts{When: when.Format(time.RFC3339), ProbedTasks: test.felt}
		if got := lasting(&f, when.Add(test.after)); got != test.want {
			t.Errorf("%s: lasting %v, want %v", name, got, test.want)
		}
	}
	if lasting(&profiler.Facts{When: "yesterday", ProbedTasks: &none}, when) {
		t.Error("rates without a date last")
	}
}
