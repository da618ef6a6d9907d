package progress

import (
	"cmp"
	"container/list"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The memory of a reader is bounded by these numbers.
const (
	counterCount = 3000 // counters: the least recently seen one is dropped
	writerCount  = 65   // writers of one counter
	totalCount   = 256  // totals of one unit that other lines name
)

// numbers adds the numbers of a line to their counters. The line may be drawn below another
// one.
func (r *Reader) numbers(line string, at float64, below bool) {
	found, measured := scan(line, r.heading)
	found = r.unpair(found)
	pairStates(found)
	rate := strings.Contains(line, "B/s") && bytesRate.MatchString(line)
	shares := looseShares(found)
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
		for _, next := range [2]int{i - 1, i + 1} {
			if n.total > 0 && next >= 0 && next < len(found) && found[next].percent {
				c.counted = isPaired(found[next], found[i:i+1]) && (c.counted || len(c.points) == 0)
			}
		}
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
		r.relate(c, n, below)
		if len(ids) > 0 && len(c.resets)+c.stray > 1 && (n.total > 0 || n.percent || c.in != "") {
			c.split(ids, n, at, r.lines)
		}
		if !n.decimal && n.total == 0 && len(ids) < 2 {
			ids = append(ids, n)
		}
	}
}

// looseShares counts the percentages of a line that repeat no pair and follow no word for a
// measure.
func looseShares(line []number) (count int) {
	for _, n := range line {
		if n.percent && !isPaired(n, line) && !measure.MatchString(strings.ToLower(n.wide[max(0, len(n.wide)-24):])) {
			count++
		}
	}
	return count
}

// relate connects a counter with the bar above it, and with the unit whose total it may be.
func (r *Reader) relate(c *counter, n number, below bool) {
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
}

// isPaired reports whether a percentage repeats a pair of its line, as in "30% 3/10".
func isPaired(n number, line []number) bool {
	for _, o := range line {
		if o.total > 0 && math.Abs(100*o.value/o.total-n.value) < 1.01 {
			return true
		}
	}
	return false
}

// denominators holds the totals of pairs, such as 3/1200, that follow one word or have one
// form.
type denominators struct {
	totals []float64
	seen   int
	count  bool // the second numbers are counters too
}

// In pairs like 3/1200 both numbers are counters, such as an epoch and a batch, if there are
// denominatorCount different second numbers within totalLines lines for each.
const (
	denominatorCount = 4
	totalLines       = 3
)

// unpair separates pairs whose second numbers are counters too.
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

// pairStates makes a pair of the number of ended trials and their total: "3 TERMINATED" and
// the "40/40 trials" before it, or the sum over all states in the line.
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
			line[i].left = "" // a number of trials in a state is no counter of trials
		}
		if state == nil || n.total > 0 || n.percent {
			continue
		}
		if trials := cmp.Or(total, all); trials >= n.value && (total > 0 || all > n.value) {
			line[i].total, line[i].left = trials, "trial"
			line[i].key = n.key[:min(16, len(n.key))] + "~" + strings.ToLower(state[1]) + "/" + strconv.FormatFloat(trials, 'g', -1, 64)
		}
	}
}

// named reports whether a word follows. Most numbers have none, which saves the cost of a
// regular expression.
func named(after string) bool {
	rest := strings.TrimLeft(after, " \t\r\n\v\f)")
	return rest != "" && (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z')
}

// counter returns the counter of a number's place in its lines, a new one if there is none.
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
	totals := r.totals[c.announced]
	switch total, known := totals[c.key]; {
	case known:
		if total != n.value {
			totals[c.key] = 0 // a counter, not a total
		}
	case totals == nil:
		r.totals[c.announced] = map[string]float64{c.key: n.value}
	case len(totals) < totalCount:
		totals[c.key] = n.value
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
		for w, own := range c.writers {
			if w.place != place {
				continue
			}
			if all++; len(own.points) < 2 {
				continue
			}
			moving++
			ok = ok && !own.resetting()
			first, last = min(first, own.last().line), max(last, own.points[0].line)
			if least == nil || own.last().number < least.last().number || own.last().number == least.last().number && own.key < least.key {
				least = own
			}
		}
		if ok && moving > 1 && 2*moving >= all && last < first {
			return least
		}
	}
	return nil
}

// match adds a line to the counter of the pattern, if the pattern matches it. A match without a
// number counts as the next one.
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

// These words and patterns find a remaining time in a line.
var (
	leftWords = []string{"eta", "emain", "left", "to go"}
	leftAfter = regexp.MustCompile(`(?i)(?:eta|remaining|time left|left time|remain)\w*(?: [a-z]+){0,3}\W{1,8}(?:(\d+) ?d(?:ays?)?,? *)?(?:(?:(\d+):)?(\d+):(\d\d)|(?:(\d+) ?h\w*,? *)?(?:(\d+) ?m\w*,? *)?(\d+) ?s|([\d.]+) ?s|([\d.]+) ?m(?:in|\b)|([\d.]+) ?h)`)
	leftFirst = regexp.MustCompile(`(?i)(?:(\d+) ?d(?:ays?)?,? *)?(?:(?:(\d+):)?(\d+):(\d\d)|(?:(\d+) ?h\w*[,: ]*)?(?:(\d+) ?m\w*[,: ]*)?(\d+) ?s\w*|([\d.]+) ?s|([\d.]+) ?m(?:in\w*)?|([\d.]+) ?h\w*) *(?:left|remain|to go)`)
	unitTimes = []float64{0, 86400, 3600, 60, 1, 3600, 60, 1, 1, 60, 3600}
)

// leftCount bounds the remaining times that are kept for lines of one form, leftForms the
// number of forms.
const (
	leftCount = 400
	leftForms = 20
)

// remainingTime keeps the remaining time in a line, and the progress of a loop in the line:
// the time may be that of the loop.
func (r *Reader) remainingTime(line string, at float64) {
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
