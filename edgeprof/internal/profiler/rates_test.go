package profiler

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// products returns kernels of a class whose times seconds computes.
func products(class onnx.Class, seconds func(macs, bytes float64) float64) []measurement.Kernel {
	var all []measurement.Kernel
	for i := range 40 {
		macs := int64(1000 << (i % 10))
		read := macs/2 + int64(100*(i%7))
		var k measurement.Kernel
		k.Class, k.MACs, k.ReadBytes = class, macs, read
		k.Seconds = measurement.NumberCell(seconds(float64(macs), float64(read)))
		all = append(all, k)
	}
	return all
}

// Multiply-accumulates always have a rate: where the bytes alone explain the times, the
// bytes have none, and times that explain nothing are an error.
// A calibration without convolutions over volumes predicts them by those over images, says
// so, and the interval is wide; one with them has rates of their own.
func TestVolumes(t *testing.T) {
	kernels := func(a *onnx.Analysis) []measurement.Kernel { return measurement.NewKernels(a.Kernels()) }
	cases := measurements(t, 0.05)
	volumes := analysis(t, "operators-volumes", synth.Size{})
	here := Facts{}
	c, err := Calibrate(cases, here)
	if err != nil {
		t.Fatal(err)
	}
	delete(c.Rates, onnx.ClassConv3D)
	if err := c.Check(); !errors.Is(err, ErrCalibration) {
		t.Fatalf("without rates of a class: %v", err)
	}
	c.Complete()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	without := c.Predict(volumes, device.Device{Cores: 1})
	if !slices.ContainsFunc(without.Warnings, func(err error) bool {
		return errors.Is(err, ErrUnlike) && strings.Contains(err.Error(), "no conv3d operator")
	}) {
		t.Errorf("no warning of the class that was not measured: %v", without.Warnings)
	}
	actual := 0.0
	for _, size := range []int64{8, 12, 16, 20} {
		m := Case{Model: "volumes", Family: Operators, Threads: 1, Kernels: kernels(analysis(t, "operators-volumes", synth.Size{Resolution: size}))}
		for i := range m.Kernels {
			k := &m.Kernels[i]
			r, ok := truth[k.Class]
			if !ok {
				r = Rates{MAC: 3e-10, Byte: 2e-10}
			}
			s := r.seconds(k)
			k.Seconds = &s
			m.Seconds += s
		}
		if cases = append(cases, m); size == 16 {
			actual = m.Seconds
		}
	}
	if c, err = Calibrate(cases, here); err != nil {
		t.Fatal(err)
	}
	with := c.Predict(volumes, device.Device{Cores: 1})
	if math.Abs(with.Idle/actual-1) > 0.1 || math.Abs(without.Idle/actual-1) < 0.3 {
		t.Errorf("%v s with rates of volumes, %v s without, want %v s", with.Idle, without.Idle, actual)
	}
	if without.Seconds.High/without.Seconds.Low < 10 || with.Seconds.High/with.Seconds.Low > 4 {
		t.Errorf("intervals %v with rates of volumes, %v without", with.Seconds, without.Seconds)
	}
}

func TestMultiplyAccumulatesTakeTime(t *testing.T) {
	for name, c := range map[string]struct {
		class   onnx.Class
		seconds func(macs, bytes float64) float64
		wrong   string
	}{
		"both":             {onnx.ClassDense, func(macs, bytes float64) float64 { return 1e-6 + 1e-9*macs + 1e-10*bytes }, ""},
		"bytes":            {onnx.ClassDense, func(macs, bytes float64) float64 { return 1e-6 + 1e-9*bytes }, ""},
		"shorter for more": {onnx.ClassConv, func(macs, _ float64) float64 { return 1e-3 / macs }, "rates of conv: mac_seconds is 0"},
		"by a vector":      {onnx.ClassVector, func(_, bytes float64) float64 { return 1e-6 + 1e-9*bytes }, ""},
	} {
		cases := []Case{{Kernels: products(c.class, c.seconds)}}
		calibration := &Calibration{Rates: ratesFor(cases), Models: 1, Low: 1, High: 1}
		r, err := calibration.Rates[c.class], calibration.Check()
		if c.wrong == "" && err != nil || c.wrong != "" && (!errors.Is(err, ErrCalibration) || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if c.wrong == "" && c.class != onnx.ClassVector && r.MAC == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
