package profiler

import (
	"math"
	"slices"
)

// Busy is the number of processors from which on other work makes times longer than those of
// the idle machine by more than a few percent.
const Busy = 0.5

// Idle reports whether rates were measured on an idle machine.
func (f *Facts) Idle() bool { return f.ProbedTasks != nil && *f.ProbedTasks <= Busy }

// unrepeated is the excess of times that were not repeated: the most of eight calibrations,
// four of them next to a compiler.
const unrepeated = 0.17

// usualExcess is the excess of a model's times on an idle machine.
const usualExcess = 0.05

// excess returns the mean logarithm of a time over the shortest one of the same model. It is
// unknown (false) of fewer than two.
func (c *Case) excess() (float64, bool) {
	if len(c.Rows) < 2 {
		return 0, false
	}
	times := make([]float64, len(c.Rows))
	for i := range c.Rows {
		times[i] = c.Rows[i].LeastSeconds()
	}
	shortest, sum := slices.Min(times), 0.0
	for _, t := range times {
		sum += math.Log(t / shortest)
	}
	return sum / float64(len(times)), shortest > 0
}

// excess returns the mean excess of the cases.
func excess(cases []Case) float64 {
	sum, n := 0.0, 0
	for i := range cases {
		if e, ok := cases[i].excess(); ok {
			sum += e
			n++
		}
	}
	if n == 0 {
		return unrepeated
	}
	return sum / float64(n)
}

// alone returns cases with the times that their models are expected to take on the idle
// machine. Other work takes caches and memory from a model, the more at some moments than at
// others, and the shortest time has some of it too: as much, by two recordings next to other
// work, as the mean excess beyond that of an idle machine. Times of an idle machine stay.
func alone(cases []Case, facts *Facts) []Case {
	if facts.ProbedTasks == nil || facts.Idle() {
		return cases
	}
	out := slices.Clone(cases)
	for i := range out {
		c := &out[i]
		e, _ := c.excess()
		factor := math.Exp(-max(0, e-usualExcess))
		c.Seconds *= factor
		c.Kernels = slices.Clone(c.Kernels)
		for j := range c.Kernels {
			if k := &c.Kernels[j]; k.Seconds != nil {
				shorter := factor * *k.Seconds
				k.Seconds = &shorter
			}
		}
	}
	return out
}
