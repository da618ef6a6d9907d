package cli

import (
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// TestMeasuredOperators: calibration measures exactly the operators that predictions rest on.
func TestMeasuredOperators(t *testing.T) {
	missing := map[string]bool{}
	measured := profiler.MeasuredOperators
	for op := range measured {
		missing[op] = true
	}
	for _, op := range []string{"Identity", "Squeeze", "Unsqueeze", "Dropout", "If", "Loop", "Scan"} {
		delete(missing, op) // run the code of others, or none
	}
	for _, s := range calibrationModels() {
		m, err := synth.New(s.family, s.size)
		if err != nil {
			t.Fatal(err)
		}
		a, err := onnx.Analyze(m, onnx.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range a.Kernels(measurement.RuntimeFusion("go")) {
			delete(missing, k.Op)
			if k.Variant != "" || !measured[k.Op] {
				t.Errorf("%s: %s %q is measured, but counts as not", s.family, k.Op, k.Variant)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("count as measured, but no model has %v", missing)
	}
}
