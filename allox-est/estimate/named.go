package estimate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/journal"
)

// namedCost is a cost that a job gave a name and a time within an epoch.
type namedCost struct {
	name    string
	number  int // of the epoch, from 1
	seconds float64
}

// takeCosts moves what a run reported by name out of its epochs. Of a quantity other
// than wall time a cost has the share of the epoch that it has of the wall time.
func (t *track) takeCosts(r journal.Run, wall []float64) {
	whole := t.epochs
	t.epochs = slices.Clone(whole)
	for _, c := range r.Costs {
		k := c.Lap - 1
		if k < 0 || k >= len(whole) || wall[c.Lap] <= 0 {
			continue // of the set-up or the teardown
		}
		seconds := min(t.epochs[k], whole[k]*c.Seconds/wall[c.Lap])
		t.epochs[k] -= seconds
		same := slices.IndexFunc(t.costs, func(o namedCost) bool { return o.name == c.Name && o.number == t.first+k })
		if same >= 0 {
			t.costs[same].seconds += seconds
			continue
		}
		t.costs = append(t.costs, namedCost{c.Name, t.first + k, seconds})
	}
}

// occurrence is when a cost comes that jobs reported.
type occurrence struct {
	named
	known bool // the period is; without one it comes at random
	last  bool // it comes in the last epoch too, whatever its number
}

// times is how often the cost comes in a job of n epochs.
func (o occurrence) times(n int) float64 {
	times := 0
	if o.period > 0 {
		times = o.among(0, n)
	}
	if o.last && !(o.period > 0 && o.in(n)) {
		times++
	}
	return float64(times)
}

// byName are the costs that jobs reported, with their periods where these are given
// or seen.
func byName(ts []track, every map[string]int) []occurrence {
	names := map[string]bool{}
	for _, t := range ts {
		for _, c := range t.costs {
			names[c.name] = true
		}
	}
	var costs []occurrence
	for _, name := range slices.Sorted(maps.Keys(names)) {
		costs = append(costs, occurs(ts, name, every[name]))
	}
	return costs
}

// occurs finds when a cost comes: with one period in all runs, or so but for the
// last epoch, as a job that saves its end; period is 0 where nothing is given.
func occurs(ts []track, name string, period int) occurrence {
	o := occurrence{named: named{name: name, period: period}}
	if o.fit(ts) {
		return o
	}
	o = occurrence{named: named{name: name, period: period}, last: true}
	if lengths := len(ts); lengths > 1 && ts[0].run != ts[lengths-1].run && o.fit(ts) {
		return o
	}
	return occurrence{named: named{name: name}}
}

// fit finds period, where there is none, and offset, and says whether all runs
// have the cost where it then must come, and nowhere else.
func (o *occurrence) fit(ts []track) bool {
	any := false
	for _, t := range ts {
		numbers := o.numbers(t)
		for i, number := range numbers {
			if o.period == 0 && i > 0 {
				o.period = number - numbers[i-1]
			}
		}
		any = any || len(numbers) > 0
	}
	o.known = o.period > 0 || o.last && !any
	if !o.known {
		return false
	}
	for _, t := range ts {
		for _, number := range o.numbers(t) {
			o.offset = number % max(1, o.period)
		}
	}
	for _, t := range ts {
		for number := t.first; number < t.first+len(t.epochs); number++ {
			must := any && o.in(number) || o.last && number == t.run
			if must != t.has(o.name, number) {
				return false
			}
		}
	}
	return true
}

// numbers are the epochs of a run in which the cost came, ascending; but for the
// last one where it always comes then.
func (o *occurrence) numbers(t track) []int {
	var numbers []int
	for _, c := range t.costs {
		if c.name == o.name && !(o.last && c.number == t.run) {
			numbers = append(numbers, c.number)
		}
	}
	slices.Sort(numbers)
	return numbers
}

func (t track) has(name string, number int) bool {
	return slices.ContainsFunc(t.costs, func(c namedCost) bool { return c.name == name && c.number == number })
}

// spent are the seconds of a cost, one by one.
func (o occurrence) spent(ts []track) []float64 {
	var xs []float64
	for _, t := range ts {
		for _, c := range t.costs {
			if c.name == o.name {
				xs = append(xs, c.seconds)
			}
		}
	}
	return xs
}

// occurring is what a cost that jobs reported adds to the job: as often as it comes,
// or at the rate seen, with the exact interval of a rate: how far its ends lie
// below and above.
func (m model) occurring(ts []track, o occurrence) (p part, below, above float64) {
	xs := o.spent(ts)
	k, one := float64(len(xs)), mean(xs)
	noise := prior{math.Hypot(epochPrior.sd, m.speed.sd), epochPrior.df}
	v, df := noise.moderate(one, variance(xs), k-1)
	times := o.times(m.epochs)
	if !o.known {
		seen := 0
		for _, t := range ts {
			seen += len(t.epochs)
		}
		rate := float64(m.epochs) / float64(seen)
		low, high := poisson(k, m.level)
		times, below, above = k*rate, (k-low)*rate*one, (high-k)*rate*one
	}
	return part{times * one, v * (times + times*times/k), df}, below, above
}

// unknown warns of costs that jobs reported and whose period is not known.
func (s shape) unknown(ts []track) []error {
	var w []error
	for _, o := range s.reported {
		if !o.known {
			w = append(w, fmt.Errorf("%w: %s, %d seen; the job file may say how often it comes (every)", ErrRecurring, o.name, len(o.spent(ts))))
		}
	}
	return w
}
