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

// Slowdown is how the median time of an inference grows with what else runs: the
// logarithm of the factor is Beside times the share of cores that others keep busy
// (they share caches, memory and clock), and Waiting times the logarithm of the
// tasks that want a core over the cores, where there are more, as far as the
// inference is longer than [slice].
type Slowdown struct {
	Beside  float64 `json:"beside"`
	Waiting float64 `json:"waiting"`
	// Spread is how far the logarithm of a factor may be off, at [Level].
	Spread float64 `json:"spread"`
}

// Loaded is what some tasks that kept a core busy each did to the time of a model
// that alone takes some seconds.
type Loaded struct {
	Others  int
	Seconds float64
	Factor  float64
}

// slice is about how long, in seconds, a scheduler lets a task run that has company:
// most inferences that are much shorter are not disturbed, few wait long.
const slice = 10e-3

// terms are those of a slowdown: the second by the part of it that is felt.
func terms(others float64, cores, threads int, seconds float64) [2]float64 {
	n := float64(max(1, cores))
	felt := 1 - slice/(seconds+slice)
	return [2]float64{min(1, others/n), math.Log(max(1, (others+float64(max(1, threads)))/n)) * felt}
}

// LearnLoad fits the slowdown of the device to measurements by non-negative least
// squares. The error matches [ErrLoad].
func (c *Calibration) LearnLoad(measured []Loaded) error {
	s := regression.Samples{Features: 2}
	for _, m := range measured {
		if !(m.Factor > 0 && m.Seconds > 0) || math.IsInf(m.Factor+m.Seconds, 0) {
			return fmt.Errorf("%w: %v times of %v s", ErrLoad, m.Factor, m.Seconds)
		}
		x := terms(float64(m.Others), c.Facts.Cores, c.Facts.Threads, m.Seconds)
		s.X, s.Y = append(s.X, x[0], x[1]), append(s.Y, math.Log(m.Factor))
	}
	m, err := linear.NNLS{NoIntercept: true}.Fit(context.Background(), s)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLoad, err)
	}
	law := &Slowdown{Beside: m.Coefficients[0], Waiting: m.Coefficients[1]}
	var off []float64
	for i, one := range measured {
		off = append(off, math.Abs(s.Y[i]-law.log(terms(float64(one.Others), c.Facts.Cores, c.Facts.Threads, one.Seconds))))
	}
	law.Spread = stats.Quantile(off, Level)
	c.Load = law
	return nil
}

func (s *Slowdown) log(x [2]float64) float64 { return s.Beside*x[0] + s.Waiting*x[1] }

// slowdown is the logarithm of the factor of a device's load on an inference of
// some seconds, and its doubt. Where nothing was measured each task gets its part
// of the cores. How far such a part is from what one inference feels depends on
// when it comes and on how tasks are weighed: half of its logarithm is doubt.
func (c *Calibration) slowdown(d *device.Device, seconds float64) (log, doubt float64) {
	others := d.Load.Others(d.Cores)
	x := terms(others, d.Cores, c.Facts.Threads, seconds)
	doubt = terms(others, d.Cores, c.Facts.Threads, math.Inf(1))[1] / 2
	if c.Load == nil {
		return x[1], doubt
	}
	if log = c.Load.log(x); log == 0 {
		return 0, 0
	}
	return log, max(doubt, c.Load.Spread)
}
