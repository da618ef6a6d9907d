package mark

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// point is a number of a loop and when it came.
type point struct{ number, at float64 }

// loop is a counter, or what may prove to be one: the numbers of one slot.
type loop struct {
	key     string
	left    *loop // before it in its lines; nil if none is
	of      float64
	decimal bool
	value   bool // its lines tell a measured value, or a word after it
	points  []point
	start   int // in points, of the last time that it began
	step    float64
	grew    int     // how often it grew,
	changes int     // by another step than before,
	same    int     // stood still,
	began   int     // began again,
	fell    int     // or fell otherwise
	most    float64 // its last number before it began again
}

// mostPoints are kept of a loop; every other is dropped beyond.
const mostPoints = 4096

func (l *loop) last() point  { return l.points[len(l.points)-1] }
func (l *loop) first() point { return l.points[l.start] }

// see takes the next number.
func (l *loop) see(s slot, at float64) {
	l.of, l.decimal = s.of, l.decimal || s.decimal
	if len(l.points) == 0 {
		l.points = append(l.points, point{s.number, at})
		return
	}
	step := s.number - l.last().number
	switch {
	case step == 0:
		l.same++
		return
	case step > 0:
		if l.grew > 0 && math.Abs(step-l.step) > 0.02*l.step+l.slack() {
			l.changes++
		}
		l.step = step
		l.grew++
	case s.number <= l.first().number+max(l.step, l.of/4) && s.number < l.last().number/2+1:
		l.began++
		l.most = l.last().number
		l.start = len(l.points)
	default:
		l.fell++
	}
	l.add(point{s.number, at})
}

// slack is how far the steps of printed decimals differ by rounding.
func (l *loop) slack() float64 {
	if l.decimal {
		return 0.011
	}
	return 0
}

func (l *loop) add(p point) {
	l.points = append(l.points, p)
	if len(l.points) < mostPoints {
		return
	}
	kept := l.points[:0]
	for i, p := range l.points {
		if i%2 == 0 {
			kept = append(kept, p)
		}
	}
	l.points, l.start = kept, (l.start+1)/2
}

// counts says that the numbers grow as a counter's do: towards a constant number,
// or by steps that stay for a while.
func (l *loop) counts() bool {
	if l.fell*5 > l.grew+l.began {
		return false
	}
	if l.of > 0 {
		return true
	}
	if l.decimal {
		return l.grew >= 3 && l.changes*5 <= l.grew
	}
	return l.grew >= 1 && l.changes*4 <= l.grew+1
}

// begins says that the first number is one that counting begins with.
func (l *loop) begins() bool {
	first, step := l.points[0].number, 0.0
	if len(l.points) > 1 {
		step = l.points[1].number - first
	}
	return first <= 1 || first == step || first+1 == step
}

// length is how far the loop counts before it begins again; 0 where that is not
// known.
func (l *loop) length() float64 {
	if l.of > 0 {
		return l.of
	}
	return l.most
}

// after says that the loop stands after another in its lines.
func (l *loop) after(o *loop) bool {
	for at := l.left; at != nil; at = at.left {
		if at == o {
			return true
		}
	}
	return false
}

// alone says that nothing follows the number in its lines, as it does in a bar's.
func (l *loop) alone() bool { return strings.HasSuffix(l.key, fmt.Sprint("0 ", l.of)) }

// zeroBased says that a loop counts units from 0 towards the last one's number.
func (l *loop) zeroBased(units float64) bool {
	return l.of == units-1 && l.points[0].number == 0 && !l.value
}

// done are the units done at each number of the loop: a line with nothing to tell
// begins its unit, another ends it.
func (l *loop) done(units, end float64, begins bool) []point {
	points := slices.Clone(l.points[l.start:])
	zero, last := points[0].number == 0, points[len(points)-1].number
	add := 0.0
	switch starts := begins || !l.value && l.step <= 1 && !l.endsAtOnce(end); {
	case l.decimal:
	case starts && !zero:
		add = -1
	case starts || l.of == units || last >= units:
	case zero && (l.step <= 1 || last == units-1), l.step > 1 && l.changes == 0 && points[0].number+1 == l.step:
		add = 1
	}
	for i := range points {
		points[i].number += add
	}
	return points
}

// endsAtOnce says that the run ended right after the loop's last number, so that
// its lines end units.
func (l *loop) endsAtOnce(end float64) bool {
	n := len(l.points) - l.start
	if end == 0 || n < 2 {
		return false
	}
	return end-l.last().at < 0.3*(l.last().at-l.first().at)/float64(n-1)
}

// turns are the units done where each time that the loop counts to its length is
// one.
func (l *loop) turns() []point {
	points := slices.Clone(l.points)
	turn, last := 0.0, 0.0
	for i, p := range points {
		if p.number < last {
			turn++
		}
		last = p.number
		points[i].number = turn + p.number/l.length()
	}
	return points
}

// shares are the units done where each number of the loop is so many.
func (l *loop) shares(units float64) []point {
	points := slices.Clone(l.points)
	for i := range points {
		points[i].number *= units
	}
	return points
}

// at is the number at a time.
func (l *loop) at(seconds float64) float64 {
	i, _ := slices.BinarySearchFunc(l.points, seconds, func(p point, at float64) int { return cmp.Compare(p.at, at) })
	return l.points[min(i, len(l.points)-1)].number
}
