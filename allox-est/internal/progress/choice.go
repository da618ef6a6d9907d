package progress

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// choice holds the counters of a run's units.
type choice struct {
	counter   *counter   // nil where the log's own remaining time counts, or nothing
	inner     *counter   // counts inside of it; nil where none does
	companion *counter   // counts on next to it, through the whole run
	total     float64    // that it counts to; 0 for the run's own length
	begins    bool       // its lines begin units
	product   bool       // its total times that of the inner counter are the run's units
	turns     bool       // each time that it counts to its length is a unit
	ends      bool       // they end units
	stages    []*counter // that ended before it; their lengths and its own are the run's units
	fits      float64    // all fits of a search, of which one pass is as many as there are folds
	eta       string     // the form of lines whose remaining time counts; empty where none does
	score     float64
}

// Weights of what says that a counter counts towards the end of the run, and the score
// from which on a counter is believed.
const (
	pairWeight      = 1.0 // "3/10"
	percentWeight   = 0.9
	announcedWeight = 0.8 // "max_steps = 10", elsewhere
	givenWeight     = 0.7 // the caller's number
	namelessWeight  = 0.5 // the same, of a number without a name
	etaWeight       = 0.5
	leastScore      = 0.2
	plainUnits      = 20  // from here on an equal total is the caller's
	leastSpan       = 0.1 // seconds between the first mark and the last
	leastRun        = 10  // seconds; a loop that would end the run sooner may be the first of many
)

// judge chooses again once enough lines have come.
func (r *Reader) judge() choice {
	if r.judged > 0 && r.end == 0 && r.lines-r.judged <= r.lines/64 {
		return r.chosen
	}
	r.judged = r.lines
	best, over := choice{}, choice{}
	for _, c := range r.candidates() {
		if c.score > best.score {
			best = c
		}
		if c.score < over.score {
			over = c
		}
	}
	switch {
	case best.score >= leastScore, best.score > 0 && (r.Units > 0 || r.Count != ""):
		r.chosen = best
	case r.chosen.counter != nil: // it may prove to be an inner loop, or a stage
		if r.vetoed(r.chosen.counter, cmp.Or(r.chosen.total, r.Units), r.pool()) {
			r.chosen = choice{}
		}
	case r.chosen.counter == nil && r.chosen.eta == "" && over.score <= -leastScore:
		r.chosen = over
	}
	return r.chosen
}

// poolCount bounds the counters that are compared with each other: those that grew most.
const poolCount = 300

// pool returns the counters that may count, in the order in which they came.
func (r *Reader) pool() []*counter {
	var pool []*counter
	for e := r.recent.Front(); e != nil; e = e.Next() {
		c := e.Value.(*counter)
		if len(c.points) > 1 || (c.total > 0 || c.in != "") && c.same > 0 || outerUnits[c.in] || c == r.upper {
			pool = append(pool, c)
		}
	}
	if len(pool) > poolCount {
		slices.SortStableFunc(pool, func(a, b *counter) int { return cmp.Compare(b.grew, a.grew) })
		pool = pool[:poolCount]
	}
	slices.SortFunc(pool, func(a, b *counter) int {
		return cmp.Or(cmp.Compare(a.points[0].line, b.points[0].line), cmp.Compare(len(a.key), len(b.key)), strings.Compare(a.key, b.key))
	})
	return pool
}

func (r *Reader) candidates() (found []choice) {
	if r.Pattern != nil {
		if e := r.counters[""]; e != nil && r.Units > 0 {
			found = append(found, choice{counter: e.Value.(*counter), score: 1})
		}
		return found
	}
	pool := r.pool()
	r.exact = r.Units > 0 && slices.ContainsFunc(pool, func(c *counter) bool {
		return (c.total == r.Units || c.zeroBased(r.Units)) && (r.Units >= plainUnits || c.in == "epoch") && c.side >= 0.8 && mainUnits[c.in] && !c.resetting() && c.grew+c.same > 0
	})
	for _, c := range pool {
		if r.Count != "" && !strings.Contains(strings.ToLower(c.label()), strings.ToLower(r.Count)) {
			continue
		}
		u := c
		if slow := c.slowest(); slow != nil {
			u = slow
		}
		for _, next := range []choice{r.chooseWhole(u, u == c, pool), r.chooseTurns(u), r.chooseStages(u, pool)} {
			if next.counter != nil {
				next.score *= r.fit(next)
				found = append(found, next)
			}
		}
	}
	found = slices.DeleteFunc(found, func(t choice) bool {
		return t.turns && t.fits == 0 && slices.ContainsFunc(found, func(o choice) bool { return !o.turns && o.score > 0 && t.counter.inner(o.counter) })
	})
	if r.Count == "" {
		for _, key := range slices.Sorted(maps.Keys(r.left)) {
			found = append(found, r.chooseRemaining(key))
		}
	}
	return found
}

// chooseWhole returns a counter as that of the whole run; its counter is nil where it is none.
func (r *Reader) chooseWhole(c *counter, nested bool, pool []*counter) choice {
	total, weight := r.total(c, pool)
	if total == 0 || c.paired || r.vetoed(c, total, pool) && nested {
		return choice{}
	}
	next := choice{counter: c, total: total, score: weight * c.side}
	if !nested || c.percent {
		if weight == 0 {
			return choice{}
		}
		return next
	}
	for _, in := range pool {
		if in.inner(c) && (next.inner == nil || in.growingSeconds() > next.inner.growingSeconds()) {
			next.inner = in
			if next.product = r.Units > 0 && total != r.Units && in.total*total == r.Units; next.product {
				break
			}
		}
		if !in.decimal && in.grew > c.grew && in.follows(c) && in.even() {
			next.begins = next.begins || c.same > 0
			if in.total == 0 && !in.resetting() && next.companion == nil {
				next.companion = in
			}
		}
	}
	if c.grew == 0 && c.total == 0 && (next.inner == nil || r.Units == 0 && c.same == 0) || weight == 0 && !next.product {
		return choice{}
	}
	if in := next.inner; in != nil && (c.same > 0 && c.follows(in) || c.points[0].number <= 1 && c.points[0].line < in.points[0].line) {
		next.begins = true // it stays the same while the inner one counts, or comes first
	} else if in != nil && c.points[0].number <= 1 && in.points[0].line < c.points[0].line {
		next.ends = true
	}
	if next.product {
		next.score = pairWeight * c.side
	}
	return next
}

// growingSeconds returns the time in which a counter grows, to choose between
// loops inside of another one.
func (c *counter) growingSeconds() (seconds float64) {
	for i := 1; i < len(c.points); i++ {
		if c.points[i].number > c.points[i-1].number {
			seconds += c.points[i].at - c.points[i-1].at
		}
	}
	return seconds + 1e-9*float64(len(c.points))
}

// total returns what a counter counts to, and how surely that is the end of the run.
func (r *Reader) total(c *counter, pool []*counter) (total, weight float64) {
	last := c.last().number
	switch {
	case c.percent && r.Units > 0 && r.end == 0 && r.Count == "" && !c.progress() && !r.agrees(c, 100, pool):
		return 0, 0 // perhaps of one unit
	case c.percent:
		return 100, percentWeight
	case c.total > 1 || c.total == 1 && r.Units == 1:
		switch {
		case r.Units == 0:
			return c.total, pairWeight
		case c.total == r.Units || c.zeroBased(r.Units):
			return r.Units, pairWeight
		case r.agrees(c, c.total, pool) || r.end > 0 && c.in != "epoch" && !c.resetting() && c.grew > 1:
			return c.total, pairWeight
		case c.total > 1 && c.total < r.Units && math.Mod(r.Units, c.total) == 0:
			return c.total, 0 // with an inner counter perhaps
		}
		return 0, 0
	case c.total > 0:
		return 0, 0
	}
	if c.in != "" && (!c.decimal || c.in == "epoch" && c.begins() || c.even()) || c.leads() && c.even() && c.grew > 3 && c.in == "" {
		if total = r.announced(c); total > 0 && (r.Units == 0 || total == r.Units || r.agrees(c, total, pool)) {
			return total, announcedWeight
		}
	}
	if r.Units == 0 || last > r.Units+c.rounding() || len(c.resets) > 1 || r.exact {
		return 0, 0
	}
	likely := 1 + 0.15*math.Log1p(max(0, last))/math.Log1p(r.Units) // the nearest to the caller's number
	switch {
	case c.decimal && (c.in != "epoch" && !c.even() || last <= r.Units/100):
		return 0, 0
	case c.in == "" && (!c.even() || c.side < 0.8 || !c.begins() || c.writer()):
		return 0, 0
	case c.grew == 0 && c.in != "epoch" && !c.begins():
		return 0, 0
	case c.in == "stage" || c.in == "" && slices.ContainsFunc(pool, func(o *counter) bool { return o.total == r.Units && o.resetting() }):
		return 0, 0 // the caller's number is perhaps that of an inner loop
	case c.in == "":
		return r.Units, namelessWeight * likely
	}
	return r.Units, givenWeight * likely
}

// progress says that the words of a percentage name progress.
func (c *counter) progress() bool {
	return unit(phrase(c.left, "|,;@")) == "progress" || unit(wordOf(strings.TrimLeft(c.number.after, " %"))) == "progress" || c.global()
}

// begins says that the first number is one that counting begins with.
func (c *counter) begins() bool {
	first, step := c.points[0].number, 0.0
	if len(c.points) > 1 {
		step = c.points[1].number - first
	}
	return first <= 1 || first == step || first+1 == step
}

// agrees says that another counter of the run's units, which has moved since c began,
// is as far as c is on its way to total.
func (r *Reader) agrees(c *counter, total float64, pool []*counter) bool {
	if c.resetting() {
		return false
	}
	done := r.Units * c.last().number / total
	for _, o := range pool {
		if o == c || o.resetting() || o.last().number > r.Units+o.rounding() || o.total > 0 && o.total != r.Units && !o.zeroBased(r.Units) || o.percent {
			continue
		}
		if o.in != "epoch" && o.total != r.Units && !(o.prev == nil && o.begins() && o.even()) {
			continue
		}
		d := done - o.last().number
		switch {
		case o.decimal && o.in == "epoch" && math.Abs(r.Units*c.numberIn(o.last().line)/total-o.last().number) <= 0.12*(1+o.last().number):
			return true
		case !o.decimal && len(o.rises) > 0 && o.last().line > c.points[0].line && d > -1.1 && d < 1.5:
			return true
		}
	}
	return false
}

// vetoed says that a counter counts a part of the run: it begins again, or stands inside
// of one that counts something larger.
func (r *Reader) vetoed(c *counter, total float64, pool []*counter) bool {
	most, like := 0.0, 0
	for _, x := range c.resets {
		most = max(most, x.number)
	}
	for _, x := range c.resets {
		// An inner loop begins again; a run that was begun again may go on in the middle.
		if x.number >= 0.7*total && x.to <= 0.3*total {
			return true
		}
		if x.number >= 0.9*most && x.to <= 0.5*x.number {
			like++
		}
	}
	if like > 1 || c.in == "fold" && c.resetting() {
		return true
	}
	for left, n := c.prev, 0; left != nil && n < numberCount; left, n = left.prev, n+1 {
		if left.in == "stage" && r.encloses(left, c) {
			return true
		}
	}
	if r.Units != c.total && (len(c.earlier(pool)) > 0 || slices.ContainsFunc(pool, func(o *counter) bool { return slices.Contains(o.earlier(pool), c) })) {
		return true
	}
	if r.Units >= plainUnits && (c.total == r.Units || c.zeroBased(r.Units)) {
		return false // the caller's number, and hardly by chance
	}
	if c.global() && c.total == 0 && !c.resetting() {
		return false
	}
	for left, n := c.prev, 0; left != nil && n < numberCount; left, n = left.prev, n+1 {
		if r.encloses(left, c) {
			return true
		}
	}
	for _, o := range pool {
		if o == c || !outerUnits[o.in] || o.in == "stage" && !titles.MatchString(o.left) || o.in == c.in || o.announced != "" && len(o.rises) == 0 || o.decimal || o.points[0].line > c.points[0].line || o.follows(c) {
			continue
		}
		if n := len(o.rises); n > 0 {
			if (o.in == "stage" || o.in == "epoch" && r.Units == 0) && cmp.Or(o.total, r.announced(o)) == 0 && c.total > 0 && !c.countsAcross(o) {
				return true
			}
			continue
		}
		if o.total == 0 && o.same == 0 && (o.in != "epoch" && o.last().number > 1 || configured(o.left)) {
			continue // "for 50 rounds"
		}
		total := cmp.Or(o.total, r.announced(o))
		if o.in != "stage" {
			total = cmp.Or(total, r.Units)
		}
		if total == 0 && (o.in == "epoch" || o.in == "stage") && o.last().number <= 1 {
			return true // the first of some epochs
		}
		if o.last().number < total {
			return true
		}
	}
	return false
}

// encloses says that o, left of c in its lines, counts something larger that has not
// moved yet, or moves when c begins again.
func (r *Reader) encloses(o, c *counter) bool {
	if o.decimal || o.percent || o.writer() || o.announced != "" && o.grew == 0 {
		return false
	}
	if o.index() && outerUnits[c.in] && !bracketed.MatchString(c.left) {
		return false
	}
	field := o.prev == nil && o.grew == 0 && o.points[0].number <= 1 && strings.TrimSpace(o.left) == "" && strings.HasPrefix(o.number.after, "|")
	if !field && !(c.total != r.Units && o.labels(c)) && !outerUnits[o.in] && o.total == 0 && !(o == c.prev && bracketed.MatchString(c.left)) {
		return false
	}
	if o.total > 0 && len(o.rises) == 0 && o.last().number >= o.total {
		return false // its last round: only the inner loop is left
	}
	return len(o.rises) == 0 || c.resetting() || o.in == "stage" && !c.countsAcross(o)
}

// labels says that o, which has not moved, names the first of some rounds before c, as in
// "Train 0: 4/40".
func (o *counter) labels(c *counter) bool {
	word := strings.TrimRight(o.left, ` :=[(#"'`)
	return o.grew == 0 && o.points[0].number <= 1 && o.total == 0 && (o == c.prev || o.prev == nil) && word != "" && word != o.left && letter(word[len(word)-1]) &&
		!measure.MatchString(word) && !settings.MatchString(word) && !hits.MatchString(word) && !waits.MatchString(word)
}

// chooseTurns returns a loop that begins again with each unit of the run. The folds of a search
// begin again with each of its candidates, and its length is in fits.
func (r *Reader) chooseTurns(c *counter) choice {
	n := float64(len(c.resets))
	if fits := cmp.Or(r.Units, r.largest("fit")); c.in == "fold" && c.length() > 1 && n > 0 && fits > c.length() && math.Mod(fits, c.length()) == 0 {
		return choice{counter: c, turns: true, fits: fits, score: namelessWeight * c.side}
	}
	if r.Units == 0 || c.percent && slices.ContainsFunc(c.resets, func(x reset) bool { return x.number < 90 || x.to > 10 }) || c.total < 2 && !c.percent || c.decimal || c.paired || n == 0 || n >= r.Units || c.grew < 2 || c.total == r.Units {
		return choice{}
	}
	if c.in == "epoch" {
		if r.Units < c.total || math.Mod(r.Units, c.total) != 0 {
			return choice{}
		}
		return choice{counter: c, turns: true, fits: r.Units, score: givenWeight * c.side} // of equal stages
	}
	return choice{counter: c, turns: true, score: givenWeight * namelessWeight * c.side}
}

// chooseStages returns the last of the stages of a run, whose lengths add up to the caller's number.
func (r *Reader) chooseStages(c *counter, pool []*counter) choice {
	stages := c.earlier(pool)
	units := c.total
	for _, s := range stages {
		units += s.total
	}
	if len(stages) == 0 || units != r.Units || c.resetting() {
		return choice{}
	}
	return choice{counter: c, stages: stages, total: c.total, score: pairWeight * c.side}
}

// earlier returns the counters of earlier stages: the same words counted to another total, and
// c began again.
func (c *counter) earlier(pool []*counter) (stages []*counter) {
	if c.total < 2 || c.decimal || !mainUnits[c.in] {
		return nil
	}
	for _, o := range pool {
		if o != c && o.form == c.form && o.in == c.in && o.total > 1 && o.total != c.total && !o.resetting() && o.grew > 1 &&
			o.last().number >= o.total-1 && o.last().line < c.points[0].line && c.points[0].number <= 1 {
			stages = append(stages, o)
		}
	}
	return stages
}

// chooseRemaining returns the remaining time that lines of a form say as a choice, if it falls by
// about a second each second.
func (r *Reader) chooseRemaining(form string) choice {
	e := r.left[form]
	if half := slices.IndexFunc(e, func(l remaining) bool { return l.at >= (r.now+r.begin)/2 }); half > 0 && len(e)-half >= 5 {
		e = e[half:]
	} else if len(e) > 5 {
		e = e[len(e)-5:]
	}
	if len(e) < 5 || e[0].at < 0 || r.Units > 0 && r.end == 0 {
		return choice{}
	}
	line := fitted{}
	for i, l := range e {
		line.add(l.at, l.seconds)
		if i == 0 {
			continue
		}
		if d := l.share - e[i-1].share; d > 0 && l.seconds < 1.5*(1-l.share)*(l.at-e[i-1].at)/d {
			return choice{} // of the loop in its line
		}
	}
	slope, r2 := line.slope()
	if slope > -0.6 || slope < -1.6 || r2 < 0.9 {
		return choice{}
	}
	return choice{eta: form, score: etaWeight * (1 + 0.001*float64(len(r.left[form])))}
}
