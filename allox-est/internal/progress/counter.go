package progress

import (
	"math"
	"slices"
)

// point is a number of a counter, its time and its line; the time is negative if it is not known.
type point struct {
	at, value float64
	line      int
}

// fall says that a counter fell from one point to another.
type fall struct{ from, to point }

// counter is the series of numbers of one place in lines of one form.
type counter struct {
	number                // as it came first
	unit     string       // of its words
	points   []point      // where it changed
	falls    []fall       // where it began again
	seen     int          // how often its lines came
	line     int          // in which it was seen last
	before   []*counter   // to its left in its lines
	claim    announcement // of the unit whose total it may be
	zero     bool         // it was 0 once
	isWriter bool         // it names who writes: a rank, a GPU, a worker
	start    float64      // when the run began that it counts now; 0 for the log's begin
}

// pointCount bounds the points of a counter.
const pointCount = 1500

// add takes in the next number of a counter.
func (c *counter) add(n number, at float64, line int) {
	c.seen++
	c.decimal = c.decimal || n.decimal
	c.zero = c.zero || n.value == 0
	if n.value < n.total { // at its end a pair agrees with any percentage
		c.counted = n.counted
	}
	c.reports = c.reports || n.reports
	next := point{at, n.value, line}
	if len(c.points) == 0 {
		c.points = append(c.points, next)
		return
	}
	last := c.last()
	if n.value == last.value && n.span == nil {
		return
	}
	if n.value < last.value {
		if c.isStray(at) {
			return
		}
		c.falls = append(c.falls, fall{last, next})
	}
	c.points = Thin(append(c.points, next), pointCount)
	c.falls = Thin(c.falls, pointCount)
}

// pauseLeast is the least pause between two runs in one log, in seconds.
const pauseLeast = 600

// isAnotherRun reports whether a number begins another run in the same log: it falls after a pause
// longer than all the time before.
func (c *counter) isAnotherRun(value, at float64) bool {
	if len(c.points) == 0 || value >= c.last().value {
		return false
	}
	first, last := c.first(), c.last()
	return last.at >= 0 && at-last.at > max(pauseLeast, last.at-first.at)
}

// dropUntimed returns the points whose time is known.
func dropUntimed(points []point) []point {
	return slices.DeleteFunc(slices.Clone(points), func(p point) bool { return p.at < 0 })
}

// isStray reports whether a number that falls belongs to no new pass, as that of the best one: it
// comes sooner than a fifth of the mean gap.
func (c *counter) isStray(at float64) bool {
	run := c.pass()
	first, last := run[0], run[len(run)-1]
	return len(run) > 1 && at-last.at < 0.2*(last.at-first.at)/float64(len(run)-1)
}

// Thin drops every other value of the older half beyond so many.
func Thin[T any](s []T, most int) []T {
	if len(s) <= most {
		return s
	}
	kept, half := s[:0], len(s)/2
	for i, v := range s {
		if i >= half || i%2 == 0 {
			kept = append(kept, v)
		}
	}
	return kept
}

// pass returns the points since a counter began last.
func (c *counter) pass() []point {
	if len(c.falls) == 0 {
		return c.points
	}
	return c.points[c.at(c.falls[len(c.falls)-1].to.line-1)+1:]
}

func (c *counter) first() point { return c.points[0] }
func (c *counter) last() point  { return c.points[len(c.points)-1] }
func (c *counter) moves() bool  { return len(c.points) > 1 }

// highest returns the greatest number of a counter.
func (c *counter) highest() float64 {
	return slices.MaxFunc(c.points, func(a, b point) int { return int(math.Copysign(1, a.value-b.value)) }).value
}

// countsDown reports whether a counter only falls.
func (c *counter) countsDown() bool {
	return len(c.points) > 3 && len(c.falls) >= len(c.points)-1
}

// isEven reports whether most steps of a counter are the same.
func (c *counter) isEven() bool {
	steps := map[float64]int{}
	most := 0
	for i := 1; i < len(c.points); i++ {
		step := math.Round(1e6 * (c.points[i].value - c.points[i-1].value))
		steps[step]++
		most = max(most, steps[step])
	}
	return most > 0 && 10*most >= 7*(len(c.points)-1)
}

// step returns the first step of a counter; 0 before it has moved.
func (c *counter) step() float64 {
	if len(c.points) < 2 {
		return 0
	}
	return c.points[1].value - c.points[0].value
}

// rises returns how often a counter has grown.
func (c *counter) rises() int { return len(c.points) - 1 - len(c.falls) }

// isFollowing reports whether a counter stands right of another one in its lines.
func (c *counter) isFollowing(o *counter) bool { return slices.Contains(c.before, o) }

// ownTotal returns the total next to a counter, 100 for a percentage; 0 without one.
func (c *counter) ownTotal() float64 {
	if c.percent {
		return 100
	}
	if c.total > 1 {
		return c.total
	}
	return 0
}

// length returns how far a counter counts before it begins again; 0 if that is not known.
func (c *counter) length() float64 {
	if own := c.ownTotal(); own > 0 {
		return own
	}
	most := 0.0
	for _, f := range c.falls {
		most = max(most, f.from.value)
	}
	return most
}

// at returns the index of the last point of a counter until a line; -1 before it.
func (c *counter) at(line int) int {
	n, _ := slices.BinarySearchFunc(c.points, line+1, func(p point, line int) int { return p.line - line })
	return n - 1
}
