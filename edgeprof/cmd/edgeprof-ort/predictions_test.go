package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/stats"
)

var predict = flag.Bool("predictions", false, "hold predictions against measured times of models that people ship; minutes, on a machine that should be idle")

// predicted is a model's predicted time beside the measured one, in seconds.
type predicted struct {
	name             string
	measured         float64
	value, low, high float64
	repeated         float64 // the longest round over the shortest
}

// rig runs the commands as they are built.
type rig struct {
	t      *testing.T
	folder string
}

// built is a rig of the commands as they are now.
func built(t *testing.T) *rig {
	t.Helper()
	r := &rig{t, t.TempDir()}
	for _, command := range []string{".", "../edgeprof"} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", r.folder+"/", command).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return r
}

func (r *rig) run(args ...string) []byte {
	r.t.Helper()
	c := exec.CommandContext(r.t.Context(), filepath.Join(r.folder, "edgeprof"), args...)
	c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+r.folder, "XDG_CACHE_HOME="+r.folder, "HOME="+r.folder)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		r.t.Fatalf("edgeprof %v: %v", args, err)
	}
	return out
}

// model is a file with its sizes as flags.
type model struct {
	path  string
	sizes []string
}

// uncontended is the median of 30 inferences, less what they waited for processors.
func (r *rig) uncontended(m model) float64 {
	var took struct {
		P50 float64 `json:"uncontended_p50_seconds"`
	}
	if err := json.Unmarshal(r.run(slices.Concat([]string{"time", m.path, "--runs", "30", "--json"}, m.sizes)...), &took); err != nil {
		r.t.Fatal(err)
	}
	return took.P50
}

// idle writes a list of one device: this machine, as a calibration of it says, with
// nothing else to do.
func (r *rig) idle(calibration string) string {
	r.t.Helper()
	text, err := os.ReadFile(calibration)
	if err != nil {
		r.t.Fatal(err)
	}
	var c struct{ Facts map[string]any }
	if err := json.Unmarshal(text, &c); err != nil {
		r.t.Fatal(err)
	}
	here := map[string]any{"node": "here", "load": map[string]any{"cpu_percent": 0, "disk_percent": 0}}
	for _, name := range []string{"node_uuid", "device_model", "processor", "cores", "max_mhz"} {
		here[name] = c.Facts[name]
	}
	list, err := json.Marshal([]any{here})
	if err != nil {
		r.t.Fatal(err)
	}
	path := filepath.Join(r.folder, "here.json")
	if err := os.WriteFile(path, list, 0o644); err != nil {
		r.t.Fatal(err)
	}
	return "file:" + path
}

// predict returns what the model's own profile says of the idle machine, or, if a file of rates is
// given, what these say without it.
func (r *rig) predict(m model, idle, rates string) predicted {
	args := slices.Concat([]string{"rank", m.path, "--json", "--source", idle}, m.sizes)
	if rates != "" {
		args = append(args, "--calibration", rates, "--ort-library", filepath.Join(r.folder, "none"))
	}
	var ranking placement.Ranking
	if err := json.Unmarshal(r.run(args...), &ranking); err != nil {
		r.t.Fatal(err)
	}
	p := ranking.Candidates[0].Seconds
	return predicted{value: p.Value, low: p.Low, high: p.High}
}

// busy keeps two processors at work until it is stopped.
func (r *rig) busy() (stop func()) {
	var all []*exec.Cmd
	for range 2 {
		c := exec.CommandContext(r.t.Context(), "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			r.t.Fatal(err)
		}
		all = append(all, c)
	}
	stop = func() {
		for _, c := range all {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed
		}
	}
	r.t.Cleanup(stop) // where the calibration fails
	return stop
}

// Predicted against measured times: by one profile, and by rates alone after calibrate and after
// one beside two busy processes. A measured time is the median of three rounds, between which
// the machine is calibrated; layers are measured too.
func TestPredictedTimes(t *testing.T) {
	if !*predict {
		t.Skip("run with -predictions")
	}
	r := built(t)
	var models []model
	for _, w := range wheels {
		m := model{path: filepath.Join(installed(t, w.wheel), w.file)}
		for _, name := range slices.Sorted(maps.Keys(w.sizes)) {
			m.sizes = append(m.sizes, "--dim", fmt.Sprintf("%s=%d", name, w.sizes[name]))
		}
		models = append(models, m)
	}
	plain, beside := filepath.Join(r.folder, "plain.json"), filepath.Join(r.folder, "beside.json")
	rounds := make([][]float64, len(models))
	measure := func() {
		for i, m := range models {
			rounds[i] = append(rounds[i], r.uncontended(m))
		}
	}
	measure()
	r.run("calibrate", "--out", plain)
	measure()
	stop := r.busy()
	r.run("calibrate", "--out", beside)
	stop()
	measure()
	idle := r.idle(plain)
	for _, m := range models { // refused by none
		r.run(slices.Concat([]string{"layers", m.path, "--measure", "--json"}, m.sizes)...)
	}
	ways := []string{"by one profile", "after calibrate", "after calibrate beside two busy processes"}
	all := map[string][]predicted{}
	for i, m := range models {
		for k, file := range []string{"", plain, beside} {
			f := r.predict(m, idle, file)
			f.name, f.measured, f.repeated = filepath.Base(m.path), stats.Median(rounds[i]), slices.Max(rounds[i])/slices.Min(rounds[i])
			all[ways[k]] = append(all[ways[k]], f)
		}
	}
	for i := range models {
		line := ""
		for _, way := range ways {
			f := all[way][i]
			line += fmt.Sprintf("  %9.3f (%.3f to %.3f)", 1000*f.value, 1000*f.low, 1000*f.high)
		}
		f := all[ways[0]][i]
		t.Logf("%-40s %9.3f ms, repeated %.2f%s", f.name, 1000*f.measured, f.repeated, line)
	}
	t.Log("| prediction | models | MAPE | within 10 % | within 25 % | held by 90 % intervals | median width, of the value |")
	for _, way := range ways {
		long := slices.DeleteFunc(slices.Clone(all[way]), func(f predicted) bool { return f.measured < 1e-3 })
		t.Log(row(way+", above 1 ms", long))
		t.Log(row(way+", all", all[way]))
	}
}

// row of a table in Markdown.
func row(name string, fs []predicted) string {
	n, off, ten, quarter, held := float64(len(fs)), 0.0, 0.0, 0.0, 0.0
	var widths []float64
	count := func(yes bool, to *float64) {
		if yes {
			*to++
		}
	}
	for _, f := range fs {
		e := math.Abs(f.value/f.measured - 1)
		off += e
		count(e <= 0.10, &ten)
		count(e <= 0.25, &quarter)
		count(f.low <= f.measured && f.measured <= f.high, &held)
		widths = append(widths, (f.high-f.low)/f.value)
	}
	return fmt.Sprintf("| %s | %.0f | %.1f %% | %.0f %% | %.0f %% | %.0f %% | %.2f |", name, n, 100*off/n, 100*ten/n, 100*quarter/n, 100*held/n, stats.Median(widths))
}
