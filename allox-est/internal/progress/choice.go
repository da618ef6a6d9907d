package progress

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// choice is a counter of a run's units, and what it counts to.
type choice struct {
	counter *counter
	how     how
	total   float64
	atMost  bool    // the total is a maximum
	inner   *loop   // counts inside of the counter's units; nil where none does
	left    []point // the remaining time that the log says, where that counts
	full    bool    // the counter is at its total, which says nothing of the run's end
	score   float64
}

// how says what a choice is based on.
type how int

const (
	nothing how = iota
	counted     // to a percentage, a number that another line announces, or the caller's
	pair
	fraction
	countdown
	remaining // the log's own remaining time
	finishing // the log's own finishing time
	matched   // by the caller's pattern
)

// leastScore is the score from which on a choice is believed; leastRun the seconds below
// which a loop that would end the run may be the first of many.
const (
	leastScore = 0.2
	fullWeight = 0.4 // of a counter at its total while the run goes on
	leastRun   = 10
	plainUnits = 20 // from here on an equal total is the caller's, hardly by chance
)

// judge chooses again once enough lines have come.
func (r *Reader) judge() choice {
	if r.judged > 0 && r.times.end == 0 && r.lines-r.judged <= r.lines/64 {
		return r.chosen
	}
	r.judged = r.lines
	var best choice
	for _, c := range r.candidates() {
		if c.full && r.Units == 0 && r.times.end == 0 {
			c.score *= fullWeight
		}
		if c.score > best.score {
			best = c
		}
	}
	switch {
	case best.score >= leastScore, best.score > 0 && (r.Units > 0 || r.Count != ""):
		r.chosen = best
	case r.times.end == 0:
		r.chosen = choice{} // it was proved to be a part
	}
	return r.chosen
}

// candidates returns all choices with their scores.
func (r *Reader) candidates() []choice {
	if r.Pattern != nil {
		c := r.counters[""]
		if c == nil || max(r.Units, c.total) == 0 {
			return nil
		}
		return []choice{{counter: c, how: matched, total: cmp.Or(r.Units, c.total), score: 1}}
	}
	var found []choice
	pool := r.pool()
	for _, c := range pool {
		if r.Count != "" && !strings.Contains(strings.ToLower(c.label()), strings.ToLower(r.Count)) {
			continue
		}
		if next := r.chooseCounter(c, pool); next.score > 0 {
			found = append(found, next)
		}
	}
	if r.Count == "" {
		found = append(found, r.ends()...)
	}
	return found
}

// chooseCounter returns a counter as that of the whole run, with its score; 0 if it is none.
func (r *Reader) chooseCounter(c *counter, pool []*counter) choice {
	next := r.claim(c, pool)
	inOrder := next.how != countdown
	if next.total == 0 || inOrder && (20*len(c.falls) > 3*len(c.points) || r.Count == "" && r.isInner(c, next.total, pool)) {
		return choice{}
	}
	if inOrder && !c.percent {
		next.inner = loopIn(c, pool)
	}
	if !c.moves() && next.inner == nil {
		return choice{}
	}
	points := r.points(next)
	known := dropUntimed(points)
	if len(points) == 0 {
		return choice{}
	}
	units, _ := r.unitsOf(next)
	next.full = points[len(points)-1].value >= units-1e-9 || len(known) == 0 && r.isFull(next)
	isSettled := r.Units > 0 || r.Count != "" || r.times.end > 0
	if isSettled || next.full && len(points) > 2 {
		known = points
	}
	if len(known) < 3 && !isSettled || !isSettled && r.chosen.counter != c && r.isBrief(next, known) {
		return choice{}
	}
	n := float64(len(known))
	next.score *= c.weightAs(next.how) * n / (n + 2)
	return next
}

// isBrief reports whether a choice would end the run within leastRun seconds.
func (r *Reader) isBrief(c choice, known []point) bool {
	first, last := known[0], known[len(known)-1]
	units, _ := r.unitsOf(c)
	if r.Short || last.value <= first.value || first.at < 0 {
		return false
	}
	ends := last.at + (units-last.value)*(last.at-first.at)/(last.value-first.value)
	return ends-r.times.begin < leastRun
}

// weightAs returns how likely the words of a counter are those of a run's progress.
func (c *counter) weightAs(how how) float64 {
	near := lower(c.left, 60)
	name := near[max(0, len(near)-24):]
	switch {
	case c.percent && measured.MatchString(name):
		return 0.05
	case how == pair && asides.MatchString(c.name()):
		return 0.05
	case preparation.MatchString(near):
		return 0.1
	case mainUnits[c.unit]:
		return 1
	}
	return 0.8
}

// claim returns what a counter counts to, with a weight for its reason.
func (r *Reader) claim(c *counter, pool []*counter) choice {
	own := c.ownTotal()
	switch {
	case c.countsDown():
		return r.claimCountdown(c)
	case own > 0 && r.Units > 0 && !r.fits(c, own, pool):
		return choice{}
	case c.percent:
		return choice{counter: c, how: counted, total: 100, score: 0.9}
	case own > 0:
		return choice{counter: c, how: pair, total: own, score: 1, atMost: c.atMost}
	case c.total > 0:
		return choice{}
	case c.decimal && c.highest() <= 1 && fractions.MatchString(lower(c.left, 24)):
		return choice{counter: c, how: fraction, total: 1, score: 0.7}
	case c.unit == "progress" && c.highest() > 1 && c.highest() <= 100 && plainShare.MatchString(lower(c.left, 60)) && r.Units == 0:
		return choice{counter: c, how: counted, total: 100, score: 0.5}
	}
	if total, weight, atMost := r.announcedFor(c); total > 0 && (r.Units == 0 || total == r.Units || r.agrees(c, total, pool)) {
		return choice{counter: c, how: counted, total: total, score: weight, atMost: atMost && r.converges}
	}
	return choice{counter: c, how: counted, total: r.Units, score: r.weightOfGiven(c)}
}

// claimCountdown returns a counter of what is left.
func (r *Reader) claimCountdown(c *counter) choice {
	around := lower(c.left, 30) + " " + strings.ToLower(c.right[:min(len(c.right), 24)])
	if c.decimal || !c.isEven() || !toGo.MatchString(around) || c.last().value < 0 {
		return choice{}
	}
	return choice{counter: c, how: countdown, total: c.first().value, score: 0.6}
}

// announcedFor returns the total that another number announces for a counter.
func (r *Reader) announcedFor(c *counter) (total, weight float64, atMost bool) {
	most := c.highest()
	look := func(unit string, factor float64) {
		for _, a := range r.announced {
			if a.claim.unit == unit && !a.moves() && a != c && a.first().value >= most && a.first().value > c.first().value && factor*a.claim.weight > weight {
				total, atMost = a.first().value, a.claim.atMost
				weight = factor * a.claim.weight
			}
		}
	}
	if c.unit != "" {
		look(c.unit, 1)
	}
	if c.decimal || weight > 0 {
		return total, weight, atMost
	}
	if mainUnits[c.unit] || doneWords.MatchString(lower(c.left, 20)) {
		for _, a := range r.announced { // {"done": 5, "total": 100}
			if a.claim.unit == "total" && !a.moves() && a.first().value >= most && a.seen > 2 && (a.isFollowing(c) || c.isFollowing(a)) {
				return a.first().value, 0.7, false
			}
		}
	}
	if stepUnits[c.unit] {
		for unit := range stepUnits {
			look(unit, 0.7)
		}
	}
	if weight == 0 && c.unit == "" && c.leads() && (!c.moves() || c.isEven()) {
		for unit := range stepUnits {
			look(unit, 0.5)
		}
		look("epoch", 0.5)
	}
	return total, weight, atMost
}

// leads reports whether a nameless number begins its lines, or is the first one that moves.
func (c *counter) leads() bool {
	if len(c.before) == 0 {
		return len(notLetters.ReplaceAllString(c.left, "")) < 12
	}
	return strings.Trim(phraseOf(c.left, "]#"), " \t") == "[" && !slices.ContainsFunc(c.before, (*counter).moves)
}

// weightOfGiven returns how likely a counter counts to the caller's number; 0 if it does not.
func (r *Reader) weightOfGiven(c *counter) float64 {
	last := c.last().value
	switch {
	case r.Units == 0 || last > r.Units || len(c.falls) > 1 || last < 0:
		return 0
	case c.claim.weight > 0 && !c.moves(), wallClock.MatchString(c.words()), c.unit == "" && (c.decimal || !c.isEven() || c.isWriter):
		return 0
	case c.unit == "time" || c.unit == "progress" || c.unit == "stage" || !c.moves() && c.unit != "epoch":
		return 0
	}
	likely := 0.75 + 0.4*math.Log1p(last)/math.Log1p(r.Units) // the nearest to the caller's number
	if c.unit == "" {
		return 0.5 * likely
	}
	return 0.7 * likely
}

// fits reports whether a counter to its own total is one of the caller's units.
func (r *Reader) fits(c *counter, own float64, pool []*counter) bool {
	isProgress := c.percent && (unitOf(c.near()) == "progress" || unitOf(firstPhrase(strings.TrimLeft(lower(c.right, 40), " %"))) == "progress")
	isTotal := !c.percent && (own == r.Units || c.zero && own == r.Units-1)
	if in := loopIn(c, pool); in != nil && own*in.length == r.Units {
		return true
	}
	return isProgress || isTotal || r.agrees(c, own, pool)
}

// agrees reports whether a counter of the run's units, which has moved since c began, is as far
// as c is on its way to a total.
func (r *Reader) agrees(c *counter, total float64, pool []*counter) bool {
	share := c.last().value / total
	return len(c.falls) == 0 && slices.ContainsFunc(pool, func(o *counter) bool {
		if o == c || o.percent || len(o.falls) > 0 || o.last().value > r.Units+0.011 || o.unit != "epoch" && o.total != r.Units {
			return false
		}
		ahead := r.Units*share - o.last().value
		return o.rises() > 0 && o.last().line > c.first().line && ahead > -1.1 && ahead < 1.5
	})
}
