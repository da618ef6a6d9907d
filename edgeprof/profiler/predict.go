package profiler

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/measurement"
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
	p := Prediction{}
	byClass := map[onnx.Class]float64{}
	unmeasured := map[onnx.Class]bool{}
	kernels := measurement.Kernels(a.Kernels(measurement.FusionOf(c.Facts.Runtime)))
	for i, seconds := range c.called(c.kernels(kernels)) {
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
		p.Idle = max(least, c.Call)
	}
	for i := range p.Shares {
		p.Shares[i].Part /= max(p.Idle, math.SmallestNonzeroFloat64)
	}
	slices.SortFunc(p.Shares, func(x, y Share) int {
		return cmp.Or(cmp.Compare(y.Part, x.Part), cmp.Compare(x.Class, y.Class))
	})
	away := c.Away(&d)
	slower, doubt := c.slowdown(&d, p.Idle*away.Factor)
	p.Slowdown = math.Exp(slower)
	band := c.band(p.Idle)
	if types := precisionOf(kernels); types != "" {
		like := 0
		if band, like = c.inPrecision(types, band, p.Idle); like == 0 {
			p.Warnings = append(p.Warnings, fmt.Errorf("%w: it multiplies in %s, and rates are of float32", ErrUnlike, types))
		}
	}
	band = Away{Spread: math.Hypot(away.Spread, doubt)}.widen(band)
	if away.Why != "" {
		p.Warnings = append(p.Warnings, away.warning(d.Node, c.Facts.Device))
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
	if a.Doubtful() {
		guessed = 1
	}
	band.Low, band.High = band.Low*(1+guessed*(1./uncounted-1)), band.High*(1+guessed*(uncounted-1))
	p.Idle *= away.Factor
	p.Seconds = band.Predict(p.Idle * p.Slowdown)
	return p
}

// called are the times of kernels with their parts of the call.
func (c *Calibration) called(seconds []float64) []float64 {
	sum := 0.0
	for _, t := range seconds {
		sum += t
	}
	for i := range seconds {
		if sum > 0 {
			seconds[i] *= 1 + c.Call/sum
		}
	}
	return seconds
}

// least is the time of a model in which nothing is left to compute: a call.
const least = 1e-7

// uncounted is how many times longer or shorter what was not measured may be, be it of
// an inference of which the file does not say all that it costs.
const uncounted = 10
