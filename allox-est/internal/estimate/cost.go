package estimate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// cost is a part of a job in addition to its units' own time, such as an evaluation: the
// patterns by which it may come, and its time at each occurrence. It has a name if the job
// reports it, and none if only the laps show it.
type cost struct {
	name     string
	patterns []pattern
	last     bool              // it comes in the last unit too, whatever its number
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

// known says that it is known when the cost comes.
func (c cost) known() bool { return c.period() > 0 || c.last && len(c.patterns) == 0 }

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
	times := c.ends(from, to)
	for _, p := range c.patterns {
		times += p.weight * c.occurrences(p, from, to, float64(len(c.spent[k]))/c.laps, lap)
	}
	return times * mean(c.spent[k])
}

// ends returns 1 if the cost comes in the last unit, to, in addition to its period.
func (c cost) ends(from, to float64) float64 {
	if c.last && to > from && !(c.period() > 0 && c.patterns[0].among(to-1, to) > 0) {
		return 1
	}
	return 0
}

// draw draws those seconds.
func (c cost) draw(k clock, from, to, lap float64, rng *random) float64 {
	n := float64(len(c.spent[k]))
	if n == 0 || c.foreign && rng.Float64() < comesBack {
		return 0
	}
	times, which := c.ends(from, to), rng.Float64()
	for _, p := range c.patterns {
		if which -= p.weight; which > 0 {
			continue
		}
		rate := 0.0
		if p.period == 0 {
			rate = distuv.Gamma{Alpha: n + 0.5, Beta: c.laps, Src: rng}.Rand()
		}
		times += c.occurrences(p, from, to, rate, lap)
		break
	}
	one := mean(c.spent[k])
	noise := (variance(c.spent[k])*(n-1) + noiseSD*noiseSD*one*one) / n
	return max(0, times*one+rng.student()*math.Sqrt(max(0, noise*times*(1+times/n))))
}

// reportedCosts returns the costs that the job reported by name.
func reportedCosts(ts []trace) []cost {
	byName := map[string][]namedCost{}
	for _, t := range ts {
		for _, c := range t.named {
			byName[c.name] = append(byName[c.name], c)
		}
	}
	var costs []cost
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		c := reportedCost(ts, name)
		for _, one := range byName[name] {
			for k := range clocks {
				c.spent[k] = append(c.spent[k], one.seconds[k])
			}
		}
		costs = append(costs, c)
	}
	return costs
}

// reportedCost finds when a cost comes: with a period in all runs, or so but for the last
// unit, as a job that saves its end.
func reportedCost(ts []trace, name string) cost {
	c := cost{name: name}
	for _, last := range []bool{false, true} {
		var has, lacks []lap
		ends, lengths := 0, map[float64]bool{}
		for _, t := range ts {
			lengths[t.length] = true
			for _, l := range t.laps {
				is := slices.ContainsFunc(t.named, func(o namedCost) bool { return o.name == name && o.number == l.to })
				switch {
				case last && l.to == t.length:
					if is {
						ends++
					}
				case is:
					has = append(has, l)
				default:
					lacks = append(lacks, l)
				}
			}
		}
		if last && (ends < len(ts) || len(lengths) < 2) {
			break
		}
		found := cost{name: name, last: last, laps: float64(len(has) + len(lacks))}
		if len(has) > 0 {
			found.patterns = patterns(has, lacks)
		}
		if !last || found.known() {
			c = found
		}
		if c.known() {
			break
		}
	}
	return c
}

func (c cost) warning(unit string) error {
	switch {
	case c.name == "" && c.period() > 0:
		return fmt.Errorf("%w: a cost every %d %ss, from %d seen", ErrPeriod, c.period(), unit, len(c.spent[wallTime]))
	case c.name == "":
		return fmt.Errorf("%w: %d seen", ErrRecurring, len(c.spent[wallTime]))
	case !c.known():
		return fmt.Errorf("%w: %s, %d seen", ErrRecurring, c.name, len(c.spent[wallTime]))
	}
	return nil
}
