package predictor

import (
	"context"
	"fmt"
	"time"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

// window is how many of the last jobs decide.
const window = 40

// leastSyncMS is the least that a synchronization point is taken to cost, 5 us: a
// host that waits must wake. Noise may make the fit say less, or less than
// nothing.
const leastSyncMS = 0.005

// Online learns the Model of a client from its jobs, one by one. The last jobs
// decide, so it follows a job that changes; the slope is the median over pairs of
// them (Theil-Sen), so that jobs which the machine held up do not count for more
// than others.
type Online struct {
	syncs, ms []float64 // of the last jobs
	kernelMS  []float64
	jobs      int
	kernels   int
}

// NewOnline returns an Online that knows nothing.
func NewOnline() *Online { return &Online{} }

// Job is what one job tells.
type Job struct {
	Time     time.Duration // its completion time, less the time held at the gate
	Syncs    int           // synchronization points
	Launches int           // at least 1
	GPU      time.Duration // device time
}

// Observe learns from a job. The error says that it is none; nothing has changed
// then.
func (o *Online) Observe(j Job) error {
	if j.Launches < 1 || j.Time < 0 || j.GPU < 0 || j.Syncs < 0 {
		return fmt.Errorf("predictor: %w: %+v", ErrModel, j)
	}
	if len(o.ms) == window {
		o.syncs, o.ms, o.kernelMS = o.syncs[1:], o.ms[1:], o.kernelMS[1:]
	}
	o.syncs = append(o.syncs, float64(j.Syncs))
	o.ms = append(o.ms, milliseconds(j.Time))
	o.kernelMS = append(o.kernelMS, milliseconds(j.GPU)/float64(j.Launches))
	o.kernels = j.Launches
	o.jobs++
	return nil
}

// Jobs is how many were observed.
func (o *Online) Jobs() int { return o.jobs }

// Model is the present fit. The error matches regression.ErrTooFew or
// regression.ErrConstant: jobs under different intervals are needed.
func (o *Online) Model() (Model, error) {
	m, err := linear.TheilSen{}.Fit(context.Background(), regression.Samples{X: o.syncs, Y: o.ms, Features: 1})
	if err != nil {
		return Model{}, fmt.Errorf("predictor: %w", err)
	}
	kernel := 0.0
	for _, ms := range o.kernelMS {
		kernel += ms / float64(len(o.kernelMS))
	}
	return Model{
		SyncMS:   max(m.Coefficients[0], leastSyncMS),
		BaseMS:   max(m.Intercept, 0),
		Kernels:  o.kernels,
		KernelMS: kernel,
		Queue:    o.kernels,
	}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
