package progress

import (
	"slices"
)

// loop is a counter that counts inside of another one's units.
type loop struct {
	*counter
	length float64
}

// loopIn returns the loop inside of a counter's units: one that begins again when they grow; nil
// without one.
func loopIn(u *counter, pool []*counter) *loop {
	for _, c := range pool {
		isCount := (c.ownTotal() > 0 || c.isEven()) && (!c.decimal || c.percent) && !c.isWriter && !c.countsDown()
		if c != u && isCount && c.length() > 0 && c.isInside(u) {
			return &loop{counter: c, length: c.length()}
		}
	}
	return nil
}

// isInside reports whether a counter begins again when the units of u grow.
func (c *counter) isInside(u *counter) bool {
	if u.rises() == 0 {
		isBelow := c.isFollowing(u) || u.isStandingBar(c) || outerUnits[u.unit] && c.unit != u.unit && c.first().line >= u.first().line
		return isBelow && c.ownTotal() > 0 && len(c.falls) == 0 && c.moves()
	}
	falls, hits := 0, 0
	for _, f := range c.falls {
		if f.from.line < u.first().line {
			continue // u was not counted yet
		}
		falls++
		if i := u.at(f.from.line-1) + 1; i < len(u.points) && u.points[i].line <= f.to.line {
			hits++
		}
	}
	return falls > 0 && 10*hits >= 7*falls && 10*hits >= 7*(u.rises()-1) && 10*falls >= 6*u.rises()
}

// done returns the share of a unit, begun in a line, that a loop had done at another.
func (l *loop) done(begun, line int) float64 {
	i := l.at(line)
	if i < 0 || l.points[i].line < begun {
		return 0
	}
	return max(0, min(1, l.points[i].value/l.length))
}

// isInner reports whether a counter counts a part of the run: it begins again, or stands
// inside of one that counts something larger.
func (r *Reader) isInner(c *counter, total float64, pool []*counter) bool {
	if slices.ContainsFunc(c.falls, func(f fall) bool { return f.from.value >= 0.7*total && f.to.value <= 0.3*total }) {
		return true
	}
	isGlobal := c.total == 0 && len(c.falls) == 0 && overall.MatchString(c.near())
	if isGlobal || r.Units >= plainUnits && (c.total == r.Units || c.zero && c.total == r.Units-1) {
		return false
	}
	if slices.ContainsFunc(c.before, func(o *counter) bool { return o.encloses(c) || r.isFirstRound(o) }) {
		return true
	}
	return slices.ContainsFunc(pool, func(o *counter) bool {
		if o.isStandingBar(c) {
			return true
		}
		if o == c || !outerUnits[o.unit] || o.unit == c.unit || o.moves() || o.decimal || o.first().line > c.first().line || c.isFollowing(o) || o.isFollowing(c) {
			return false
		}
		n := o.ownTotal()
		isFirst := n == 0 && (o.unit == "epoch" || o.unit == "stage" && o.words() == "stage") && o.last().value <= 1 && !o.isOutdated(pool)
		return isFirst || o.last().value < n && c.total != r.Units
	})
}

// isOutdated reports whether other lines have counted the units of o on.
func (o *counter) isOutdated(pool []*counter) bool {
	return slices.ContainsFunc(pool, func(p *counter) bool {
		return p.unit == o.unit && p.last().line > o.last().line && p.last().value > o.last().value
	})
}

// isFirstRound reports whether a nameless number that begins its lines and has not moved may
// be the first of the epochs that the output announces.
func (r *Reader) isFirstRound(o *counter) bool {
	if o.unit != "" || o.moves() || !o.begins || o.decimal || o.total > 0 || o.right == "" || isLetter(o.right[0]) {
		return false
	}
	return slices.ContainsFunc(r.announced, func(a *counter) bool {
		return outerUnits[a.claim.unit] && !a.moves() && a.last().value >= o.last().value
	})
}

// isStandingBar reports whether a bar of another length, drawn before the bar c, stands at 0.
func (o *counter) isStandingBar(c *counter) bool {
	return o != c && o.counted && c.counted && o.total != c.total && !o.moves() && o.last().value == 0 && o.first().line < c.first().line && o.unit != "progress" && !preparation.MatchString(o.words())
}

// encloses reports whether o, left of c in its lines, counts something larger that has not
// moved yet, or moves when c begins again.
func (o *counter) encloses(c *counter) bool {
	isBracket := len(c.before) > 0 && o == c.before[len(c.before)-1] && bracketed.MatchString(c.left)
	if o.decimal || o.percent || o.countsDown() || o.isWriter || !outerUnits[o.unit] && o.total == 0 && !isBracket {
		return false
	}
	isWriter := o.total > 0 && o.unit == "" && outerUnits[c.unit] // one of several, and their count
	return o.rises() == 0 && !isWriter || len(c.falls) > 0
}
