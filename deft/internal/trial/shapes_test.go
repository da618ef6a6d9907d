package trial

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/stats"
)

// shapes are the shapes of a background program, as testdata/shapes.c has them.
var shapes = []string{"plain", "default", "streams", "threads", "contexts", "copy", "events", "capture", "graphs", "fork"}

// shaped runs a background program of 400 kernels of 100 us a job in a shape
// beside the urgent one, under a policy.
func (w *bench) shaped(shape, policy string, seconds float64) *report.Run {
	path, err := cc.Build(w.b.Context(), built, cc.Product{
		Name: "shapes", Sources: []fs.FS{os.DirFS("testdata")}, Args: []string{"-O2", "-std=gnu11", "-pthread", "shapes.c"},
	})
	if err != nil {
		w.b.Fatal(err)
	}
	return w.beside(policy, seconds, func(p *Program, csv string) {
		p.Path, p.Args = path, []string{shape, csv, strconv.FormatFloat(seconds, 'f', -1, 64), "400", "100000"}
	})
}

// beside runs a background program in the place of model A beside the urgent one.
func (w *bench) beside(policy string, seconds float64, background func(p *Program, csv string)) *report.Run {
	x := w.experiment(fmt.Sprintf(`{"models": [
		{"model_name": "synthetic", "kernels": 400, "kernel_ns": 100000, "priority": 0, "output_file_name": "A"},
		{"model_name": "synthetic", "kernels": 100, "kernel_ns": 50000, "sleep_time": 0.05, "priority": 1, "deadline_ms": 15, "output_file_name": "B"}
	], "exp_dur": %g, "min_jobs": 1, "policy": %q}`, seconds, policy))
	m := SimulatedMachine(x, w.lib, w.device, w.b.TempDir(), os.Environ())
	m.Place = place(w.b)
	usual := m.Program
	m.Program = func(model *experiment.Model, x *experiment.Experiment) (Program, error) {
		p, err := usual(model, x)
		if model.OutputName == "A" {
			background(&p, model.CSV())
		}
		return p, err
	}
	o, err := Real(w.b.Context(), x, m)
	if err != nil {
		w.b.Fatal(err)
	}
	return o.Run
}

// BenchmarkShapes is what the urgent job takes over its time alone beside a
// program of each shape, and what that takes over its time under no policy, under
// each policy that protects: medians over runs of a second (-benchtime 5x: five).
func BenchmarkShapes(b *testing.B) {
	w := newBench(b)
	for _, shape := range shapes {
		w.protected(b, "shape="+shape, func(policy string) *report.Run { return w.shaped(shape, policy, seconds(1)) })
	}
}

// protected reports the ratios of one background program under each policy.
func (w *bench) protected(b *testing.B, name string, run func(policy string) *report.Run) {
	urgent := w.alone(`"kernels": 100, "kernel_ns": 50000, "sleep_time": 0.05`, 0).JCT
	none := run("none")
	policies := []string{"priority", "fair", "edf"}
	if testing.Short() {
		policies = policies[:1]
	}
	for _, policy := range policies {
		b.Run(name+"/policy="+policy, func(b *testing.B) {
			var p50, p99, other []float64
			for b.Loop() {
				r := run(policy)
				p50, p99 = append(p50, r.Models[1].JCT.P50/urgent.P50), append(p99, r.Models[1].JCT.P99/urgent.P99)
				other = append(other, r.Models[0].JCT.Mean/none.Models[0].JCT.Mean)
			}
			b.ReportMetric(none.Models[1].JCT.P50/urgent.P50, "B-p50-none/alone")
			b.ReportMetric(stats.Median(p50), "B-p50/alone")
			b.ReportMetric(stats.Median(p99), "B-p99/alone")
			b.ReportMetric(stats.Median(other), "A/none")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkFrameworks is BenchmarkShapes with frameworks over the simulated driver
// in the background: tinygrad's training, kernels of 500 ns a block, and a program
// by cuda-python.
func BenchmarkFrameworks(b *testing.B) {
	w := newBench(b)
	wheels, err := filepath.Glob(filepath.Join("..", "..", "..", "out", "real", "pip", "*"))
	if err != nil || !slices.ContainsFunc(wheels, func(p string) bool { return strings.Contains(p, "tinygrad==") }) {
		b.Skip("needs the wheels of deft/real.txt in out/real/pip")
	}
	for i := range wheels {
		if wheels[i], err = filepath.Abs(wheels[i]); err != nil {
			b.Fatal(err)
		}
	}
	wheels = slices.DeleteFunc(wheels, func(p string) bool { return !strings.Contains(p, "tinygrad==") && !strings.Contains(p, "/cuda-") })
	for _, name := range []string{"tinygrad", "cuda"} {
		script, err := filepath.Abs(filepath.Join("..", "..", "hook", "testdata", "framework_"+name+".py"))
		if err != nil {
			b.Fatal(err)
		}
		w.protected(b, "framework="+name, func(policy string) *report.Run {
			return w.beside(policy, 4, func(p *Program, csv string) {
				p.Path, p.Args = "/usr/bin/env", []string{"python3", script, "4", csv}
				p.Env = append(p.Env, "PYTHONPATH="+strings.Join(wheels, ":"), "DEV=CUDA:PTX", "SIMCUDA_NS_PER_BLOCK="+map[string]string{"tinygrad": "500", "cuda": "1"}[name])
			})
		})
	}
}
