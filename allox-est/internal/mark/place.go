package mark

import (
	"cmp"
	"container/list"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// counterCount bounds the counters that are kept: the least recently seen one goes.
// writerCount bounds the writers of one counter.
const (
	counterCount = 3000
	writerCount  = 65
	totalCount   = 256
)

// numbers takes in the numbers of a line, which may be drawn below another one.
func (r *Reader) numbers(line string, at float64, below bool) {
	found, measured := scan(line, r.heading)
	found = r.unpair(found)
	pairStates(found)
	rate := strings.Contains(line, "B/s") && bytesRate.MatchString(line)
	shares := 0 // in percent, of what is not named
	for _, n := range found {
		if n.percent && !isPaired(n, found) && !measure.MatchString(strings.ToLower(n.wide[max(0, len(n.wide)-24):])) {
			shares++
		}
	}
	var ids []number
	var prev *counter
	for i, n := range found {
		if r.Start > 0 && n.value >= r.Start && n.value <= r.Start+r.Units {
			n.value -= r.Start
		}
		c := r.counter(n, i)
		if c.seen == r.lines {
			n.key += "~" + strconv.Itoa(i)
			c = r.counter(n, i)
		}
		c.prev, c.measured = prev, c.measured || measured || n.word
		c.decimal = c.decimal || n.decimal
		prev = c
		c.paired = n.percent && isPaired(n, found)
		if rate {
			c.side = 0.15
		}
		if shares > 1 && n.percent && !c.paired {
			c.side = 0.05
		}
		if c.anotherRun(n.value, r.pause) {
			c.restart(r.pause.to)
		}
		c.add(n.value, at, r.lines)
		switch {
		case below && r.upper != c && (n.total > 0 || n.percent):
			c.upper = r.upper
		case !below && n.total > 0:
			r.upper = c
		}
		if c.announced == "" && c.prev != nil && c.prev.in != "" && c.prev.total == 0 && totalOnly.MatchString(c.left) && !n.decimal && n.total == 0 {
			c.announced = c.prev.in // "step=4 total=200"
		}
		r.announce(c, n)
		if len(ids) > 0 && len(c.resets)+c.stray > 1 && (n.total > 0 || n.percent || c.in != "") {
			c.split(ids, n, at, r.lines)
		}
		if !n.decimal && n.total == 0 && len(ids) < 2 {
			ids = append(ids, n)
		}
	}
}

// isPaired says that a percentage repeats a pair of its line, as in "30% 3/10".
func isPaired(n number, line []number) bool {
	for _, o := range line {
		if o.total > 0 && math.Abs(100*o.value/o.total-n.value) < 1.01 {
			return true
		}
	}
	return false
}

// denominators are the totals after the numbers behind one word, or of one form.
type denominators struct {
	totals []float64
	seen   int
	count  bool // the second numbers count too
}

// Of pairs like 3/1200, so many totals that change with every few lines say that both
// numbers count: an epoch and a batch.
const (
	denominatorCount = 4
	totalLines       = 3
)

// unpair takes pairs apart whose second numbers count too.
func (r *Reader) unpair(line []number) []number {
	var all []number
	for i, n := range line {
		if n.total == 0 {
			if all != nil {
				all = append(all, n)
			}
			continue
		}
		word := strings.ToLower(lastWord(n.left))
		if word == "" {
			word = n.form
		}
		d := r.pairs[word]
		if d == nil {
			if len(r.pairs) >= counterCount || r.pairs == nil {
				r.pairs = map[string]*denominators{}
			}
			d = &denominators{}
			r.pairs[word] = d
		}
		d.seen++
		if len(d.totals) < denominatorCount && !slices.Contains(d.totals, n.total) {
			d.totals = append(d.totals, n.total)
		}
		if d.count = d.count || len(d.totals) >= denominatorCount && d.seen < totalLines*denominatorCount; !d.count {
			if all != nil {
				all = append(all, n)
			}
			continue
		}
		if all == nil {
			all = slices.Clone(line[:i])
		}
		second := number{key: n.second, left: "/", wide: n.wide + "#/", after: n.after, value: n.total}
		n.total, n.key = 0, n.form
		all = append(all, n, second)
	}
	if all == nil {
		return line
	}
	return all
}

// pairStates makes the trials that have ended a pair: "3 TERMINATED" of the "40/40 trials"
// before it, or of all the states that a line counts.
func pairStates(line []number) {
	total, all, count := 0.0, 0.0, 0
	for _, n := range line {
		if n.total > 0 {
			total = n.total
		} else if named(n.after) && anyState.MatchString(n.after) {
			all += n.value
			count++
		}
	}
	if count == 0 && total == 0 {
		return
	}
	for i, n := range line {
		if !named(n.after) {
			continue
		}
		state := ended.FindStringSubmatch(n.after)
		if n.total == 0 && count > 1 && anyState.MatchString(n.after) {
			line[i].left = "" // it counts trials, and is none
		}
		if state == nil || n.total > 0 || n.percent {
			continue
		}
		if of := cmp.Or(total, all); of >= n.value && (total > 0 || all > n.value) {
			line[i].total, line[i].left = of, "trial"
			line[i].key = n.key[:min(16, len(n.key))] + "~" + strings.ToLower(state[1]) + "/" + strconv.FormatFloat(of, 'g', -1, 64)
		}
	}
}

// named reports whether a word follows. Most numbers have none, which saves the cost of a
// regular expression.
func named(after string) bool {
	rest := strings.TrimLeft(after, " \t\r\n\v\f)")
	return rest != "" && (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z')
}

// counter returns that of a place.
func (r *Reader) counter(n number, place int) *counter {
	if e := r.counters[n.key]; e != nil {
		r.recent.MoveToFront(e)
		return e.Value.(*counter)
	}
	if r.counters == nil {
		r.counters, r.totals = map[string]*list.Element{}, map[string]map[string]float64{}
	}
	if r.recent.Len() >= counterCount {
		delete(r.counters, r.recent.Remove(r.recent.Back()).(*counter).key)
	}
	c := newCounter(n)
	r.counters[n.key] = r.recent.PushFront(c)
	return c
}

// announce keeps a number that may be the total of a unit, until it changes.
func (r *Reader) announce(c *counter, n number) {
	if c.announced == "" {
		return
	}
	of := r.totals[c.announced]
	switch total, known := of[c.key]; {
	case known:
		if total != n.value {
			of[c.key] = 0 // it counts
		}
	case of == nil:
		r.totals[c.announced] = map[string]float64{c.key: n.value}
	case len(of) < totalCount:
		of[c.key] = n.value
	}
}

// announced returns the total of a counter's unit that another line names; 0 for none.
func (r *Reader) announced(c *counter) (total float64) {
	for key, a := range r.totals[cmp.Or(c.in, "step")] {
		if key != c.key && a >= c.last().number {
			total = max(total, a)
		}
	}
	return total
}

// largest returns the largest total of a unit that a line names; 0 for none.
func (r *Reader) largest(unit string) (total float64) {
	for _, a := range r.totals[unit] {
		total = max(total, a)
	}
	return total
}

// split keeps the numbers of several writers apart, by an earlier number of their lines.
func (c *counter) split(ids []number, n number, at float64, line int) {
	if c.writers == nil {
		c.writers = map[writer]*counter{}
	}
	for i, id := range ids {
		w := writer{i, id.value}
		if c.writers[w] == nil {
			if len(c.writers) >= writerCount {
				continue
			}
			c.writers[w] = newCounter(n)
			c.writers[w].prev, c.writers[w].measured = c.prev, c.measured
		}
		c.writers[w].add(n.value, at, line)
	}
}

// writer is the place of a number in a line, and the number.
type writer struct {
	place int
	id    float64
}

// slowest returns the writer with the least progress; nil if the numbers are from one writer,
// or the writers do not interleave.
func (c *counter) slowest() *counter {
	if !c.resetting() && c.stray == 0 {
		return nil
	}
	for place := range 2 {
		var least *counter
		all, moving, first, last := 0, 0, math.MaxInt, 0
		ok := true
		for w, of := range c.writers {
			if w.place != place {
				continue
			}
			if all++; len(of.points) < 2 {
				continue
			}
			moving++
			ok = ok && !of.resetting()
			first, last = min(first, of.last().line), max(last, of.points[0].line)
			if least == nil || of.last().number < least.last().number || of.last().number == least.last().number && of.key < least.key {
				least = of
			}
		}
		if ok && moving > 1 && 2*moving >= all && last < first {
			return least
		}
	}
	return nil
}

// match takes a line that the pattern may pick.
func (r *Reader) match(line string, at float64) {
	found := r.Pattern.FindStringSubmatch(line)
	if found == nil {
		return
	}
	c := r.counter(number{}, 0)
	value, err := strconv.ParseFloat(strings.ReplaceAll(strings.Join(found[1:], ""), ",", ""), 64)
	if err != nil {
		value = 1
		if len(c.points) > 0 {
			value = c.last().number + 1
		}
	}
	c.measured = true
	c.add(value, at, r.lines)
}

// What a log says of the time that is left.
var (
	leftWords = []string{"eta", "emain", "left", "to go"}
	leftAfter = regexp.MustCompile(`(?i)(?:eta|remaining|time left|left time|remain)\w*(?: [a-z]+){0,3}\W{1,8}(?:(\d+) ?d(?:ays?)?,? *)?(?:(?:(\d+):)?(\d+):(\d\d)|(?:(\d+) ?h\w*,? *)?(?:(\d+) ?m\w*,? *)?(\d+) ?s|([\d.]+) ?s|([\d.]+) ?m(?:in|\b)|([\d.]+) ?h)`)
	leftFirst = regexp.MustCompile(`(?i)(?:(\d+) ?d(?:ays?)?,? *)?(?:(?:(\d+):)?(\d+):(\d\d)|(?:(\d+) ?h\w*[,: ]*)?(?:(\d+) ?m\w*[,: ]*)?(\d+) ?s\w*|([\d.]+) ?s|([\d.]+) ?m(?:in\w*)?|([\d.]+) ?h\w*) *(?:left|remain|to go)`)
	unitTimes = []float64{0, 86400, 3600, 60, 1, 3600, 60, 1, 1, 60, 3600}
)

// leftCount bounds the times that lines of a form say are left, leftForms the forms.
const (
	leftCount = 400
	leftForms = 20
)

// eta takes in the time that a line says is left, and how far a loop in the line is: the
// time may be the loop's.
func (r *Reader) eta(line string, at float64) {
	lower := strings.ToLower(line[:min(len(line), lineBytes)])
	for i, word := range leftWords {
		if strings.Contains(lower, word) {
			break
		}
		if i == len(leftWords)-1 {
			return
		}
	}
	found := leftAfter.FindStringSubmatchIndex(lower)
	if found == nil {
		if found = leftFirst.FindStringSubmatchIndex(lower); found == nil {
			return
		}
	}
	before, _ := scan(lower[:found[0]], heading{})
	seconds, share := 0.0, 0.0
	for _, n := range before {
		if n.total > 0 {
			share = n.value / n.total
		}
	}
	for i, unit := range unitTimes {
		if i > 0 && found[2*i] >= 0 {
			v, _ := strconv.ParseFloat(lower[found[2*i]:found[2*i+1]], 64)
			seconds += v * unit
		}
	}
	var form masked
	text, _ := mask(lower[:found[0]])
	form.add(text)
	key := form.tail()
	if r.left == nil || r.left[key] == nil && len(r.left) >= leftForms {
		r.left = map[string][]remaining{}
	}
	left := append(r.left[key], remaining{at, seconds, share})
	if len(left) > leftCount {
		kept := left[:0]
		for i := 0; i < leftCount; i += 2 {
			kept = append(kept, left[i])
		}
		left = kept
	}
	r.left[key] = left
}
