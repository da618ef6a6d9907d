package profiler

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// truth is a made-up machine: what each class costs.
var truth = map[onnx.Class]Rates{
	onnx.ClassConv: {Start: 5e-6, MAC: 1e-10, Byte: 1e-11}, onnx.ClassDepthwise: {Start: 3e-6, MAC: 5e-10}, onnx.ClassDense: {Start: 2e-6, MAC: 2e-10, Byte: 5e-11},
	onnx.ClassVector: {Start: 1e-6, Byte: 2e-10}, onnx.ClassRecurrent: {Start: 1e-5, MAC: 3e-10}, onnx.ClassPool: {Start: 1e-6, Byte: 1e-9}, onnx.ClassFunction: {Start: 1e-6, Byte: 4e-9}, onnx.ClassOther: {Start: 1e-6, Byte: 2e-10},
	onnx.ClassErf: {Start: 1e-6, Byte: 9e-9}, onnx.ClassSoftmax: {Start: 2e-6, Byte: 3e-9}, onnx.ClassNormalize: {Start: 2e-6, Byte: 1e-9}, onnx.ClassMove: {Start: 1e-6, Byte: 1e-10}, onnx.ClassResponse: {Start: 1e-6, Byte: 4e-9},
}

func analysis(t testing.TB, family string, size synth.Size) *onnx.Analysis {
	t.Helper()
	m, err := synth.New(family, size)
	if err != nil {
		t.Fatal(err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// measurements of the made-up machine, with noise of a relative size.
func measurements(t testing.TB, noise float64) []Case {
	rng := rand.New(rand.NewPCG(1, 1))
	var ms []Case
	for _, family := range []string{"alexnet", "densenet", "efficientnet", "googlenet", "lenet", "mlp", "mobilenetv2", "operators", "resnet", "transformer", "vgg"} {
		for _, width := range []float64{0.5, 0.75} {
			m := Case{Model: family, Family: family, Threads: 1, Kernels: measurement.NewKernels(analysis(t, family, synth.Size{Width: width}).Kernels())}
			for i := range m.Kernels {
				k := &m.Kernels[i]
				s := truth[k.Class].total(k) * math.Exp(noise*rng.NormFloat64())
				k.Seconds = &s
				m.Seconds += s
			}
			m.Times = []float64{m.Seconds, m.Seconds}
			ms = append(ms, m)
		}
	}
	return ms
}

// Without noise the rates come back, those that a family alone shows included;
// the left-out predictions are exact, and so is the interval.
func TestCalibrateRecoversRates(t *testing.T) {
	c, err := Calibrate(measurements(t, 0), Facts{})
	if err != nil {
		t.Fatal(err)
	}
	a := analysis(t, "resnet", synth.Size{})
	p := c.Predict(a, device.Device{Node: "n", Cores: 4})
	if want := (&Calibration{Rates: truth}).idle(measurement.NewKernels(a.Kernels())); math.Abs(p.Idle/want-1) > 1e-3 {
		t.Errorf("predicted %v, want %v", p.Idle, want)
	}
	if c.Low < 0.98 || c.High > 1.02 {
		t.Errorf("interval %v to %v without noise", c.Low, c.High)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

func TestIntervalWidensWithNoise(t *testing.T) {
	quiet, err := Calibrate(measurements(t, 0.05), Facts{})
	if err != nil {
		t.Fatal(err)
	}
	noisy, err := Calibrate(measurements(t, 0.2), Facts{})
	if err != nil {
		t.Fatal(err)
	}
	if noisy.High/noisy.Low <= quiet.High/quiet.Low {
		t.Errorf("noisy %v to %v, quiet %v to %v", noisy.Low, noisy.High, quiet.Low, quiet.High)
	}
}

func TestPredict(t *testing.T) {
	c, err := Calibrate(measurements(t, 0.05), Facts{UUID: "here", MaxMHz: 2000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := analysis(t, "resnet", synth.Size{Width: 0.5})
	here := device.Device{Node: "here", UUID: "here", Cores: 4}
	idle := c.Predict(a, here)
	if len(idle.Warnings) > 0 || idle.Slowdown != 1 || !(idle.Seconds.Low < idle.Seconds.Value && idle.Seconds.Value < idle.Seconds.High) {
		t.Errorf("%+v", idle)
	}
	if idle.Shares[0].Class != onnx.ClassConv {
		t.Errorf("a resnet's time is in %v", idle.Shares)
	}
	here.Load.CPUPercent = 75 // three of four cores busy: one is free
	if p := c.Predict(a, here); p.Slowdown != 1 {
		t.Errorf("slowdown %v with a core free", p.Slowdown)
	}
	here.Load.CPUPercent = 100
	if p := c.Predict(a, here); math.Abs(p.Slowdown/math.Pow(1.25, p.Idle/(p.Idle+slice))-1) > 1e-9 || p.Seconds.Value != p.Slowdown*idle.Seconds.Value {
		t.Errorf("slowdown %v with all four cores busy, want 5/4 as far as %v s feel it", p.Slowdown, p.Idle)
	}
	slow := c.Predict(a, device.Device{Node: "slow", UUID: "other", Cores: 4, MaxMHz: 1000})
	if !has(slow.Warnings, ErrForeign) || math.Abs(slow.Idle/idle.Idle-2) > 1e-9 {
		t.Errorf("half the clock: %v times, warnings %v", slow.Idle/idle.Idle, slow.Warnings)
	}
	// None so long was measured.
	if p := c.Predict(analysis(t, "vgg", synth.Size{Width: 4}), here); !has(p.Warnings, ErrUnlike) {
		t.Errorf("warnings %v", p.Warnings)
	}
}

// Rates are of another device unless what the device says of itself agrees; ids
// decide only where it says nothing.
func TestForeign(t *testing.T) {
	c, err := Calibrate(measurements(t, 0.05), Facts{UUID: "here", Device: "EPYC", Cores: 4, MaxMHz: 2000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := analysis(t, "resnet", synth.Size{Width: 0.5})
	same := device.Device{Node: "n", UUID: "here", Model: "EPYC", Cores: 4, MaxMHz: 2000}
	own := c.Predict(a, same).Seconds
	for name, tt := range map[string]struct {
		change  func(*device.Device)
		foreign bool
	}{
		"itself": {func(*device.Device) {}, false}, "a cloned image elsewhere": {func(d *device.Device) { d.Model = "Raspberry Pi" }, true},
		"a new id": {func(d *device.Device) { d.UUID = "other" }, false}, "fewer cores": {func(d *device.Device) { d.Cores = 2 }, true},
		"another clock": {func(d *device.Device) { d.MaxMHz = 1000 }, true}, "nearly the clock": {func(d *device.Device) { d.MaxMHz = 1900 }, false},
		"nothing said, another id": {func(d *device.Device) { d.Model, d.UUID = "", "other" }, true}, "nothing said, the id": {func(d *device.Device) { d.Model = "" }, false},
	} {
		d := same
		tt.change(&d)
		p := c.Predict(a, d)
		wider := p.Seconds.High/p.Seconds.Value > 1.2*own.High/own.Value && p.Seconds.Low/p.Seconds.Value < own.Low/own.Value/1.2
		if has(p.Warnings, ErrForeign) != tt.foreign || wider != tt.foreign {
			t.Errorf("%s: %v, warnings %v", name, p.Seconds, p.Warnings)
		}
	}
}

func has(errs []error, target error) bool {
	for _, err := range errs {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func TestErrors(t *testing.T) {
	if _, err := Calibrate(nil, Facts{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("no measurements: %v", err)
	}
	one := measurements(t, 0)[:2]
	for len(one) < 30 {
		one = append(one, one[0])
	}
	if _, err := Calibrate(one, Facts{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("one family: %v", err)
	}
	if err := (&Calibration{}).Check(); !errors.Is(err, ErrCalibration) {
		t.Errorf("empty calibration: %v", err)
	}
}

// A number that no device has is refused by its name.
func TestImpossibleRates(t *testing.T) {
	c, err := Calibrate(measurements(t, 0), Facts{})
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Calibration){
		"scale":                       func(c *Calibration) { c.Scale = -1 },
		"high":                        func(c *Calibration) { c.High = math.Inf(1) },
		"rates of conv: mac_seconds":  func(c *Calibration) { c.Rates[onnx.ClassConv] = Rates{MAC: 1e300} },
		"rates of conv: byte_seconds": func(c *Calibration) { c.Rates[onnx.ClassConv] = Rates{Byte: -1e-9} },
	} {
		spoiled := *c
		spoiled.Rates = maps.Clone(c.Rates)
		spoil(&spoiled)
		if err := spoiled.Check(); !errors.Is(err, ErrCalibration) || !strings.Contains(err.Error(), name+" is ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
