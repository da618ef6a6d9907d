package predictor

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

// Point is what was measured under one interval.
type Point struct {
	Sync     int     // N, launches
	JobMS    float64 // mean completion time of the low-priority jobs
	Kernels  int     // launches of one of them
	KernelMS float64 // mean device time of a kernel
	Queue    int     // most launches in flight; 0 unknown
}

// FitSweep fits the model of the low-priority jobs to measurements under two
// different numbers of points per job or more.
func FitSweep(points []Point) (Model, error) {
	var x [][]float64
	var y []float64
	var m Model
	for _, p := range points {
		if p.Sync < 1 || p.Kernels < 1 {
			return Model{}, fmt.Errorf("predictor: %w: %d kernels, interval %d", ErrModel, p.Kernels, p.Sync)
		}
		x = append(x, []float64{float64(p.Kernels / p.Sync)})
		y = append(y, p.JobMS)
		m.Kernels = max(m.Kernels, p.Kernels)
		m.Queue = max(m.Queue, p.Queue)
		m.KernelMS += p.KernelMS / float64(len(points))
	}
	if m.Queue == 0 {
		m.Queue = m.Kernels
	}
	samples, err := regression.NewSamples(x, y)
	if err != nil {
		return Model{}, fmt.Errorf("predictor: %w", err)
	}
	fit, err := linear.OLS{}.Fit(context.Background(), samples)
	if err != nil {
		return Model{}, fmt.Errorf("predictor: %w", err)
	}
	m.SyncMS, m.BaseMS = max(fit.Coefficients[0], 0), max(fit.Intercept, 0)
	return m, m.check()
}
