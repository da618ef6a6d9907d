package profiler

import (
	"errors"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// products returns kernels of a class whose times seconds computes.
func products(class onnx.Class, seconds func(macs, bytes float64) float64) []measurement.Kernel {
	var all []measurement.Kernel
	for i := range 40 {
		macs := int64(1000 << (i % 10))
		read := macs/2 + int64(100*(i%7))
		var k measurement.Kernel
		k.Class, k.MACs, k.ReadBytes = class, macs, read
		k.Seconds = measurement.Number(seconds(float64(macs), float64(read)))
		all = append(all, k)
	}
	return all
}

// Multiply-accumulates always have a rate: where the bytes alone explain the times, the
// bytes have none, and times that explain nothing are an error.
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
		calibration := &Calibration{Rates: ratesFor(cases)}
		r, err := calibration.Rates[c.class], calibration.multiplied(cases)
		if c.wrong == "" && err != nil || c.wrong != "" && (!errors.Is(err, ErrCalibration) || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if c.wrong == "" && c.class != onnx.ClassVector && r.MAC == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
