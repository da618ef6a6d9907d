package predictor

import (
	"fmt"
	"time"

	"github.com/foretime/foretime/shared/regression/linear"
)

// forgetting lets the last ten jobs or so decide.
const forgetting = 0.9

// Online learns the Model of a client from its jobs, one by one. Recent jobs
// count more: it follows a job that changes.
type Online struct {
	fit      *linear.Online
	kernels  int
	kernelMS float64
	queue    int
}

// NewOnline returns an Online that knows nothing.
func NewOnline() *Online {
	fit, err := linear.NewOnline(1, linear.OnlineSettings{Forgetting: forgetting})
	if err != nil {
		panic(err) // the settings above are constants
	}
	return &Online{fit: fit}
}

// Job is what one job tells.
type Job struct {
	Time     time.Duration // its completion time, less the time held at the gate
	Syncs    int           // synchronization points
	Launches int           // at least 1
	GPU      time.Duration // device time
	Queue    int           // most launches in flight
}

// Observe learns from a job. The error says that it is none; nothing has changed
// then.
func (o *Online) Observe(j Job) error {
	if j.Launches < 1 || j.Time < 0 || j.GPU < 0 || j.Syncs < 0 {
		return fmt.Errorf("predictor: %w: %+v", ErrModel, j)
	}
	if err := o.fit.Add([]float64{float64(j.Syncs)}, milliseconds(j.Time)); err != nil {
		return fmt.Errorf("predictor: %w", err)
	}
	kernel := milliseconds(j.GPU) / float64(j.Launches)
	if o.kernelMS == 0 {
		o.kernelMS = kernel
	}
	o.kernelMS += (1 - forgetting) * (kernel - o.kernelMS)
	o.kernels = j.Launches
	o.queue = max(o.queue, j.Queue)
	return nil
}

// Jobs is how many were observed.
func (o *Online) Jobs() int { return o.fit.Rows() }

// Model is the present fit. The error matches regression.ErrTooFew or
// regression.ErrCollinear: jobs under different intervals are needed. Noise may
// make a cost negative; it is 0 then.
func (o *Online) Model() (Model, error) {
	m, err := o.fit.Model()
	if err != nil {
		return Model{}, fmt.Errorf("predictor: %w", err)
	}
	return Model{
		SyncMS:   max(m.Coefficients[0], 0),
		BaseMS:   max(m.Intercept, 0),
		Kernels:  o.kernels,
		KernelMS: o.kernelMS,
		Queue:    o.kernels,
	}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
