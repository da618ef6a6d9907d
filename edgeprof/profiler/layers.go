package profiler

import (
	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/kernel"
	"github.com/foretime/foretime/edgeprof/onnx"
)

// Layers are the model's kernels in the calibration's run time, with the seconds
// that each takes on a device as it is loaded now, of all its times in one
// inference. They sum to the prediction.
func (c *Calibration) Layers(a *onnx.Analysis, d device.Device) ([]onnx.Kernel, []float64, Prediction) {
	p := c.Predict(a, d)
	kernels := a.Kernels(kernel.FusionOf(c.Facts.Runtime))
	seconds := c.kernels(kernel.Rows(kernels))
	sum := 0.0
	for _, t := range seconds {
		sum += t
	}
	for i := range seconds {
		if sum > 0 {
			seconds[i] *= p.Seconds.Value / sum
		}
	}
	return kernels, seconds, p
}
