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
	kernels := func(a *onnx.Analysis) []measurement.Kernel { return measurement.NewKernels(a.Kernels(onnx.FusionNone)) }
	cases := measurements(t, 0.05)
	volumes := analysis(t, "operators-volumes", synth.Size{})
	here := Facts{Runtime: "go"}
	c, err := (&Model{}).Calibrate(cases, here)
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
		m := Case{Model: "volumes", Family: Operators, Runtime: "go", Threads: 1, Quota: 1, Kernels: kernels(analysis(t, "operators-volumes", synth.Size{Resolution: size}))}
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
	if c, err = (&Model{}).Calibrate(cases, here); err != nil {
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
		"shorter for more": {onnx.ClassConv, func(macs, _ float64) float64 { return 1e-3 / macs }, "the 40 kernels of class conv"},
		"by a vector":      {onnx.ClassVector, func(_, bytes float64) float64 { return 1e-6 + 1e-9*bytes }, ""},
	} {
		cases := []Case{{Kernels: products(c.class, c.seconds)}}
		calibration := &Calibration{Rates: ratesFor(cases, 0)}
		r, err := calibration.Rates[c.class], calibration.multiplied(cases)
		if c.wrong == "" && err != nil || c.wrong != "" && (!errors.Is(err, ErrCalibration) || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if c.wrong == "" && c.class != onnx.ClassVector && r.MAC == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// The Go runtime multiplies large and small matrices by two algorithms: rates fitted to some
// convolutions predict others, large and small, though the rates of one algorithm cannot.
func TestProductRates(t *testing.T) {
	const packed = 1 << 22
	truth := Rates{Start: 5e-7, MAC: 1.5e-11, Byte: 1e-10, Products: ProductRates{Packed: packed, Copied: 2e-10, Small: 6e-11, Run: 3e-9, Unfolded: 1e-10}}
	convolutions := func(sides, channels []int64) []measurement.Kernel {
		var all []measurement.Kernel
		for _, side := range sides {
			for _, filters := range channels {
				for _, window := range []int64{1, 9} {
					var k measurement.Kernel
					k.Class, k.Rows, k.Depth, k.Columns, k.Window, k.Stride, k.Groups, k.Parts = onnx.ClassConv, filters, 32*window, side*side, window, 1, 1, 1
					k.MACs = k.Rows * k.Depth * k.Columns
					k.ParameterBytes, k.ReadBytes, k.WrittenBytes = 4*k.Rows*k.Depth, 4*32*k.Columns, 4*k.Rows*k.Columns
					k.Seconds = measurement.NumberCell(truth.seconds(&k))
					all = append(all, k)
				}
			}
		}
		return all
	}
	measured := []Case{{Kernels: convolutions([]int64{2, 7, 12, 28, 56}, []int64{4, 16, 64, 256})}}
	two, one := ratesFor(measured, packed)[onnx.ClassConv], ratesFor(measured, 0)[onnx.ClassConv]
	worst := 1.0
	for _, k := range convolutions([]int64{4, 10, 40}, []int64{8, 48, 128}) {
		if p := two.seconds(&k); math.Abs(p / *k.Seconds - 1) > 0.02 {
			t.Errorf("%d filters over %d places, window %d: %v s, want %v", k.Rows, k.Columns, k.Window, p, *k.Seconds)
		}
		worst = max(worst, one.seconds(&k) / *k.Seconds, *k.Seconds/one.seconds(&k))
	}
	if worst < 1.5 {
		t.Errorf("the rates of one algorithm are off by %v times at most: they would do", worst)
	}
	// an algorithm that no kernel has takes the rates of convolutions
	few := []Case{{Kernels: slices.DeleteFunc(convolutions([]int64{2, 3, 4}, []int64{4, 8}), func(k measurement.Kernel) bool { return k.MACs >= packed })}}
	for i := range few[0].Kernels {
		few[0].Kernels[i].Class = onnx.ClassConv1D
	}
	if r := ratesFor(append(few, measured...), packed)[onnx.ClassConv1D]; r.MAC != two.MAC || r.Products.Small == 0 {
		t.Errorf("%+v, want the rate of large products of %+v", r, two)
	}
}

// A recurrent operator in the Go runtime multiplies the input by its weights once and the state
// in each step: a short sequence has no start that a longer one would not have.
func TestRecurrentSizes(t *testing.T) {
	kernel := func(op string, gates, steps, width, hidden int64) *measurement.Kernel {
		k := &measurement.Kernel{Kernel: onnx.Kernel{Op: op, Class: onnx.ClassRecurrent}}
		k.Rows, k.Depth, k.Columns = gates*hidden, width, steps
		k.MACs = steps * gates * hidden * (width + hidden)
		return k
	}
	for name, tt := range map[string]struct {
		kernel *measurement.Kernel
		want   workload
	}{
		"LSTM":           {kernel("LSTM", 4, 10, 16, 32), workload{4: 10 * 128 * (16 + 32), 5: 10 * 32 * 5}},
		"GRU":            {kernel("GRU", 3, 10, 16, 32), workload{4: 10 * 96 * (16 + 32), 5: 10 * 32 * 3}},
		"RNN":            {kernel("RNN", 1, 10, 16, 32), workload{4: 10 * 32 * (16 + 32), 5: 10 * 32}},
		"a packed input": {kernel("LSTM", 4, 100, 64, 32), workload{1: 100 * 128 * 64, 3: 4 * 128 * 64, 4: 100 * 128 * 32, 5: 100 * 32 * 5}},
	} {
		if got := sizes(tt.kernel, 500_000); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if got := sizes(kernel("LSTM", 4, 10, 16, 32), 0); got[4] != 0 || got[0] != 1 {
		t.Errorf("a runtime with one algorithm: %v", got)
	}
}
