package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// cost is a part of a job in addition to its units' own time, such as an evaluation: the
// patterns by which it may come, and its time at each occurrence.
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

// occurrences returns the number of occurrences after unit from, up to to, by one pattern; at random, by
// a rate per lap, in laps of so many units.
func (c cost) occurrences(p pattern, from, to, rate, lap float64) float64 {
	if p.period > 0 {
		return p.among(from, to)
	}
	return rate * (to - from) / lap
}

// mean returns the seconds that the cost is expected to add after unit from, up to to.
func (c cost) mean(k clock, from, to, lap float64) float64 {
	if len(c.spent[k]) == 0 || c.foreign {
		return 0
	}
	times := 0.0
	for _, p := range c.patterns {
		times += p.weight * c.occurrences(p, from, to, float64(len(c.spent[k]))/c.laps, lap)
	}
	return times * mean(c.spent[k])
}

// draw draws those seconds.
func (c cost) draw(k clock, from, to, lap float64, rng *random) float64 {
	n := float64(len(c.spent[k]))
	if n == 0 || c.foreign && rng.Float64() < comesBack {
		return 0
	}
	times, which := 0.0, rng.Float64()
	for _, p := range c.patterns {
		if which -= p.weight; which > 0 {
			continue
		}
		rate := 0.0
		if p.period == 0 {
			rate = distuv.Gamma{Alpha: n + 0.5, Beta: c.laps, Src: rng}.Rand()
		}
		times = c.occurrences(p, from, to, rate, lap)
		break
	}
	one := mean(c.spent[k])
	noise := (variance(c.spent[k])*(n-1) + noiseSD*noiseSD*one*one) / n
	return max(0, times*one+rng.student()*math.Sqrt(max(0, noise*times*(1+times/n))))
}

// warning says that the cost was seen.
func (c cost) warning(unit string) error {
	if c.period() > 0 {
		return fmt.Errorf("%w: a cost every %d %ss, from %d seen", ErrPeriod, c.period(), unit, len(c.spent[wallTime]))
	}
	return fmt.Errorf("%w: %d seen", ErrRecurring, len(c.spent[wallTime]))
}
