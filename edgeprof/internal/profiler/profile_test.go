package profiler

import (
	"math"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// profiledCase is a model whose kernels each take so many times as long as rates say; those
// that move data ten times.
func profiledCase(t *testing.T, a *onnx.Analysis, rates *Calibration, factor float64) Case {
	t.Helper()
	m := Case{Model: "own", Threads: 1, Kernels: measurement.NewKernels(a.Kernels())}
	for i, s := range rates.kernels(m.Kernels) {
		if m.Kernels[i].Class == onnx.ClassMove {
			s *= 10
		}
		s *= factor
		m.Kernels[i].Seconds = &s
		m.Seconds += s
	}
	return m
}

// A profiled model takes its measured time on the machine of the profile, whatever the rates
// say, and on a device with twice the clock half of it. On a device with rates of its own a
// kernel takes as much longer as the rates of its class do.
func TestProfile(t *testing.T) {
	rates := &Calibration{Rates: truth, Models: 1, Low: 0.8, High: 1.25, Facts: Facts{Shipped: true, Threads: 1, Device: "elsewhere"}}
	a := analysis(t, "transformer", synth.Size{})
	m := profiledCase(t, a, rates, 3)
	here := Facts{Threads: 1, Device: "this", UUID: "u", Processor: "Cortex-A53", Cores: 4, MaxMHz: 1000}
	p := NewProfile(m, rates, here)
	machine := device.Device{Node: "n", Model: "this", UUID: "u", Processor: "Cortex-A53", Cores: 4, MaxMHz: 1000}
	got := p.Rates.WithProfile(p).Predict(a, machine)
	if math.Abs(got.Seconds.Value/m.Seconds-1) > 1e-9 || !got.Seconds.IsBounded() || len(got.Warnings) > 0 || got.Seconds.High > 1.2*m.Seconds {
		t.Errorf("here: %+v, want %v without a warning", got, m.Seconds)
	}
	machine.Node, machine.UUID, machine.MaxMHz = "fast", "v", 2000
	fast := p.Rates.WithProfile(p).Predict(a, machine)
	if math.Abs(fast.Seconds.Value/m.Seconds-0.5) > 1e-9 || fast.Seconds.High < 0.55*m.Seconds {
		t.Errorf("twice the clock: %+v, want half of %v", fast.Seconds, m.Seconds)
	}
	slow := &Calibration{Rates: map[onnx.Class]Rates{}, Models: 1, Low: 0.8, High: 1.25, Facts: Facts{Threads: 1, Device: "slow", Cores: 4}}
	for class, r := range truth {
		factor := 3.0
		if class == onnx.ClassMove {
			factor = 6
		}
		slow.Rates[class] = Rates{r.Start * factor, r.MAC * factor, r.Byte * factor, r.Nodes}
	}
	want := 0.0
	for _, k := range m.Kernels {
		factor := 3.0
		if k.Class == onnx.ClassMove {
			factor = 6
		}
		want += factor * *k.Seconds
	}
	level := m.Seconds / rates.idle(m.Kernels) // of this machine over the calibrated one
	other := slow.WithProfile(p).Predict(a, device.Device{Node: "s", Model: "slow", Cores: 4})
	if math.Abs(other.Seconds.Value*level/want-1) > 1e-6 {
		t.Errorf("with rates of its own: %v, want %v", other.Seconds.Value, want/level)
	}
}

// A model of which only the whole was measured, as one with control flow, takes its whole
// time; another model is predicted by rates.
func TestProfileWhole(t *testing.T) {
	rates := &Calibration{Rates: truth, Models: 1, Low: 0.8, High: 1.25, Facts: Facts{Threads: 1, Device: "this", Cores: 4}}
	a := analysis(t, "resnet", synth.Size{})
	m := profiledCase(t, a, rates, 2)
	for i := range m.Kernels {
		m.Kernels[i].Seconds = nil
	}
	p := NewProfile(m, rates, rates.Facts)
	machine := device.Device{Node: "n", Model: "this", Cores: 4}
	if got := rates.WithProfile(p).Predict(a, machine).Idle; math.Abs(got/m.Seconds-1) > 1e-9 {
		t.Errorf("%v, want %v", got, m.Seconds)
	}
	other := analysis(t, "mlp", synth.Size{})
	if got, want := rates.WithProfile(p).Predict(other, machine).Idle, rates.Predict(other, machine).Idle; got != want {
		t.Errorf("another model: %v, want %v", got, want)
	}
}

// Rates with two numbers of threads are exact for these, and follow Amdahl's law for others;
// rates with one are less certain with more.
func TestForThreads(t *testing.T) {
	one := &Calibration{Rates: truth, Low: 0.9, High: 1.1, Facts: Facts{Threads: 1}}
	all := &Calibration{Rates: map[onnx.Class]Rates{}, Low: 0.9, High: 1.1, Facts: Facts{Threads: 2}}
	for class, r := range truth {
		all.Rates[class] = Rates{r.Start, r.MAC * 0.6, r.Byte, r.Nodes} // 0.8 of the products are divided
	}
	alone := one.ForThreads(4)
	if r := alone.Rates[onnx.ClassConv]; r.MAC >= truth[onnx.ClassConv].MAC || alone.High <= 1.1 || alone.Facts.Threads != 4 {
		t.Errorf("measured with one thread only: %+v, high %v", r, alone.High)
	}
	one.All = all
	if one.ForThreads(1) != one || one.ForThreads(2) != all {
		t.Error("measured numbers of threads have other rates")
	}
	four := one.ForThreads(4)
	got, want := four.Rates[onnx.ClassConv], truth[onnx.ClassConv]
	if math.Abs(got.MAC/want.MAC-0.4) > 1e-9 || math.Abs(got.Byte-want.Byte) > 1e-20 || got.Start != want.Start || four.High <= all.High {
		t.Errorf("four threads: %+v of %+v, high %v", got, want, four.High)
	}
}
