package profiler

import (
	"math"
	"slices"
)

// Busy is the number of processors from which on other work makes times longer than those of
// the idle machine by more than a few percent.
const Busy = 0.5

// unrepeated is the excess of times that were not repeated: the most of eight calibrations,
// four of them next to a compiler.
const unrepeated = 0.17

// usualExcess is the excess of a model's times on an idle machine.
const usualExcess = 0.05

// excess returns the mean logarithm of a time over the shortest one of the same model. It is
// unknown (false) of fewer than two.
func (c *Case) excess() (float64, bool) {
	if len(c.Times) < 2 {
		return 0, false
	}
	shortest, sum := slices.Min(c.Times), 0.0
	for _, t := range c.Times {
		sum += math.Log(t / shortest)
	}
	return sum / float64(len(c.Times)), shortest > 0
}

// excess returns the mean excess of the cases; false if none was repeated.
func excess(cases []Case) (mean float64, repeated bool) {
	sum, n := 0.0, 0
	for i := range cases {
		if e, ok := cases[i].excess(); ok {
			sum += e
			n++
		}
	}
	if n == 0 {
		return unrepeated, false
	}
	return sum / float64(n), true
}

// removeOtherWork scales times that were measured next to other work to those of the idle
// machine. Other work takes caches and memory from a model, the more at some moments than at
// others, and the shortest time has some of it too: as much, by two recordings next to other
// work, as the mean excess beyond that of an idle machine.
func (c *Calibration) removeOtherWork() {
	if tasks := c.Facts.ProbedTasks; tasks != nil && *tasks > Busy {
		c.Scale = c.scale() * math.Exp(-max(0, c.Facts.Excess-usualExcess))
	}
}
