package mark

import (
	"container/list"
	"math"
	"regexp"
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

// numbers takes in the numbers of a line.
func (r *Reader) numbers(line string, at float64) {
	found, measured := scan(line)
	rate := strings.Contains(line, "B/s") && bytesRate.MatchString(line)
	var ids []number
	var prev *counter
	pair := number{}
	for i, n := range found {
		if r.Start > 0 && n.value >= r.Start && n.value <= r.Start+r.Units {
			n.value -= r.Start
		}
		if state := ended.FindStringSubmatch(n.after); state != nil && n.total == 0 && !n.percent && pair.total >= n.value && pair.total > 0 {
			n.total, n.left = pair.total, "trial" // "3 TERMINATED" of the "40/40 trials" before it
			n.key = n.key[:min(16, len(n.key))] + "~" + strings.ToLower(state[1])
		} else if n.total > 0 {
			pair = n
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
		c.add(n.value, at, r.lines)
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

// counter returns that of a place.
func (r *Reader) counter(n number, place int) *counter {
	if e := r.counters[n.key]; e != nil {
		r.recent.MoveToFront(e)
		return e.Value.(*counter)
	}
	if r.counters == nil {
		r.counters, r.totals = map[string]*list.Element{}, map[string]map[string]*announcement{}
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
	switch known := of[c.key]; {
	case known != nil:
		if known.total != n.value {
			known.total = 0 // it counts
		}
	case of == nil:
		r.totals[c.announced] = map[string]*announcement{c.key: {n.value, c.rank}}
	case len(of) < totalCount:
		of[c.key] = &announcement{n.value, c.rank}
	}
}

// announced returns the total of a counter's unit that another line names; 0 for none.
func (r *Reader) announced(c *counter) float64 {
	best := announcement{}
	for key, a := range r.totals[c.in] {
		if key != c.key && a.total >= c.last().number && (a.rank > best.rank || a.rank == best.rank && a.total > best.total) {
			best = *a
		}
	}
	return best.total
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
	leftAfter = regexp.MustCompile(`(?i)(?:eta|remaining|time left|remain)\w*(?: [a-z]+){0,3}\W{1,8}(?:(\d+) ?d(?:ays?)?,? *)?(?:(?:(\d+):)?(\d+):(\d\d)|(?:(\d+) ?h\w* *)?(?:(\d+) ?m\w* *)?(\d+) ?s|([\d.]+) ?s)`)
	leftFirst = regexp.MustCompile(`(?i)(?:(\d+) ?d(?:ays?)?,? *)?(?:(?:(\d+):)?(\d+):(\d\d)|(?:(\d+) ?h\w*[: ]*)?(?:(\d+) ?m\w*[: ]*)?(\d+) ?s\w*|([\d.]+) ?s) *(?:left|remain|to go)`)
	unitTimes = []float64{0, 86400, 3600, 60, 1, 3600, 60, 1, 1}
)

// leftCount bounds the times that a log says are left.
const leftCount = 400

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
	before, _ := scan(lower[:found[0]])
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
	if r.left = append(r.left, remaining{at, seconds, share}); len(r.left) > leftCount {
		kept := r.left[:0]
		for i := 0; i < leftCount; i += 2 {
			kept = append(kept, r.left[i])
		}
		r.left = kept
	}
}
