package profiler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/kernel"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Prediction is the time of one inference on a device as it is loaded now.
type Prediction struct {
	Seconds uncertainty.Prediction
	// Idle is the predicted time without the device's load.
	Idle float64
	// Shares of the time by class of operator, the largest first.
	Shares   []Share
	Slowdown float64 // factor of the load; 1 when there is a core free
	Warnings []error
}

// Share is the part of the time that one class of operator takes.
type Share struct {
	Class onnx.Class
	Part  float64 // 0 to 1
}

// Predict is the time of a model on a device. Where the device is not the one
// that was calibrated, rates are scaled by clock frequency, and a warning says
// so.
func (c *Calibration) Predict(a *onnx.Analysis, d device.Device) Prediction {
	p := Prediction{Slowdown: slowdown(d, c.Facts.Threads)}
	byClass := map[onnx.Class]float64{}
	unmeasured := map[onnx.Class]bool{}
	kernels := kernel.Rows(a.Kernels(kernel.FusionOf(c.Facts.Runtime)))
	for i, seconds := range c.kernels(kernels) {
		class := onnx.Class(kernels[i].Class)
		byClass[class] += seconds
		unmeasured[class] = unmeasured[class] || c.Rates[class].Nodes == 0
	}
	for _, class := range classes { // in a fixed order: sums of floats depend on it
		if seconds, ok := byClass[class]; ok {
			p.Idle += seconds
			p.Shares = append(p.Shares, Share{class, seconds})
		}
	}
	if len(kernels) == 0 {
		p.Idle = least
	}
	for i := range p.Shares {
		p.Shares[i].Part /= max(p.Idle, math.SmallestNonzeroFloat64)
	}
	slices.SortFunc(p.Shares, func(x, y Share) int {
		if x.Part != y.Part {
			if x.Part > y.Part {
				return -1
			}
			return 1
		}
		return strings.Compare(string(x.Class), string(y.Class))
	})
	if d.UUID != c.Facts.UUID {
		p.Idle *= c.clock(d)
		p.Warnings = append(p.Warnings, fmt.Errorf("%w: %s is judged by rates of %s", ErrForeign, d.Node, c.Facts.Device))
	}
	p.Warnings = append(p.Warnings, a.Warnings...)
	p.Warnings = append(p.Warnings, c.unlike(p.Idle)...)
	for _, class := range classes {
		if unmeasured[class] {
			p.Warnings = append(p.Warnings, fmt.Errorf("%w: no %s operator was measured", ErrUnlike, class))
		}
	}
	band := c.band()
	if a.Doubtful() {
		band.Low, band.High = band.Low/uncounted, band.High*uncounted
	}
	p.Seconds = band.Predict(p.Idle * p.Slowdown)
	return p
}

// least is the time of a model in which nothing is left to compute: a call.
const least = 1e-7

// uncounted is how many times longer an inference may be where the file does not
// say what all of it costs.
const uncounted = 10

// clock is how much slower a device is by its clock alone.
func (c *Calibration) clock(d device.Device) float64 {
	if d.MaxMHz <= 0 || c.Facts.MaxMHz <= 0 {
		return 1
	}
	return c.Facts.MaxMHz / d.MaxMHz
}

// slowdown is what a fair scheduler leaves of the cores that the run time wants:
// with b cores busy and t threads more, each gets cores/(b+t) of one.
func slowdown(d device.Device, threads int) float64 {
	busy := d.Load.CPUPercent / 100 * float64(d.Cores)
	return max(1, (busy+float64(max(1, threads)))/float64(d.Cores))
}
