package prediction

import (
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// A model that was trained on one run time predicts that one's times.
func TestDefaultRuntime(t *testing.T) {
	of := func(names ...string) (settings []*profiler.Calibration) {
		for _, name := range names {
			settings = append(settings, &profiler.Calibration{Facts: profiler.Facts{Runtime: name}})
		}
		return settings
	}
	for _, tt := range []struct {
		settings []*profiler.Calibration
		want     string
	}{{of("ort"), "ort"}, {of("go"), "go"}, {of("ort", "go"), "ort"}, {of("go", "ort"), "ort"}, {nil, ""}} {
		if got := defaultRuntime(tt.settings); got != tt.want {
			t.Errorf("%d settings: %q, want %q", len(tt.settings), got, tt.want)
		}
	}
}
