package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// cost is a part of a job in addition to its units' own time, such as an evaluation, as the laps
// that stand out show it. It comes again at random, at a rate about which nothing is known
// (Jeffreys' prior).
type cost struct {
	foreign bool              // nothing shows that it belongs to the job
	laps    float64           // among which it was seen
	spent   [clocks][]float64 // seconds each
}

// mean returns the seconds that the cost is expected to add in so many laps.
func (c cost) mean(k clock, laps float64) float64 {
	if len(c.spent[k]) == 0 || c.foreign {
		return 0
	}
	return float64(len(c.spent[k])) / c.laps * laps * mean(c.spent[k])
}

// draw draws those seconds.
func (c cost) draw(k clock, laps float64, rng *random) float64 {
	n := float64(len(c.spent[k]))
	if n == 0 || c.foreign && rng.Float64() < comesBack {
		return 0
	}
	times := laps * distuv.Gamma{Alpha: n + 0.5, Beta: c.laps, Src: rng}.Rand()
	one := mean(c.spent[k])
	noise := (variance(c.spent[k])*(n-1) + noiseSD*noiseSD*one*one) / n
	return max(0, times*one+rng.student()*math.Sqrt(max(0, noise*times*(1+times/n))))
}

// warning says that the cost was seen.
func (c cost) warning() error {
	return fmt.Errorf("%w: %d seen", ErrRecurring, len(c.spent[wallTime]))
}
