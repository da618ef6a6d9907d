package trial

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/simcuda"
)

// bench is the pair of the acceptance tests on both clocks of one machine.
type bench struct {
	b             *testing.B
	lib           string
	device        simcuda.Built
	launch, point time.Duration // costs of the host here, for the virtual clock
}

func newBench(b *testing.B) *bench {
	b.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		b.Skip("needs cc: install with apt-get install gcc")
	}
	c := built
	lib, err := hook.Build(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	device, err := simcuda.Build(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	return &bench{b: b, lib: lib, device: device}
}

// calibrate measures the host's costs as they are now: another program on the
// machine changes them.
func (w *bench) calibrate() {
	// A launch costs what a job of many short kernels takes for each; a point,
	// what a job with one after each kernel takes beyond its kernels.
	many := w.alone(`"kernels": 2000, "kernel_ns": 1`, 0)
	w.launch = time.Duration(many.JCT.P50 * 1e6 / 2000)
	each := w.alone(`"kernels": 400, "kernel_ns": 100000`, 1)
	w.point = max(time.Duration(each.JCT.P50*1e6/400)-100*time.Microsecond, time.Microsecond)
}

func (w *bench) experiment(text string) *experiment.Experiment {
	x, err := experiment.Parse("bench.json", []byte(text))
	if err != nil {
		w.b.Fatal(err)
	}
	if err := x.SetOutputDir(w.b.TempDir()); err != nil {
		w.b.Fatal(err)
	}
	return x
}

func (w *bench) real(x *experiment.Experiment) *report.Run {
	m := SimulatedMachine(x, w.lib, w.device, w.b.TempDir(), os.Environ())
	m.Place = place(w.b)
	o, err := Real(w.b.Context(), x, m)
	if err != nil {
		w.b.Fatal(err)
	}
	return o.Run
}

// seconds returns the length of a run, with -short a third of it: enough to see that it runs.
func seconds(usual float64) float64 {
	if testing.Short() {
		return usual / 3
	}
	return usual
}

// alone is one model by itself, with a synchronization point every so many
// launches where above 0.
func (w *bench) alone(fields string, sync int) report.Model {
	policy := "none"
	if sync > 0 {
		policy = "sync"
	}
	x := w.experiment(fmt.Sprintf(`{"models": [{"model_name": "m", %s, "control": {"queue_limit": {"sync": %d}}}], "exp_dur": %g, "policy": %q}`, fields, sync, seconds(1), policy))
	return w.real(x).Models[0]
}

// pair is a job of 400 kernels of 100 us without pause and an urgent one of 100
// of 50 us, 50 ms apart.
func (w *bench) pair(policy string, sync int) *experiment.Experiment {
	return w.experiment(fmt.Sprintf(`{"models": [
		{"model_name": "A", "kernels": 400, "kernel_ns": 100000, "control": {"queue_limit": {"sync": %d}}},
		{"model_name": "B", "kernels": 100, "kernel_ns": 50000, "priority": 1, "sleep_time": 0.05}
	], "exp_dur": %g, "jitter": 0.05, "policy": %q}`, sync, seconds(3), policy))
}

// virtual is the experiment on the virtual clock with the host's costs here, the
// mean of seeds.
func (w *bench) virtual(x *experiment.Experiment) (a, b float64) {
	const seeds = 4
	x.SyncCost, x.Duration = w.point, 4*x.Duration
	for i := range x.Models {
		x.Models[i].LaunchCost = w.launch
	}
	for seed := range uint64(seeds) {
		x.Seed = seed
		o, err := Virtual(w.b.Context(), x)
		if err != nil {
			w.b.Fatal(err)
		}
		a += o.Run.Models[0].JCT.P50 / seeds
		b += o.Run.Models[1].JCT.P50 / seeds
	}
	return a, b
}

// BenchmarkTradeOff is the trade-off curve over N under priority: median
// completion times on the simulated device in real time, and how the virtual
// clock's compare, in one run.
func BenchmarkTradeOff(b *testing.B) {
	w := newBench(b)
	for _, n := range []int{1, 4, 16, 64, 1000000} {
		b.Run(fmt.Sprintf("sync=%d", n), func(b *testing.B) {
			var r *report.Run
			for b.Loop() {
				r = w.real(w.pair("priority", n))
			}
			a, urgent := r.Models[0].JCT.P50, r.Models[1].JCT.P50
			w.calibrate()
			va, vb := w.virtual(w.pair("priority", n))
			b.ReportMetric(a, "A-ms")
			b.ReportMetric(urgent, "B-ms")
			b.ReportMetric(va/a, "A-virtual/real")
			b.ReportMetric(vb/urgent, "B-virtual/real")
			b.ReportMetric(float64(w.launch.Nanoseconds()), "launch-ns")
			b.ReportMetric(float64(w.point.Nanoseconds()), "point-ns")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkUrgentJob is what sharing costs on the simulated device in real time:
// mean completion times over those alone, without the gate and with it.
func BenchmarkUrgentJob(b *testing.B) {
	w := newBench(b)
	low := w.alone(`"kernels": 400, "kernel_ns": 100000`, 0).JCT
	urgent := w.alone(`"kernels": 100, "kernel_ns": 50000, "sleep_time": 0.05`, 0).JCT
	for _, name := range []string{"none", "priority"} {
		b.Run("policy="+name, func(b *testing.B) {
			var r *report.Run
			for b.Loop() {
				r = w.real(w.pair(name, 16))
			}
			b.ReportMetric(r.Models[0].JCT.Mean/low.Mean, "A/alone")
			b.ReportMetric(r.Models[1].JCT.Mean/urgent.Mean, "B/alone")
			b.ReportMetric(r.Models[1].JCT.P50/urgent.P50, "B-p50/alone")
			b.ReportMetric(0, "ns/op")
		})
	}
}
