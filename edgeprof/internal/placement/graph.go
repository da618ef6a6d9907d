package placement

import (
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// GraphEstimator returns an estimator for a model whose graph is known, operator by operator,
// with the calibration of each device. The error matches [onnx.ErrGraph].
func GraphEstimator(a *onnx.Analysis, devices []device.Device, rates []*profiler.Calibration) (Estimator, error) {
	counts, err := a.Characteristics()
	if err != nil {
		return nil, err
	}
	need := counts.ParameterBytes + counts.PeakActivationBytes
	return func(i int) (Estimate, error) {
		d := &devices[i]
		p := rates[i].Predict(a, *d)
		return Estimate{p.Seconds, max(1, rates[i].Facts.Threads), need, reasons(&p, d), p.Warnings}, nil
	}, nil
}

// reasons name the kernels that take the time, and the effect of the device's load.
func reasons(p *profiler.Prediction, d *device.Device) []string {
	var out []string
	if len(p.Shares) > 0 {
		out = append(out, fmt.Sprintf("%.0f %% of the time in %s operators", 100*p.Shares[0].Part, p.Shares[0].Class))
	}
	if gpu := d.Load.GPUPercent; gpu != nil {
		out = append(out, fmt.Sprintf("GPU load %.0f %%, not allowed for", *gpu))
	}
	if p.Slowdown > 1 {
		return append(out, fmt.Sprintf("slowed %.2f times: %.1f running or waiting tasks on %d cores, CPU load %.0f %%", p.Slowdown, d.Load.Competitors(d.Cores), d.Cores, d.Load.CPUPercent))
	}
	return append(out, fmt.Sprintf("a core is free at a CPU load of %.0f %%", d.Load.CPUPercent))
}
