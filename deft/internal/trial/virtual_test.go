package trial

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/report"
)

func parse(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Parse("x.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

const table = `{"models": [
	{"model_name": "fasterrcnn_resnet50_fpn", "output_file_name": "low", "resize": true, "resize_size": [720, 1280]},
	{"model_name": "resnet50", "output_file_name": "high", "priority": 1, "sleep_time": 0.02, "batch_size": 2, "sync_level": "layer"}
], "exp_dur": 1, "policy": "priority"}`

// Models of the table run with the kernels of their input size, and the files
// hold every job, the warm-up first.
func TestVirtual(t *testing.T) {
	x := parse(t, table)
	if err := x.SetOutputDir(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	o, err := Virtual(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	low, err := experiment.Lookup("fasterrcnn_resnet50_fpn", experiment.Input{Height: 720, Width: 1280, Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := o.Run.Models[0]
	if m.Launches != m.Jobs*low.Kernels() || m.Name != "fasterrcnn_resnet50_fpn_720x1280_batch_1_sleep_0" || m.StallMS <= 0 || m.JCT.Min < milliseconds(low.DeviceTime()) {
		t.Errorf("%+v", m)
	}
	if w := strings.Join(o.Run.Warnings, "\n"); !strings.Contains(w, "high: sync_level layer") || !strings.Contains(w, "high: no resize_size") {
		t.Errorf("warnings %s", w)
	}
	if err := o.Save(); err != nil {
		t.Fatal(err)
	}
	log, err := report.LoadLog(filepath.Join(x.Models[0].OutputDir, "low.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Jobs) != m.Jobs || log.WarmUp.StartNs != 0 || *log.Jobs[0].AllocatedBytes != low.AllocatedBytes {
		t.Errorf("%d jobs in the log, %d in the run, warm-up %+v", len(log.Jobs), m.Jobs, log.WarmUp)
	}
}

func TestVirtualRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"models": [{"model_name": "warpnet"}], "exp_dur": 1}`:                      "no kernels are known",
		`{"models": [{"model_name": "codegen-350M-mono"}], "exp_dur": 1}`:            "no kernels are known",
		`{"models": [{"model_name": "resnet50"}], "exp_dur": 1, "policy": "chance"}`: "unknown policy",
	} {
		if _, err := Virtual(t.Context(), parse(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
