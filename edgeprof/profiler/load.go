package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
	"github.com/foretime/foretime/shared/stats"
)

// ErrLoad is returned for measurements under load that say nothing.
var ErrLoad = errors.New("no slowdown to learn from")

// Slowdown is how an inference's time grows with what else runs: the logarithm of
// the factor is Beside times the share of cores that others keep busy (they share
// caches, memory and clock), and Waiting times the logarithm of the tasks that
// want a core over the cores, where there are more.
type Slowdown struct {
	Beside  float64 `json:"beside"`
	Waiting float64 `json:"waiting"`
	// Spread is how far the logarithm of a factor may be off, at [Level].
	Spread float64 `json:"spread"`
}

// Loaded is what some tasks that kept a core busy each did to a model's time.
type Loaded struct {
	Others int
	Factor float64
}

// terms are those of a slowdown.
func terms(others float64, cores, threads int) [2]float64 {
	n := float64(max(1, cores))
	return [2]float64{min(1, others/n), math.Log(max(1, (others+float64(max(1, threads)))/n))}
}

// LearnLoad fits the slowdown of the device to measurements by non-negative least
// squares. The error matches [ErrLoad].
func (c *Calibration) LearnLoad(measured []Loaded) error {
	s := regression.Samples{Features: 2}
	for _, m := range measured {
		if !(m.Factor > 0) || math.IsInf(m.Factor, 0) {
			return fmt.Errorf("%w: a factor of %v", ErrLoad, m.Factor)
		}
		x := terms(float64(m.Others), c.Facts.Cores, c.Facts.Threads)
		s.X, s.Y = append(s.X, x[0], x[1]), append(s.Y, math.Log(m.Factor))
	}
	m, err := linear.NNLS{NoIntercept: true}.Fit(context.Background(), s)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLoad, err)
	}
	law := &Slowdown{Beside: m.Coefficients[0], Waiting: m.Coefficients[1]}
	var off []float64
	for i, one := range measured {
		off = append(off, math.Abs(s.Y[i]-law.log(terms(float64(one.Others), c.Facts.Cores, c.Facts.Threads))))
	}
	law.Spread = stats.Quantile(off, Level)
	c.Load = law
	return nil
}

func (s *Slowdown) log(x [2]float64) float64 { return s.Beside*x[0] + s.Waiting*x[1] }

// fair is what a fair scheduler makes of others where nothing was measured: each
// task gets its part of the cores. How far it is off is not known; half of it is
// taken for doubt.
func fair(x [2]float64) (log, spread float64) { return x[1], x[1] / 2 }

// slowdown is the logarithm of the factor of a device's load, and its doubt.
func (c *Calibration) slowdown(d *device.Device) (log, spread float64) {
	x := terms(d.Load.Others(d.Cores), d.Cores, c.Facts.Threads)
	if c.Load == nil {
		return fair(x)
	}
	log = c.Load.log(x)
	if log == 0 {
		return 0, 0
	}
	return log, c.Load.Spread
}
