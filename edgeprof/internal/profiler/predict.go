package profiler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Prediction is the time of one inference on a device as it is loaded now.
type Prediction struct {
	// Seconds has no interval if a dimension was assumed, and no upper end if part of the
	// cost is unknown.
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

// Predict returns the time of a model on a device. Where the device is not the one
// that was calibrated, rates are scaled by clock frequency, and a warning says
// so.
func (c *Calibration) Predict(a *onnx.Analysis, d device.Device) Prediction {
	p := Prediction{}
	byClass := map[onnx.Class]float64{}
	kernels := measurement.NewKernels(a.Kernels())
	seconds := c.kernels(kernels)
	for i := range kernels {
		byClass[kernels[i].Class] += seconds[i]
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
		return cmp.Or(cmp.Compare(y.Part, x.Part), cmp.Compare(x.Class, y.Class))
	})
	away := c.Away(&d)
	slower, doubt := c.slowdown(&d, p.Idle*away.Factor)
	p.Slowdown = math.Exp(slower)
	profiled := c.profile != nil && len(c.profile.factors) == len(kernels)
	band, warnings := c.interval(kernels, seconds, p.Idle)
	if profiled && (away.Why != "" || c.Facts.UUID == c.profile.Rates.Facts.UUID && c.Facts.Threads == c.profile.Threads) { // no rates take part but a factor
		band, warnings = c.profile.band(), nil
	}
	band = Away{Spread: math.Hypot(away.Spread, doubt)}.widen(band)
	if away.Why != "" {
		p.Warnings = append(p.Warnings, away.warning(d.Node, c.Facts.Device))
	}
	p.Warnings = slices.Concat(a.Warnings, p.Warnings, warnings)
	p.Idle *= away.Factor
	p.Seconds = band.Predict(p.Idle * p.Slowdown)
	if least := a.Cheapest(); least != a { // either branch of an If may run
		p.Seconds.Low *= c.idle(measurement.NewKernels(least.Kernels())) / max(c.idle(kernels), math.SmallestNonzeroFloat64)
	}
	c.widenForMachine(&p)
	if profiled {
		return p.withAssumedSizes(a, false)
	}
	p.Seconds.High += subnormalSeconds * a.SubnormalUses * away.Factor * p.Slowdown
	return p.withAssumedSizes(a, len(a.UncountedWarnings()) > 0 || math.IsInf(p.Seconds.High, 1))
}

// subnormalSeconds is the most that a multiplication by a subnormal weight takes: 150 cycles,
// in which a processor asks its microcode, at 2 GHz.
const subnormalSeconds = 75e-9

// withAssumedSizes returns the prediction without the ends that unknown cost and assumed sizes
// leave open: a lower bound stays if part of the cost is unknown.
func (p Prediction) withAssumedSizes(a *onnx.Analysis, unknown bool) Prediction {
	switch {
	case unknown:
		p.Seconds.High = math.Inf(1)
	case len(a.AssumedSizes()) > 0:
		p.Seconds = uncertainty.Point(p.Seconds.Value)
	}
	return p
}

// interval returns the error band of the kernels' total time on an idle device, from the
// seconds of each, and warnings for kernels that it cannot vouch for. Kernels of a class or form
// that was not measured may take [uncounted] times longer or shorter, operators of unusual effort
// [elsewhereEffort] times.
func (c *Calibration) interval(kernels []measurement.Kernel, seconds []float64, idle float64) (uncertainty.Band, []error) {
	warnings, band := c.unlike(idle), c.band(idle)
	if types := precisionOf(kernels); types != "" {
		doubt, measured := c.roundedBy(kernels, seconds)
		band = Away{Spread: doubt}.widen(band) // which precisions a processor is good at, its float32 does not show
		if !measured {
			warnings = append(warnings, fmt.Errorf("%w: it multiplies in %s, but the rates are for float32", ErrUnlike, types))
		}
	}
	guessed := 0.0
	var unseen []onnx.Class
	for i := range kernels {
		class := kernels[i].Class
		if c.Rates[class].Nodes > 0 || class == onnx.ClassConv8 || class == onnx.ClassDense8 {
			continue // the doubt about its precision covers a class of 8 bits
		}
		guessed += seconds[i] / max(idle, least)
		if !slices.Contains(unseen, class) {
			unseen = append(unseen, class)
			warnings = append(warnings, fmt.Errorf("%w: no %s operator was measured", ErrUnlike, class))
		}
	}
	effort := 0.0
	var unmet []string
	for i := range kernels {
		switch k := &kernels[i]; {
		case k.Unmet:
			if !slices.Contains(unmet, k.Op) {
				unmet = append(unmet, k.Op)
			}
			guessed += seconds[i] / max(idle, least)
		case k.Effort > usualEffort || k.Effort > 0 && k.Effort < 1/usualEffort: // no calibration measured it
			effort += seconds[i] / max(idle, least)
		}
	}
	low := 1 + guessed*(1./uncounted-1) + effort*(1./elsewhereEffort-1)
	high := 1 + guessed*(uncounted-1) + effort*(elsewhereEffort-1)
	if guessed > mostGuessed {
		high = math.Inf(1)
		warnings = append(warnings, fmt.Errorf("%w: %s", ErrUnmet, strings.Join(unmet, ", ")))
	}
	return bandBetween(band.Low*max(low, 1./uncounted), band.High*high), warnings
}

// least is the time of a model in which nothing is left to compute, in seconds.
const least = 5e-6

// elsewhereEffort is the factor by which an operator may be longer or shorter whose effort
// was measured on another machine, and usualEffort the effort from which on that counts.
const (
	elsewhereEffort = 2
	usualEffort     = 1.5
)

// unlike warns of a time far from those that were measured.
func (c *Calibration) unlike(seconds float64) []error {
	if seconds < c.Shortest/3 || seconds > 3*c.Longest {
		return []error{fmt.Errorf("%w: predicted %.3g s, but the measured models took %.3g to %.3g s", ErrUnlike, seconds, c.Shortest, c.Longest)}
	}
	return nil
}

// mostGuessed is the share of a time in kernels that no calibration has met, or of a class that
// was not measured, from which on the time has no upper end.
const mostGuessed = 0.5

// uncounted is the factor by which a class that was not measured may be longer or shorter.
// It is not measured: an order of magnitude.
const uncounted = 10
