package estimate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// shape is what the laps show of a job's course.
type shape struct {
	warm     int      // epochs of warm-up
	out      [][]bool // per track and epoch: it stands out
	outliers int
	// period of those that stand out, 0 if they have none: they are the epochs
	// whose number leaves the remainder offset.
	period, offset int
	named          []named
	reported       []occurrence // by the job itself, and not in the epochs
}

// named is a cost with a known period: it comes in the epochs whose number leaves
// the remainder offset.
type named struct {
	name           string
	period, offset int
}

func (c named) in(number int) bool { return number%c.period == c.offset }

// among is how many of the epochs after the warm-up, to number n, have the cost.
func (c named) among(warm, n int) int {
	s := shape{warm: warm, period: c.period, offset: c.offset}
	return s.costly(n)
}

// look finds the warm-up, then the epochs that stand out after it. A job that
// evaluates in epochs 1, 1+p, 1+2p... begins with one that looks like warm-up
// and comes again. Costs with a known period are taken out before.
func look(ts []track, every map[string]int) shape {
	reported := byName(ts, every)
	every = maps.Clone(every)
	for _, c := range reported {
		delete(every, c.name)
	}
	s := lookAt(ts, every)
	s.reported = reported
	return s
}

func lookAt(ts []track, every map[string]int) shape {
	if len(every) > 0 {
		return lookBeside(ts, every)
	}
	s := mark(ts, warmUp(ts))
	if s.warm == 1 {
		if z := mark(ts, 0); z.period > 0 && z.offset == 1 && z.alike(ts) {
			return z
		}
	}
	return s
}

// lookBeside looks at the epochs without named costs: those that have one are
// taken to be like the others, and stand out by their number.
func lookBeside(ts []track, every map[string]int) shape {
	var costs []named
	for _, name := range slices.Sorted(maps.Keys(every)) {
		same := slices.IndexFunc(costs, func(c named) bool { return c.period == every[name] })
		if same >= 0 { // nothing tells one from the other
			costs[same].name += "+" + name
			continue
		}
		costs = append(costs, named{name, every[name], offset(ts, every[name])})
	}
	has := shape{named: costs}.has
	var plain []float64
	for _, t := range ts {
		for k, x := range t.epochs {
			if !has(t.first + k) {
				plain = append(plain, x)
			}
		}
	}
	if len(plain) == 0 {
		return mark(ts, warmUp(ts))
	}
	level := stats.Median(plain)
	without := slices.Clone(ts)
	for i, t := range ts {
		without[i].epochs = slices.Clone(t.epochs)
		for k := range t.epochs {
			if has(t.first + k) {
				without[i].epochs[k] = level
			}
		}
	}
	s := mark(without, warmUp(without))
	s.named = costs
	return s
}

// offset is where a cost with a known period falls, by the epochs that are
// slower: those whose number it divides, or, in a job that counts from 0, the
// ones after. Where none of the first is among the samples the others must stand
// out.
func offset(ts []track, period int) int {
	var at [2][]float64
	var rest []float64
	for _, t := range ts {
		for k, x := range t.epochs {
			if r := (t.first + k) % period; r < 2 {
				at[r] = append(at[r], x)
			} else {
				rest = append(rest, x)
			}
		}
	}
	beside := at[0]
	if len(at[0]) == 0 {
		beside = rest
	}
	if len(at[1]) > 0 && len(beside) > 0 && mean(at[1]) > 1.3*mean(beside) {
		return 1 % period
	}
	return 0
}

// mark finds the epochs that stand out after a warm-up.
func mark(ts []track, warm int) shape {
	s := shape{warm: warm}
	var steady []float64
	for _, t := range ts {
		if len(t.epochs) > s.warm {
			steady = append(steady, t.epochs[s.warm:]...)
		}
	}
	limit := math.Inf(1)
	if len(steady) >= 4 {
		m := stats.Median(steady)
		limit = m + max(5*max(deviation(steady), 0.01*m), 0.3*m)
	}
	for _, t := range ts {
		out := make([]bool, len(t.epochs))
		for i, x := range t.epochs {
			if i >= s.warm && x > limit {
				out[i] = true
				s.outliers++
			}
		}
		s.out = append(s.out, out)
	}
	s.findPeriod(ts)
	return s
}

// alike says that the epochs that stand out differ by less than a half in what
// they cost above the others.
func (s shape) alike(ts []track) bool {
	least, most := math.Inf(1), 0.0
	var plain []float64
	for i, t := range ts {
		for k, x := range t.epochs {
			if s.out[i][k] {
				least, most = min(least, x), max(most, x)
			} else {
				plain = append(plain, x)
			}
		}
	}
	usual := stats.Median(plain)
	return most-usual < 1.5*(least-usual)
}

// warmUp returns how many epochs at the start take longer than those of the
// later half of the samples. Taking an epoch for warm-up that is none costs a
// little data; the other way round it costs a bias.
func warmUp(ts []track) int {
	var late []float64
	longest := 0
	for _, t := range ts {
		late = append(late, t.epochs[len(t.epochs)/2:]...)
		longest = max(longest, len(t.epochs))
	}
	usual := stats.Median(late)
	if usual <= 0 {
		return 0 // the marks are finer than the clock
	}
	noise := max(0.02, deviation(late)/usual)
	warm := 0
	for ; warm < longest-2; warm++ {
		var here []float64
		for _, t := range ts {
			if len(t.epochs) > warm+1 {
				here = append(here, t.epochs[warm])
			}
		}
		limit := usual * (1 + max(0.1, 2*noise/math.Sqrt(float64(len(here)))))
		if len(here) == 0 || mean(here) <= limit {
			break
		}
	}
	if warm == longest-2 && longest > 2 && warm > longest/2 {
		return 0 // it never settles: that is a trend
	}
	return warm
}

// findPeriod finds p and the remainder r if the epochs that stand out are
// exactly those of number r, r+p, r+2p... in every track. One alone has no
// period: two numbers must be seen.
func (s *shape) findPeriod(ts []track) {
	p, last := 0, 0
	for i, t := range ts {
		before := 0
		for k, out := range s.out[i] {
			switch number := t.first + k; {
			case !out:
			case before == 0:
				before, last = number, number
			case p != 0 && number-before != p:
				return
			default:
				p, before = number-before, number
			}
		}
	}
	if p < 2 {
		return
	}
	for i, t := range ts {
		for k, out := range s.out[i] {
			if k >= s.warm && out != ((t.first+k)%p == last%p) {
				return
			}
		}
	}
	s.period, s.offset = p, last%p
}

// costly is how many of the epochs after the warm-up, to number n, have the
// cost that comes with the period.
func (s shape) costly(n int) int {
	first := s.offset
	if first == 0 {
		first = s.period
	}
	upTo := func(n int) int { return max(0, (n-first+s.period)/s.period) }
	return max(0, upTo(n)-upTo(s.warm))
}

// has says that an epoch has a named cost.
func (s shape) has(number int) bool {
	return slices.ContainsFunc(s.named, func(c named) bool { return c.in(number) })
}

func (s shape) warnings(ts []track, unit string) []error {
	var w []error
	switch {
	case s.period > 0:
		w = append(w, fmt.Errorf("%w: a cost every %d %ss, from %d seen", ErrPeriod, s.period, unit, s.outliers))
	case s.outliers > 0:
		w = append(w, fmt.Errorf("%w: %d seen", ErrRecurring, s.outliers))
	}
	w = append(w, s.unknown(ts)...)
	var plain [][]float64
	for i, t := range ts {
		var g []float64
		for k, x := range t.epochs {
			if k >= s.warm && !s.out[i][k] {
				g = append(g, x)
			}
		}
		if len(g) > 1 {
			plain = append(plain, g)
		}
	}
	if slope, t := trend(plain); math.Abs(t) > 4 && math.Abs(slope) > 0.001 {
		w = append(w, fmt.Errorf("%w: %+.1f %% from one %s to the next", ErrTrend, 100*slope, unit))
	}
	return w
}
