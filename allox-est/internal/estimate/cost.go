package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// cost is a part of a job in addition to its units' own time, such as an evaluation, as the laps
// that stand out show it: the patterns by which it may come, and its time at each occurrence.
type cost struct {
	patterns []pattern
	foreign  bool              // nothing shows that it belongs to the job
	laps     float64           // among which it was seen
	spent    [clocks][]float64 // seconds each
}

// period returns the period of a pattern that is almost certain; 0 if there is none.
func (c cost) period() int {
	if len(c.patterns) > 0 && c.patterns[0].weight > 0.9 {
		return c.patterns[0].period
	}
	return 0
}

// mean returns the seconds that the cost is expected to add after unit from, up to to, in laps
// of so many units.
func (c cost) mean(k clock, from, to, lap float64) float64 {
	if len(c.spent[k]) == 0 || c.foreign {
		return 0
	}
	times, rate := 0.0, float64(len(c.spent[k]))/c.laps/lap
	for _, p := range c.patterns {
		times += p.weight * p.expect(from, to, rate)
	}
	return times * mean(c.spent[k])
}

// draw draws those seconds.
func (c cost) draw(k clock, from, to, lap float64, rng *random) float64 {
	n := float64(len(c.spent[k]))
	if n == 0 || c.foreign && rng.Float64() < comesBack {
		return 0
	}
	rate := distuv.Gamma{Alpha: n + 0.5, Beta: c.laps, Src: rng}.Rand() / lap
	times := c.choose(rng).expect(from, to, rate)
	one := mean(c.spent[k])
	noise := (variance(c.spent[k])*(n-1) + noiseSD*noiseSD*one*one) / n
	return max(0, times*one+rng.student()*math.Sqrt(max(0, noise*times*(1+times/n))))
}

// choose draws a pattern.
func (c cost) choose(rng *random) pattern {
	which, last := rng.Float64(), len(c.patterns)-1
	for _, p := range c.patterns[:last] {
		if which -= p.weight; which <= 0 {
			return p
		}
	}
	return c.patterns[last]
}

// warning says that the cost was seen.
func (c cost) warning(unit string) error {
	if c.period() > 0 {
		return fmt.Errorf("%w: a cost every %d %ss, from %d seen", ErrPeriod, c.period(), unit, len(c.spent[wallTime]))
	}
	return fmt.Errorf("%w: %d seen", ErrRecurring, len(c.spent[wallTime]))
}
