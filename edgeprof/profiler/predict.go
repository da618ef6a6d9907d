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
	band := c.band(p.Idle)
	if why := c.Facts.foreign(&d); why != "" {
		p.Idle *= c.clock(d)
		band.Low, band.High = band.Low/Elsewhere, band.High*Elsewhere
		p.Warnings = append(p.Warnings, fmt.Errorf("%w: %s is judged by rates of %s: %s; the interval is %d times as far on either side", ErrForeign, d.Node, c.Facts.Device, why, Elsewhere))
	}
	p.Warnings = append(p.Warnings, a.Warnings...)
	p.Warnings = append(p.Warnings, c.unlike(p.Idle)...)
	guessed := 0.0
	for _, class := range classes {
		if unmeasured[class] {
			guessed += byClass[class] / max(p.Idle, least)
			p.Warnings = append(p.Warnings, fmt.Errorf("%w: no %s operator was measured", ErrUnlike, class))
		}
	}
	if a.Doubtful() || guessed > tolerated {
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

// tolerated is the share of a time in operators of classes that were not
// measured up to which the interval stays as it is.
const tolerated = 0.02

// Elsewhere is how many times longer or shorter a model takes on another device
// than its clock says: 9 pairs of boards in 10 of those in Tencent/ncnn's table are
// within 0.09 and 10.7, with one thread in single precision.
const Elsewhere = 10

// sameClock is the factor that clocks may differ by: what a kernel says
// of a processor's clock varies from moment to moment.
const sameClock = 1.25

// foreign says why rates were not measured on a device; "" when they were. Ids
// are cloned with the images of machines: they decide only where a device does
// not say what it is.
func (f *Facts) foreign(d *device.Device) string {
	told := d.Model != "" && f.Device != "" && d.Cores > 0 && f.Cores > 0
	switch {
	case d.Model != "" && f.Device != "" && d.Model != f.Device:
		return fmt.Sprintf("it is a %s", d.Model)
	case told && d.Cores != f.Cores:
		return fmt.Sprintf("%d cores, not %d", d.Cores, f.Cores)
	case d.MaxMHz > 0 && f.MaxMHz > 0 && (d.MaxMHz > sameClock*f.MaxMHz || f.MaxMHz > sameClock*d.MaxMHz):
		return fmt.Sprintf("%.0f MHz, not %.0f", d.MaxMHz, f.MaxMHz)
	case !told && d.UUID != f.UUID:
		return "another machine"
	}
	return ""
}

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
