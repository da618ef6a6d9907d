package predictor

import (
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrModel is returned for a model that describes no job.
var ErrModel = errors.New("no model of a job")

// ErrCandidates is returned where there is no interval to choose from.
var ErrCandidates = errors.New("no synchronization interval to choose from")

// Residual is the share of a full queue that an urgent request finds on average.
const Residual = 0.5

// Level is that of predicted delays.
const Level = 0.9

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

	noise noise // about a + b
}

// Delay is the prediction for one interval.
type Delay struct {
	Sync      int     `json:"sync"` // N, launches
	ExecMS    float64 `json:"exec_ms"`
	PreemptMS float64 `json:"preempt_ms"`
	// Delay is the sum for one job that one urgent request meets, in ms. Its
	// interval holds the noise of a job and that a request finds anything
	// between none and all of the queue; it is open where the model was not
	// fitted, or to too little to tell its noise.
	Delay uncertainty.Prediction `json:"delay_ms"`
}

// TotalMS is what is to be small.
func (d Delay) TotalMS() float64 { return d.ExecMS + d.PreemptMS }

// Plus is the delay of both together, of jobs that have nothing to do with each
// other.
func (d Delay) Plus(other Delay) Delay {
	a, b := d.Delay, other.Delay
	value := a.Value + b.Value
	return Delay{
		Sync: other.Sync, ExecMS: d.ExecMS + other.ExecMS, PreemptMS: d.PreemptMS + other.PreemptMS,
		Delay: uncertainty.Prediction{
			Value: value, Level: Level,
			Low:  value - math.Hypot(a.Value-a.Low, b.Value-b.Low),
			High: value + math.Hypot(a.High-a.Value, b.High-b.Value),
		},
	}
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
// ErrModel or ErrCandidates.
func (m Model) Predict(n int) (Delay, error) {
	if err := m.check(); err != nil {
		return Delay{}, err
	}
	if n < 1 {
		return Delay{}, fmt.Errorf("predictor: %w: %d launches", ErrCandidates, n)
	}
	points := float64(m.Kernels / n)
	queue := float64(min(n, m.Queue, m.Kernels)) * m.KernelMS
	d := Delay{Sync: n, ExecMS: m.SyncMS*points + m.BaseMS, PreemptMS: Residual * queue}
	half := math.Hypot(m.noise.half(points), Level/2*queue)
	d.Delay = uncertainty.Prediction{Value: d.TotalMS(), Low: max(0, d.TotalMS()-half), High: d.TotalMS() + half, Level: Level}
	return d, nil
}

// Best returns the candidate with the least sum of delays, the first of equal
// ones.
func (m Model) Best(candidates []int) (Delay, error) {
	var best Delay
	for i, n := range candidates {
		d, err := m.Predict(n)
		if err != nil {
			return Delay{}, err
		}
		if i == 0 || d.TotalMS() < best.TotalMS() {
			best = d
		}
	}
	if len(candidates) == 0 {
		return Delay{}, fmt.Errorf("predictor: %w", ErrCandidates)
	}
	return best, nil
}
