package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A model's job is the stretch of median device time between two waits of its recording.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// A cut stretch, then jobs of 30, 1000 and 40 ns, then a cut one.
	write("waits.json", `{"launches": [{"gap_ns": 1, "time_ns": 500},
		{"gap_ns": 70, "wait": true, "time_ns": 10}, {"gap_ns": 2, "time_ns": 20},
		{"gap_ns": 80, "wait": true, "time_ns": 1000},
		{"gap_ns": 90, "wait": true, "time_ns": 10}, {"gap_ns": 4, "time_ns": 10}, {"gap_ns": 8, "time_ns": 20, "kernels": 5},
		{"gap_ns": 60, "wait": true, "time_ns": 7}]}`)
	write("never.json", `{"launches": [{"gap_ns": 5, "time_ns": 500}, {"gap_ns": 3, "time_ns": 400}]}`)
	write("empty.json", `{"launches": []}`)
	one := func(trace, more string) string {
		return write("x.json", `{"models": [{"model_name": "m", "trace": "`+trace+`"`+more+`}], "exp_dur": 1}`)
	}
	tests := []struct {
		trace, more   string
		times         []time.Duration
		sleep, launch time.Duration
		warning       string
	}{
		{"waits.json", "", []time.Duration{10, 10, 20}, 90, 6, ""},
		{"waits.json", `, "sleep_time": 0.5, "launch_ns": 9`, []time.Duration{10, 10, 20}, time.Second / 2, 9, ""},
		{"never.json", "", []time.Duration{500, 400}, 0, 3, "one job is the whole recording, 2 launches"},
	}
	for _, tt := range tests {
		x, err := Load(one(tt.trace, tt.more))
		if err != nil {
			t.Fatal(err)
		}
		m := x.Models[0]
		if diff := cmp.Diff(tt.times, m.KernelTimes); diff != "" || m.Kernels != len(tt.times) || m.Pause() != tt.sleep || m.LaunchCost != tt.launch {
			t.Errorf("%s%s: %+v %s", tt.trace, tt.more, m, diff)
		}
		if len(x.Warnings) != strings.Count(tt.warning, "job") || tt.warning != "" && !strings.Contains(x.Warnings[0].Error(), tt.warning) {
			t.Errorf("%s: warnings %v", tt.trace, x.Warnings)
		}
	}
	for _, tt := range []struct{ trace, more, want string }{
		{"absent.json", "", "x.json: models[0].trace: open " + filepath.Join(dir, "absent.json")},
		{"empty.json", "", "x.json: models[0].trace: " + filepath.Join(dir, "empty.json") + ":1: not a trace"},
		{"waits.json", `, "kernels": 1, "kernel_ns": 1`, "models[0].trace: want either a trace or kernels"},
	} {
		if _, err := Load(one(tt.trace, tt.more)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s%s: %v, want %s", tt.trace, tt.more, err, tt.want)
		}
	}
}
