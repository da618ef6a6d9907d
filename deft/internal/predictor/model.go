package predictor

import (
	"errors"
	"fmt"
	"math"
)

// ErrModel is returned for a model that describes no job.
var ErrModel = errors.New("cannot model the job")

// Residual is the share of a full queue that an urgent request finds on average.
const Residual = 0.5

// Candidates are the intervals that Deft compares, in launches.
func Candidates() []int {
	return []int{1, 2, 4, 8, 10, 20, 50, 100, 500, 1000, 5000, 10000, 1000000}
}

// Model is the cost of synchronization points in jobs of one model.
type Model struct {
	SyncMS   float64 `json:"sync_ms"`   // a: one synchronization point
	BaseMS   float64 `json:"base_ms"`   // b: a job without any
	Kernels  int     `json:"kernels"`   // K: launches of a job
	KernelMS float64 `json:"kernel_ms"` // k: mean device time of a kernel
	Queue    int     `json:"queue"`     // q: most launches ever queued; at most K
}

// Delay is the prediction for one interval.
type Delay struct {
	Sync      int     `json:"sync"` // N, launches
	ExecMS    float64 `json:"exec_ms"`
	PreemptMS float64 `json:"preempt_ms"`
}

// TotalMS is what is to be small: the delay of one job that one urgent request
// meets.
func (d Delay) TotalMS() float64 { return d.ExecMS + d.PreemptMS }

// Interval is the N of least cost setup/N + delay·N/2, at least 1: that of Harris'
// economic order quantity, sqrt(2·setup/delay) (F. W. Harris, "How many parts to
// make at once", 1913). Setup is what a job pays with a synchronization point at
// each of its K launches, a·K; delay what an urgent request waits for each launch
// that is queued, k, of which it finds half; both in the same unit. Where delay is
// not above 0, or setup below 0, it is 0: nothing is known.
func Interval(setup, delay float64) int {
	if !(delay > 0) || !(setup >= 0) {
		return 0
	}
	return int(max(1, math.Round(math.Sqrt(min(2*setup/delay, math.MaxInt32)))))
}

func (m Model) check() error {
	for _, v := range []float64{m.SyncMS, m.BaseMS, m.KernelMS} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("predictor: %w: a time of %v ms", ErrModel, v)
		}
	}
	if m.Kernels < 1 || m.Queue < 0 {
		return fmt.Errorf("predictor: %w: %d kernels, %d queued", ErrModel, m.Kernels, m.Queue)
	}
	return nil
}

// Predict returns the delays under the interval n, at least 1. The error matches
// ErrModel.
func (m Model) Predict(n int) (Delay, error) {
	if err := m.check(); err != nil {
		return Delay{}, err
	}
	if n < 1 {
		return Delay{}, fmt.Errorf("predictor: %w: a point every %d launches", ErrModel, n)
	}
	points := float64(m.Kernels / n)
	queue := float64(min(n, m.Queue, m.Kernels)) * m.KernelMS
	return Delay{Sync: n, ExecMS: m.SyncMS*points + m.BaseMS, PreemptMS: Residual * queue}, nil
}
