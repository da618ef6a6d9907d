package progress

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// point is a number of a counter, the line in which it came and its time.
type point struct {
	number, at float64
	line       int
}

// reset says that a counter fell between two lines, from a number to another.
type reset struct {
	after, line int
	number, to  float64
}

// counter is the series of numbers of one place in lines of one form.
type counter struct {
	key       string
	number           // as it came first
	in        string // its unit
	prev      *counter
	upper     *counter // of the bar above its own
	points    []point
	seen      int     // the last line that had it
	start     int     // in points, of the last time that it began
	begun     float64 // the time at which the run began that it counts now; 0 for the log's begin
	resets    []reset
	rises     []int // the lines in which it grew
	step      float64
	grew      int // how often it grew,
	changes   int // by another step than before,
	same      int // stood still,
	stray     int // fell at once, as numbers of several writers do
	measured  bool
	paired    bool // a percentage of a pair in its lines
	counted   bool // a percentage next to it is always that of the pair: it counts the units done
	writers   map[writer]*counter
	side      float64 // weight of what its words say
	announced string  // the unit that it may be the total of
}

// pointCount bounds the points of a counter; every other one of the older half is
// dropped beyond. moveCount bounds its rises and its resets.
const (
	pointCount = 1500
	moveCount  = 512
)

func newCounter(n number) *counter {
	n.left, n.wide = strings.ToLower(n.left), strings.ToLower(n.wide)
	c := &counter{key: n.key, number: n, in: n.unit(), side: 0.8}
	c.announced = n.announced()
	near := n.wide[max(0, len(n.wide)-24):]
	switch {
	case sideWork.MatchString(n.wide):
		c.side = 0.15
	case n.total > 0 && waits.MatchString(phrase(n.left, "|,;@")):
		c.side = 0.05
	case n.total > 0 && c.in == "" && hits.MatchString(phrase(n.left, "|,;@")):
		c.side = 0.05
	case n.percent && measure.MatchString(near) && unit(near) != "epoch" && unit(near) != "step":
		c.side = 0.05
	case n.total == 0 && c.in == "" && clocks.MatchString(cmp.Or(n.name, phrase(n.left, ",;@"))):
		c.side = 0.05
	case mainUnits[c.in]:
		c.side = 1
	}
	return c
}

func (c *counter) last() point     { return c.points[len(c.points)-1] }
func (c *counter) first() point    { return c.points[c.start] }
func (c *counter) resetting() bool { return len(c.resets) > 0 }

// add takes the next number.
func (c *counter) add(v, at float64, line int) {
	c.seen = line
	if len(c.points) == 0 {
		c.points = append(c.points, point{v, at, line})
		return
	}
	last := c.last()
	step := v - last.number
	switch {
	case step == 0:
		c.same++
		return
	case step > 0:
		if c.grew > 0 && math.Abs(step-c.step) > 0.02*c.step+c.rounding() {
			c.changes++
		}
		c.step = step
		c.grew++
		c.rises = bounded(append(c.rises, line))
	default:
		if c.strays(v, at) {
			c.stray++
			return
		}
		c.resets = bounded(append(c.resets, reset{last.line, line, last.number, v}))
		c.start = len(c.points)
	}
	c.points = append(c.points, point{v, at, line})
	if n := len(c.points); n > pointCount {
		kept := c.points[:0]
		for i, p := range c.points {
			if i >= n/2 || i%2 == 0 {
				if i == c.start {
					c.start = len(kept)
				}
				kept = append(kept, p)
			} else if i == c.start {
				c.start = len(kept)
			}
		}
		c.points = kept
	}
}

// anotherRun says that a number begins another run, after the end of an earlier one in the
// same log.
func (c *counter) anotherRun(v float64, p pause) bool {
	if len(c.points) == 0 || p.to == 0 || !p.long && !outerUnits[c.in] {
		return false
	}
	last := c.last()
	return last.at >= 0 && last.at <= p.from && v < last.number && (v <= c.points[0].number || v <= 0.3*last.number)
}

// restart forgets the earlier run.
func (c *counter) restart(at float64) {
	c.points, c.start, c.resets, c.rises, c.writers = nil, 0, nil, nil, nil
	c.grew, c.changes, c.same, c.stray = 0, 0, 0, 0
	c.begun = at
}

func bounded[T any](s []T) []T {
	if len(s) < moveCount {
		return s
	}
	return append(s[:0], s[moveCount/2:]...)
}

// strays reports whether a number that falls is from another writer: it comes sooner than a
// fifth of the mean gap, and is not one to begin again with.
func (c *counter) strays(v, at float64) bool {
	last := c.last()
	if v <= 1 && v <= c.first().number && last.number >= 0.7*c.total {
		return false
	}
	run := c.points[c.start:]
	if last.at < 0 || at < 0 {
		return v > last.number/2
	}
	return len(run) > 1 && at-last.at < 0.2*(last.at-run[0].at)/float64(len(run)-1)
}

// rounding returns how far the steps of printed decimals differ by rounding.
func (c *counter) rounding() float64 {
	if c.decimal {
		return 0.011
	}
	return 0
}

// even says that steps stay the same for a while, as a counter's do.
func (c *counter) even() bool {
	if c.decimal {
		return c.grew >= 3 && c.changes*5 <= c.grew
	}
	return c.grew >= 1 && c.changes*4 <= c.grew+1
}

// length returns how far a counter counts before it begins again; 0 where that is not
// known.
func (c *counter) length() float64 {
	switch {
	case c.percent:
		return 100
	case c.total > 1:
		return c.total
	case len(c.resets) < 2 && !(c.resetting() && c.even()):
		return 0
	}
	return slices.MaxFunc(c.resets, func(a, b reset) int { return cmp.Compare(a.number, b.number) }).number
}

// follows reports whether a counter follows another one in its lines.
func (c *counter) follows(o *counter) bool {
	for left, n := c.prev, 0; left != nil && n < numberCount; left, n = left.prev, n+1 {
		if left == o {
			return true
		}
	}
	return false
}

// leads says that it is the first number of its lines, or the first one that grows, in
// brackets of its own: "train.py:48] [100] loss=0.5".
func (c *counter) leads() bool {
	if c.prev != nil && !(strings.Trim(c.left, " \t]") == "[" && strings.HasPrefix(c.number.after, "]")) {
		return false
	}
	for left, n := c.prev, 0; left != nil && n < numberCount; left, n = left.prev, n+1 {
		if left.grew > 0 {
			return false
		}
	}
	return true
}

// writer says that a number names who writes: a rank, a GPU, a worker.
func (c *counter) writer() bool {
	return c.in == "" && writers.MatchString(c.left[max(0, len(c.left)-12):])
}

// zeroBased says that a counter counts units from 0 towards the last one's number.
func (c *counter) zeroBased(units float64) bool {
	return c.total == units-1 && c.points[0].number == 0
}

// global says that the words of a counter exclude that it counts inside of another one.
func (c *counter) global() bool { return overall.MatchString(cmp.Or(c.name, phrase(c.left, "|,;@"))) }

// index says that a pair is the number of a writer and their count, as "(0/4)".
func (c *counter) index() bool {
	return c.in == "" && c.total > 0 && c.grew == 0 && c.points[0].number < c.total
}

// done returns the units of a run done at each number: a line with nothing to report
// begins its unit, another one ends it.
func (c *counter) done(units, end float64, begins bool) []point {
	points := slices.Clone(c.points[c.start:])
	zero, last := points[0].number == 0, points[len(points)-1].number
	add := 0.0
	indexed := c.total == units-1
	switch starts := begins || !c.measured && c.step <= 1 && !c.endsAtOnce(end); {
	case c.decimal, c.percent:
	case starts && !zero:
		add = -1
	case end > 0 && zero && !starts && !c.counted && last == units-1:
		add = 1
	case starts || c.total == units || last >= units:
	case indexed, zero && (c.step <= 1 || last == units-1), c.step > 1 && c.changes == 0 && points[0].number+1 == c.step:
		add = 1
	}
	for i := range points {
		points[i].number += add
	}
	return points
}

// endsAtOnce says that the run ended right after the last number, so lines end units.
func (c *counter) endsAtOnce(end float64) bool {
	n := len(c.points) - c.start
	if end == 0 || n < 2 {
		return false
	}
	return end-c.last().at < 0.3*(c.last().at-c.first().at)/float64(n-1)
}

// turns returns the units done where each time that a counter counts to its length is
// one.
func (c *counter) turns() []point {
	points := slices.Clone(c.points)
	turn, last := 0.0, 0.0
	for i, p := range points {
		if p.number < last {
			turn++
		}
		last = p.number
		points[i].number = turn + p.number/c.length()
	}
	return points
}

// scaled returns the points of the last start, times a factor.
func (c *counter) scaled(factor float64) []point {
	points := slices.Clone(c.points[c.start:])
	for i := range points {
		points[i].number *= factor
	}
	return points
}

// numberIn returns the number in a line.
func (c *counter) numberIn(line int) float64 {
	i, _ := slices.BinarySearchFunc(c.points, line, func(p point, line int) int { return cmp.Compare(p.line, line) })
	return c.points[min(i, len(c.points)-1)].number
}

// inner says that c counts inside of outer: it begins again when outer grows.
func (c *counter) inner(outer *counter) bool {
	if c == outer || c.decimal && !c.percent || c.writer() || c.length() == 0 || c.grew == 0 || c.paired || len(c.points) < 2 {
		return false
	}
	rises, resets := outer.rises[:countBelow(outer.rises, c.seen+1)], c.resets
	if len(rises) == 0 {
		return (c.follows(outer) || c.upper == outer || outerUnits[outer.in] && c.in != outer.in && c.points[0].line >= outer.points[0].line) && c.total > 0 && !c.resetting()
	}
	from := outer.points[0].line
	if len(resets) >= moveCount/2 {
		from = max(from, resets[0].line)
	}
	wraps, hits, grew := 0, 0, len(rises)-countBelow(rises, from+1)
	for _, r := range resets {
		if r.line <= from {
			continue
		}
		wraps++
		on, _ := slices.BinarySearchFunc(c.points, r.line+1, func(p point, line int) int { return cmp.Compare(p.line, line) })
		next := c.seen // the line in which it counts on: it may begin again before outer grows
		if on < len(c.points) {
			next = c.points[on].line
		}
		if i := countBelow(rises, r.after); i < len(rises) && rises[i] <= next {
			hits++
		}
	}
	return wraps > 0 && 10*hits >= 7*wraps && 10*hits >= 7*(grew-1) && 10*wraps >= 6*grew
}

// countsAcross says that c counted on when o grew.
func (c *counter) countsAcross(o *counter) bool {
	i := countBelow(o.rises, c.first().line+1)
	return i < len(o.rises) && o.rises[i] < c.last().line
}

// countBelow returns how many of some lines come before one.
func countBelow(lines []int, line int) int {
	n, _ := slices.BinarySearch(lines, line)
	return n
}
