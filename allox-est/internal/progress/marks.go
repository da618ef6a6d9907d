package progress

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// length returns the units of a run by a choice.
func (r *Reader) length(c choice) float64 {
	_, most := r.lengths(c)
	return most
}

// lengths returns the least and the most units that a run has by a choice.
func (r *Reader) lengths(c choice) (least, most float64) {
	most = c.total
	switch {
	case r.Units > 0:
		most = r.Units
	case c.fits > 0:
		most = c.fits
	case c.eta != "":
		most = 100
	case c.counter != nil && c.total > 0 && c.total == c.counter.total:
		return r.indexed(c.counter, c.inner)
	}
	return most, most
}

// indexed returns the least and the most units that a counter counts. If it counts from 0 what
// another one counts inside of, as in "Epoch 0/9", its total may be the number of the last one.
func (r *Reader) indexed(c, inner *counter) (least, most float64) {
	n, last := c.total, c.last().number
	switch named := r.announced(c); {
	case c.counted || c.points[0].number != 0 || !outerUnits[c.in] && inner == nil, named == n, r.end > 0 && last == n-1:
		return n, n
	case named == n+1, r.end > 0 && last == n, inner != nil && last == n && inner.last().line > c.last().line:
		return n + 1, n + 1
	case inner != nil && inner.resetting() && inner.points[0].number == 0 && inner.resets[0].number == inner.total-1:
		return n, n // the inner total is that of all, too
	}
	return n, n + 1
}

// points returns the units done by a choice, and when.
func (r *Reader) points(c choice) []point {
	units := r.length(c)
	switch {
	case units == 0 || c.counter == nil && c.eta == "":
		return nil
	case c.eta != "":
		var points []point
		for i, l := range r.left[c.eta] { // times are rounded: each counts when it comes first
			if i > 0 && l.seconds == r.left[c.eta][i-1].seconds {
				continue
			}
			left := l.seconds
			if left == math.Trunc(left) && left > 0 {
				left += 0.5 // rounded or cut off
			}
			points = append(points, point{number: units * (l.at - r.begin) / max(1e-9, l.at-r.begin+left), at: l.at})
		}
		return points
	case len(c.stages) > 0:
		var points []point
		base := 0.0
		for _, s := range append(slices.Clone(c.stages), c.counter) {
			for _, p := range s.done(s.total, r.end, false) {
				p.number += base
				points = append(points, p)
			}
			base += s.total
		}
		return points
	case c.turns:
		points := c.counter.turns()
		if c.fits > 0 {
			for i := range points {
				points[i].number *= c.counter.length()
			}
		}
		return points
	case c.product:
		points := parts(c.counter.done(c.total, r.end, c.begins || c.inner.follows(c.counter)), c.inner)
		for i := range points {
			points[i].number *= units / c.total
		}
		return points
	case r.Pattern == nil && (c.counter.percent || c.total != r.Units && r.Units > 0 && !c.counter.zeroBased(r.Units)):
		return c.counter.scaled(units / c.total)
	}
	end := r.end
	if c.ends {
		end = c.counter.last().at
	}
	whole := c.counter.done(units, end, c.begins || c.inner != nil && c.inner.follows(c.counter))
	known := len(whole) - slices.IndexFunc(whole, func(p point) bool { return p.at >= 0 })
	if known >= fewMarks && known <= len(whole) || r.Pattern != nil {
		return whole
	}
	if c.inner != nil {
		return parts(whole, c.inner)
	}
	if c.companion != nil && c.counter.grew > 0 {
		from, to := whole[0], whole[len(whole)-1]
		if each := (c.companion.numberIn(to.line) - c.companion.numberIn(from.line)) / (to.number - from.number); each > 0 && c.companion.last().number < units*each {
			return c.companion.scaled(1 / each)
		}
	}
	return whole
}

// parts puts the numbers of an inner loop between the units done, each as the part of its
// unit's time that whole units took to come so far: an evaluation may follow the loop.
func parts(whole []point, inner *counter) []point {
	var all []point
	base, next, scale := 0.0, 0, pace(whole, inner)
	for _, p := range inner.points {
		for next < len(whole) && whole[next].line <= p.line {
			base = whole[next].number
			all = append(all, whole[next])
			next++
		}
		if share := scale * p.number / inner.length(); share < 1 && next > 0 { // what follows in the unit is not counted
			p.number = base + share
			all = append(all, p)
		}
	}
	return append(all, whole[next:]...)
}

// pace returns the part of a unit's time in which its inner loop counts to the end: the
// median of whole units, 1 where none is known.
func pace(whole []point, inner *counter) float64 {
	var ratios []float64
	for i := 1; i < len(whole); i++ {
		from, to := whole[i-1], whole[i]
		n, _ := slices.BinarySearchFunc(inner.points, to.line, func(p point, line int) int { return cmp.Compare(p.line, line) })
		if n == 0 || inner.points[n-1].line <= from.line || from.at < 0 || to.number != from.number+1 {
			continue
		}
		last, first := inner.points[n-1], 0.0
		if i, same := slices.BinarySearchFunc(inner.points, from.line, func(p point, line int) int { return cmp.Compare(p.line, line) }); same {
			first = inner.points[i].number
		}
		if part := (last.number - first) / inner.length(); part > 0.3 && last.number > inner.length()/2 && to.at > from.at {
			ratios = append(ratios, (last.at-from.at)/(to.at-from.at)/part)
		}
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	if ratio := ratios[len(ratios)/2]; ratio < 0.95 {
		return max(0.1, ratio)
	}
	return 1 // within the noise of its times
}

// Length returns the length of the run in units, from the caller or else from the output; 0 if
// neither contains it.
func (r *Reader) Length() float64 { return r.length(r.judge()) }

// Of marks, parts of units are taken below fewMarks, and no more than keptMarks
// are returned.
const (
	fewMarks  = 4
	keptMarks = 512
)

// Marks are the units done so far; their times count from the begin of the last run in the
// log. They grow, and hold parts of units where whole
// ones are few and the run counts inside of them too.
func (r *Reader) Marks() []Mark {
	if len(r.reports) > 1 && r.Pattern == nil {
		known := slices.IndexFunc(r.reports, func(m Mark) bool { return m.Seconds >= 0 })
		return r.staged(slices.Clone(r.reports[max(0, known):]))
	}
	var marks []Mark
	c := r.judge()
	least, units := r.lengths(c)
	if least == units {
		least = 0
	}
	for _, p := range r.points(c) {
		n := len(marks)
		if p.at < 0 || p.number < 0 || p.number > units || n > 0 && p.number <= marks[n-1].Number {
			continue
		}
		if n > 0 && p.at <= marks[n-1].Seconds {
			marks = marks[:n-1]
		}
		marks = append(marks, Mark{Number: p.number, Of: units, Least: least, Seconds: p.at})
	}
	marks = r.staged(thin(marks))
	if c.counter != nil {
		for i := range marks {
			marks[i].Seconds -= c.counter.begun
		}
	}
	return marks
}

func thin(marks []Mark) []Mark {
	each := (len(marks) + keptMarks - 1) / keptMarks
	if each < 2 {
		return marks
	}
	var kept []Mark
	for i, m := range marks {
		if (len(marks)-1-i)%each == 0 {
			kept = append(kept, m)
		}
	}
	return kept
}

// Reached is the unit done last, also where it is not known when; 0 if none is.
func (r *Reader) Reached() float64 {
	if n := len(r.reports); n > 0 && r.Pattern == nil {
		return r.reports[n-1].Number
	}
	points := r.points(r.judge())
	if len(points) == 0 {
		return 0
	}
	return max(0, min(points[len(points)-1].number, r.Length()))
}

// Full says that the last unit has been named: it is done, or has begun.
func (r *Reader) Full() bool {
	c := r.judge()
	units, _ := r.lengths(c)
	if units == 0 || r.Reached() >= units {
		return units > 0
	}
	if c.counter == nil || c.turns || len(r.reports) > 0 {
		return false
	}
	last := cmp.Or(c.total, units)
	if u := c.counter; u.total == 0 && !u.decimal && !u.percent && u.points[0].number == 0 {
		last-- // counted from 0
	}
	return c.counter.last().number >= last
}

// Stopped returns the units after which an ended run stopped by itself; false if it did all, or
// did not report it.
func (r *Reader) Stopped() (units float64, early bool) {
	marks := r.Marks()
	n := len(marks)
	if n < 2 || r.end == 0 {
		return 0, false
	}
	last, step := marks[n-1], marks[n-1].Number-marks[n-2].Number
	units = last.Number
	if c := r.judge(); c.counter != nil && len(r.reports) < 2 && !c.turns && (c.total == 0 || c.total == last.Of) {
		step = max(step, c.counter.step)
		if named := c.counter.last().number; !c.counter.decimal && named == units+1 {
			units = named // its line began the last one
		}
	}
	return units, units+max(step, 1) < last.Of
}

// Why says what stood in the way where there are no marks, or all came at once;
// empty where there are.
func (r *Reader) Why() string {
	if marks := r.Marks(); len(marks) > 0 {
		if c := r.judge().counter; len(marks) == 1 && c != nil && c.grew > 0 {
			return fmt.Sprintf("all %d marks came at once: the job buffers its output", c.grew+1)
		}
		return ""
	}
	for _, c := range r.pool() {
		if c.grew == 0 && c.same > 0 && !c.decimal {
			return fmt.Sprintf("the number in lines like %q came %d times and does not grow", c.label(), c.same+1)
		}
	}
	if r.lines == 0 {
		return "no line has a number"
	}
	if pace, known := r.Rate(); known {
		return fmt.Sprintf("lines count %.10g %ss without a total", pace.Number, cmp.Or(pace.Unit, "unit"))
	}
	return fmt.Sprintf("no number in %d lines grows by even steps", r.lines)
}
