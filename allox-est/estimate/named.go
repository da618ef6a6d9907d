package estimate

import (
	"fmt"
	"maps"
	"slices"
)

// named is a cost of Job.Every: its name and when it comes.
type named struct {
	name string
	pattern
}

// namesOf are the costs whose period is given and that the job does not tell
// itself, the shorter period first. Where a lap holds several periods each lap has
// the cost, and its level too.
func namesOf(ts []trace, every map[string]int) []named {
	var costs []named
	for _, name := range slices.Sorted(maps.Keys(every)) {
		if tells(ts, name) || float64(every[name]) <= longestLap(ts) && every[name] > 1 && longestLap(ts) > 1 {
			continue
		}
		same := slices.IndexFunc(costs, func(c named) bool { return c.period == every[name] })
		if same >= 0 { // nothing tells one from the other
			costs[same].name += "+" + name
			continue
		}
		costs = append(costs, named{name, pattern{period: every[name], offset: offset(ts, every[name])}})
	}
	slices.SortStableFunc(costs, func(a, b named) int { return a.period - b.period })
	return costs
}

func tells(ts []trace, name string) bool {
	return slices.ContainsFunc(ts, func(t trace) bool {
		return slices.ContainsFunc(t.told, func(c told) bool { return c.name == name })
	})
}

func longestLap(ts []trace) float64 {
	longest := 0.0
	for _, t := range ts {
		for _, l := range t.laps {
			longest = max(longest, l.units())
		}
	}
	return longest
}

// offset is where a cost with a known period falls, by the laps that are slower:
// those whose number it divides, or, in a job that counts from 0, the ones after.
// Where none of the first is among the samples the others must stand out.
func offset(ts []trace, period int) int {
	var at [2][]float64
	var rest []float64
	for _, t := range ts {
		for _, l := range t.laps {
			switch x := l.rate(quietTime); {
			case (pattern{period: period}).holds(l):
				at[0] = append(at[0], x)
			case (pattern{period: period, offset: 1}).holds(l):
				at[1] = append(at[1], x)
			default:
				rest = append(rest, x)
			}
		}
	}
	beside := at[0]
	if len(at[0]) == 0 {
		beside = rest
	}
	if period > 1 && len(at[1]) > 0 && len(beside) > 0 && mean(at[1]) > 1.3*mean(beside) {
		return 1
	}
	return 0
}

// cost is what a cost by name adds to a job, in seconds: how often it comes, and
// what it took each time that it was met.
type cost struct {
	name   string
	period int
	times  float64
	spent  []float64
	random bool // times is a rate seen, of so many times
}

// named are the costs of Job.Every between units from and to, a unit's own time
// being rate. A lap that holds a longer one too counts only where no other does.
func (c *course) namedCosts(ts []trace, k clock, rate, from, to float64) []cost {
	var costs []cost
	for i, n := range c.named {
		var alone, shared []float64
		c.steady(ts, func(_, _ int, l lap) {
			if !n.holds(l) {
				return
			}
			x := l.seconds[k] - rate*l.units()
			for j := range i {
				if len(costs[j].spent) > 0 {
					x -= mean(costs[j].spent) * c.named[j].among(l.from, l.to)
				}
			}
			x /= n.among(l.from, l.to)
			if slices.ContainsFunc(c.named[i+1:], func(o named) bool { return o.holds(l) }) {
				shared = append(shared, x)
			} else {
				alone = append(alone, x)
			}
		})
		if len(alone) == 0 {
			alone = shared
		}
		costs = append(costs, cost{name: n.name, period: n.period, times: n.among(from, to), spent: alone})
	}
	return costs
}

// toldCosts are those that the job reported, between units from and to.
func toldCosts(ts []trace, every map[string]int, k clock, from, to float64) []cost {
	names := map[string]bool{}
	seen := 0.0
	for _, t := range ts {
		seen += t.seen()
		for _, c := range t.told {
			names[c.name] = true
		}
	}
	var costs []cost
	for _, name := range slices.Sorted(maps.Keys(names)) {
		one := cost{name: name}
		for _, t := range ts {
			for _, c := range t.told {
				if c.name == name {
					one.spent = append(one.spent, c.seconds[k])
				}
			}
		}
		o, known := occurs(ts, name, every[name])
		one.period, one.times, one.random = o.period, o.times(from, to), !known
		if !known {
			one.times = float64(len(one.spent)) / seen * (to - from)
		}
		costs = append(costs, one)
	}
	return costs
}

// occurrence is when a cost comes that jobs reported.
type occurrence struct {
	pattern
	last bool // it comes in the last unit too, whatever its number
}

// times is how often the cost comes after unit from up to to, the last.
func (o occurrence) times(from, to float64) float64 {
	times := 0.0
	if o.period > 0 {
		times = o.among(from, to)
	}
	if o.last && !(o.period > 0 && o.among(to-1, to) > 0) {
		times++
	}
	return times
}

// occurs finds when a cost comes: with one period in all runs, or so but for the
// last unit, as a job that saves its end. Known says that it was found; period is 0
// where nothing is given.
func occurs(ts []trace, name string, period int) (o occurrence, known bool) {
	for _, last := range []bool{false, true} {
		if last && (len(ts) < 2 || ts[0].length == ts[len(ts)-1].length) {
			break
		}
		o = occurrence{pattern{period: period}, last}
		if o.fit(ts, name) {
			return o, true
		}
	}
	return occurrence{}, false
}

// fit finds period, where there is none, and offset, and says whether all runs
// have the cost where it then must come, and nowhere else.
func (o *occurrence) fit(ts []trace, name string) bool {
	var all []float64
	for _, t := range ts {
		numbers := o.numbers(t, name)
		for i, number := range numbers {
			if o.period == 0 && i > 0 {
				o.period = int(number - numbers[i-1])
			}
		}
		all = append(all, numbers...)
	}
	if o.period == 0 && !(o.last && len(all) == 0) {
		return false
	}
	if len(all) > 0 {
		o.offset = int(all[0]) % o.period
	}
	for _, t := range ts {
		for _, l := range t.laps {
			must := len(all) > 0 && o.period > 0 && o.holds(l) || o.last && l.to == t.length
			has := slices.ContainsFunc(t.told, func(c told) bool { return c.name == name && c.number == l.to })
			if must != has {
				return false
			}
		}
	}
	return true
}

// numbers are the units of a run in which the cost came, ascending; but for the
// last one where it always comes then.
func (o *occurrence) numbers(t trace, name string) []float64 {
	var numbers []float64
	for _, c := range t.told {
		if c.name == name && !(o.last && c.number == t.length) {
			numbers = append(numbers, c.number)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// costWarnings warn of costs that jobs reported and whose period is not known, and
// of those that no sample has met.
func costWarnings(costs []cost, unit string) (first, rest []error) {
	for _, c := range costs {
		switch {
		case c.random:
			rest = append(rest, fmt.Errorf("%w: %s, %d seen; the job file may say how often it comes (every)", ErrRecurring, c.name, len(c.spent)))
		case len(c.spent) == 0:
			first = append(first, fmt.Errorf("%w: %w: %s, every %d %ss; the upper end allows it the time of one", ErrUnsure, ErrUnmet, c.name, c.period, unit))
		}
	}
	return first, rest
}
