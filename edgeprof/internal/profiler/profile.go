package profiler

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/uncertainty"
)

// profileSpread is the standard deviation of the logarithm of a model's time on the machine
// where it was profiled, from one run of a command to the next.
const profileSpread = 0.06

// Profile holds the kernel times of one model on one machine. On another device a kernel
// takes as much longer as the rates of the two say (Habitat: Yu and others, USENIX ATC 2021).
type Profile struct {
	// Rates are those of the machine, on the level of the model's time if they were
	// measured on another machine.
	Rates *Calibration
	// Threads is the number of threads that the model was profiled with.
	Threads int
	// Seconds is the time of one inference without waits for processors.
	Seconds float64

	factors []float64 // of each kernel: its time over the one by Rates
	spread  float64   // standard deviation of the logarithm of Seconds
}

// NewProfile compares a model's measured kernels with the rates of the machine, which facts
// describe. Kernels that the runtime did not report, and those of a model with control flow,
// take their part of the whole by rates.
func NewProfile(m Case, rates *Calibration, facts Facts) *Profile {
	m.prepareKernels()
	here := rates.ForThreads(m.Threads)
	expected := here.kernels(m.Kernels)
	p := &Profile{Rates: rates, Threads: m.Threads, Seconds: m.Seconds, factors: make([]float64, len(expected)), spread: profileSpread}
	level := m.Seconds / max(here.idle(m.Kernels), math.SmallestNonzeroFloat64)
	sum := 0.0
	for i := range m.Kernels {
		p.factors[i] = level
		if t := m.Kernels[i].Seconds; t != nil && *t > 0 && expected[i] > 0 {
			p.factors[i] = *t * float64(max(1, m.Kernels[i].Times)) / expected[i]
		}
		sum += p.factors[i] * expected[i]
	}
	if rates.Facts.Shipped {
		p.Rates = rates.onMachine(level, facts)
	} else {
		level = 1
	}
	for i := range p.factors {
		p.factors[i] *= m.Seconds / max(sum, math.SmallestNonzeroFloat64) / level
	}
	if e, ok := m.excess(); ok {
		p.spread = math.Hypot(profileSpread, e)
	}
	return p
}

// onMachine returns rates of another machine as those of the one that facts describe, where
// times are so many times as long.
func (c *Calibration) onMachine(level float64, facts Facts) *Calibration {
	here := *c
	here.Facts = facts
	here.Facts.Threads = c.Facts.Threads
	here.Scale = c.scale() * level
	if c.All != nil {
		here.All = c.All.onMachine(level, facts)
	}
	return &here
}

// WithProfile returns a calibration that predicts the profiled model by its own kernels.
func (c *Calibration) WithProfile(p *Profile) *Calibration {
	own := *c
	own.profile = p
	return &own
}

// band returns the interval about the profiled time for one more inference.
func (p *Profile) band() uncertainty.Band {
	return Away{Spread: p.spread * distuv.UnitNormal.Quantile((1+Level)/2)}.widen(bandBetween(1, 1))
}

// profileFactor returns the factor on the time of kernel i of n: 1 if another model than the
// profiled one is predicted.
func (c *Calibration) profileFactor(i, n int) float64 {
	if c.profile == nil || len(c.profile.factors) != n {
		return 1
	}
	return c.profile.factors[i]
}
