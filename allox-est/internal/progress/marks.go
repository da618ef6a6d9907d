package progress

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foretime/foretime/shared/plural"
)

// unitsOf returns the most and the least units that a run has by a choice. The least are
// fewer where the total is a maximum, or may be the number of the last unit, counted from 0.
func (r *Reader) unitsOf(c choice) (most, least float64) {
	u := c.counter
	switch {
	case c.how == nothing || r.Units > 0:
		return r.Units, r.Units
	case c.how == fraction || u != nil && u.unit == "time":
		return 100, 100
	case c.atMost:
		return c.total, min(c.total, u.last().value)
	case c.how != pair || !u.zero || u.pass()[0].value != 0 || u.counted || !outerUnits[u.unit]:
		return c.total, c.total
	case r.times.end > 0:
		all := max(c.total, u.last().value+1)
		return all, all
	}
	return c.total + 1, c.total
}

// points returns the units done by a choice, and when.
func (r *Reader) points(c choice) []point {
	units, _ := r.unitsOf(c)
	if c.how == nothing || units == 0 {
		return nil
	}
	points := r.countUnits(c)
	if c.how == pair && c.total == units-1 {
		return points
	}
	for i := range points {
		points[i].value *= units / c.total
	}
	return points
}

// countUnits returns the numbers of a choice, in units of its own total.
func (r *Reader) countUnits(c choice) []point {
	if c.counter == nil { // the log's own remaining times imply shares of the way
		points := slices.Clone(c.left)
		for i, p := range points {
			elapsed := p.at - r.times.begin
			points[i].value = c.total * elapsed / max(1e-9, elapsed+p.value)
		}
		return points
	}
	whole := slices.Clone(c.counter.pass())
	if c.how == countdown {
		whole = slices.Clone(c.counter.points)
	}
	shift := r.shift(c)
	for i, p := range whole {
		whole[i].value = p.value + shift
		if c.how == countdown {
			whole[i].value = c.total - p.value
		}
	}
	if c.inner == nil {
		return whole
	}
	all := addParts(whole, c.inner)
	known := len(dropUntimed(c.counter.points))
	if known < fewMarks {
		return all
	}
	if last := whole[len(whole)-1]; last.value >= c.total-1 && all[len(all)-1].value > last.value {
		return append(whole, all[len(all)-1]) // nothing else comes before the end
	}
	return whole
}

// shift returns what the numbers of a counter lack to be those of units done: a line that
// begins its unit names one more than are done, one that ends it, counted from 0, one less.
func (r *Reader) shift(c choice) float64 {
	u := c.counter
	if u.decimal || u.percent || u.counted || c.how == matched {
		return 0
	}
	first := u.pass()[0].value
	units, _ := r.unitsOf(c)
	if c.inner != nil {
		isAfter := c.inner.first().line < u.first().line
		switch {
		case u.zero && isAfter && first == 0:
			return 1 // "epoch 0 done" after its batches
		case u.zero || isAfter && u.first().value == 1:
			return 0
		}
		return -1
	}
	pass := u.pass()
	gap := (u.last().at - pass[0].at) / max(1, float64(len(pass)-1))
	isLate := pass[0].at >= 0 && gap > 0 && pass[0].at-max(r.times.begin, u.start) >= 0.7*gap
	isLast := r.times.end > 0 && r.times.end-u.last().at < 0.3*gap
	ends := u.reports || isLate || isLast
	isWhole := r.times.end > 0 && u.highest() == units-1
	switch {
	case first == 0 && ends && u.highest() < units && (isWhole || u.step() <= 1):
		return 1
	case first == 1 && !ends && u.step() <= 1:
		return -1
	}
	return 0
}

// addParts puts the numbers of an inner loop between the units done.
func addParts(whole []point, inner *loop) []point {
	var all []point
	next := 0
	for _, p := range inner.points {
		for next < len(whole) && whole[next].line <= p.line {
			all = append(all, whole[next])
			next++
		}
		if next == 0 {
			continue
		}
		unit := whole[next-1]
		if share := inner.done(unit.line, p.line); share > 0 && share < 1 {
			all = append(all, point{p.at, unit.value + share, p.line})
		}
	}
	return append(all, whole[next:]...)
}

// Length returns the length of the run in units, from the caller or else from the output; 0 if
// neither contains it.
func (r *Reader) Length() float64 {
	most, _ := r.unitsOf(r.judge())
	return most
}

// Of marks, parts of units are taken below fewMarks, and no more than keptMarks
// are returned.
const (
	fewMarks  = 4
	keptMarks = 512
)

// Marks returns the units done so far; their times count from the begin of the last run in the
// log. They grow, and hold parts of units where whole ones are few and the run counts inside
// of them too.
func (r *Reader) Marks() []Mark {
	if len(r.reports.marks) > 1 && r.Pattern == nil {
		known := slices.IndexFunc(r.reports.marks, func(m Mark) bool { return m.Seconds >= 0 })
		return slices.Clone(r.reports.marks[max(0, known):])
	}
	c := r.judge()
	most, least := r.unitsOf(c)
	if least == most {
		least = 0
	}
	var marks []Mark
	for _, p := range r.points(c) {
		n := len(marks)
		if p.at < 0 || p.value < 0 || p.value > most || n > 0 && p.value <= marks[n-1].Number {
			continue
		}
		if n > 0 && p.at <= marks[n-1].Seconds {
			marks = marks[:n-1]
		}
		marks = append(marks, Mark{Number: p.value, Of: most, Least: least, Seconds: p.at})
	}
	for len(marks) > keptMarks {
		marks = Thin(marks, keptMarks)
	}
	if c.counter != nil {
		for i := range marks {
			marks[i].Seconds -= c.counter.start
		}
	}
	return marks
}

// LastUnit returns the unit done last, also where it is not known when; 0 if none is.
func (r *Reader) LastUnit() float64 {
	if n := len(r.reports.marks); n > 0 && r.Pattern == nil {
		return r.reports.marks[n-1].Number
	}
	points := r.points(r.judge())
	if len(points) == 0 {
		return 0
	}
	return max(0, min(points[len(points)-1].value, r.Length()))
}

// Full reports whether the last unit has been named: it is done, or has begun.
func (r *Reader) Full() bool {
	if units := r.Length(); units == 0 || r.LastUnit() >= units {
		return units > 0
	}
	return len(r.reports.marks) == 0 && r.isFull(r.judge())
}

// isFull reports whether the counter of a choice is at its total.
func (r *Reader) isFull(c choice) bool {
	if c.counter == nil || c.how == countdown {
		return false
	}
	last := c.total
	if u := c.counter; u.total == 0 && !u.decimal && !u.percent && u.first().value == 0 && u.step() == 1 {
		last-- // counted from 0
	}
	return c.counter.last().value >= last
}

// FindEarlyEnd returns the units after which an ended run stopped by itself; false if it did all, or
// did not report it.
func (r *Reader) FindEarlyEnd() (units float64, early bool) {
	marks := r.Marks()
	n := len(marks)
	if n < 2 || r.times.end == 0 {
		return 0, false
	}
	last, step := marks[n-1], max(1, marks[n-1].Number-marks[n-2].Number)
	units = last.Number
	if c := r.judge(); c.counter != nil && len(r.reports.marks) < 2 && c.total == last.Of {
		if named := c.counter.last().value; !c.counter.decimal && named == units+1 {
			units = named // its line began the last one
		}
	}
	return units, units+step < last.Of
}

// Why returns the reason why there are no marks, or all came at once; empty where there
// are.
func (r *Reader) Why() string {
	if marks := r.Marks(); len(marks) > 0 {
		if c := r.judge().counter; len(marks) == 1 && c != nil && c.rises() > 0 {
			return fmt.Sprintf("all %d marks came at once: the job buffers its output", c.rises()+1)
		}
		return ""
	}
	candidates := r.Candidates()
	switch {
	case r.lines == 0 || len(r.counters) == 0:
		return "no line has a number"
	case len(candidates) > 0 && candidates[0].PerSecond > 0 && candidates[0].Part > 0:
		return fmt.Sprintf("%q, at %.10g, may be one of several such loops", candidates[0].Counter, candidates[0].Number)
	case len(candidates) > 0 && candidates[0].PerSecond > 0:
		return fmt.Sprintf("lines count %.10g %s without a total", candidates[0].Number, Plural(cmp.Or(candidates[0].Unit, "unit")))
	}
	for _, c := range r.pool() {
		if !c.moves() && c.seen > 1 && !c.decimal {
			return fmt.Sprintf("the number in lines like %q came %d times and does not grow", c.label(), c.seen)
		}
	}
	most := 0
	for _, c := range r.counters {
		most = max(most, c.seen)
	}
	if most < fewMarks {
		return fmt.Sprintf("%s are too few to judge: none came %d times in one form", plural.Count(r.lines, "line"), fewMarks)
	}
	return fmt.Sprintf("no number in %d lines grows by even steps", r.lines)
}
