package progress

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/shared/timing"
)

// Reader reads what a run prints, line by line, and says how far it has come.
// Its zero value knows nothing of the run's length. It is not safe for concurrent
// use.
type Reader struct {
	// Units is the length of the run; 0 if only its output may contain it.
	Units float64
	// Short says that the run, as a sample, may well end within seconds: what a counter says
	// counts at once.
	Short bool
	// Pattern, where it is not nil, picks the lines that count. Its first group that matches is
	// their number, the second one its total; lines without a group are counted.
	Pattern *regexp.Regexp
	// Start is the unit after which the run began with a stage of the work: its lines
	// may count from there.
	Start float64
	// Count, where it is not empty, is a part of the description of the counter to use.
	Count string

	counters  map[string]*counter
	announced []*counter // that may be totals
	converges bool       // the output names a criterion by which the run may stop early
	columns   []string   // of rows that are separated by commas
	reports   reports
	times     times
	lines     int
	previous  string // line
	repeated  int    // times in a row
	chosen    choice
	judged    int // the line in which the choice was made
}

// times are those of the lines, in seconds since the start of the run.
type times struct {
	begin, now float64 // of the first line whose time is known, and of the last one
	end        float64 // of the run; 0 while it goes on
}

// mostRepeats is the number of times that one line in a row is read: a flood of it says no more.
const mostRepeats = 3

// counterCount bounds the counters; beyond, those go that were seen once or in the older half.
const counterCount = 4000

// Line takes in a line, or one drawing of a bar, that came at a time since the
// start of the run, in seconds; a negative one is not known, and makes no mark.
func (r *Reader) Line(line string, at float64) {
	if strings.TrimSpace(line) == "" {
		return
	}
	r.lines++
	if strings.Contains(line, timing.OpenTag) {
		r.reports.take(line, at, r.Units)
	}
	r.times.take(at)
	if r.Pattern != nil {
		r.match(line, at)
		return
	}
	if line == r.previous {
		r.repeated++
	} else {
		r.previous, r.repeated = line, 0
	}
	if r.repeated > mostRepeats || strings.ContainsFunc(line, isBinary) {
		return
	}
	s := scan(r.nameColumns(line))
	for _, n := range s.durations() {
		r.count(n, at)
	}
	var left []*counter
	writer := ""
	same := map[string]int{}
	for _, n := range s.numbers() {
		n.key += writer
		if same[n.key]++; same[n.key] > 1 {
			n.key += "~" + strconv.Itoa(same[n.key])
		}
		c := r.count(n, at)
		c.before = left[:len(left):len(left)]
		if !n.decimal && n.total == 0 && c.isWriter {
			writer = "@" + plain(n.value)
		}
		left = append(left, c)
	}
}

// nameColumns takes in the names of columns, or puts them before the values of a row that are
// separated by commas.
func (r *Reader) nameColumns(line string) string {
	if csvNames.MatchString(line) {
		r.columns = strings.Split(line, ",")
	}
	if !isDigit(line[0]) || len(r.columns) != strings.Count(line, ",")+1 {
		return line
	}
	cells := strings.Split(line, ",")
	for i, name := range r.columns {
		cells[i] = name + " " + cells[i]
	}
	return strings.Join(cells, ", ")
}

// isBinary reports whether a character is in no line of text.
func isBinary(c rune) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\b' }

// match takes in a line by the caller's pattern.
func (r *Reader) match(line string, at float64) {
	groups := r.Pattern.FindStringSubmatch(line)
	if groups == nil {
		return
	}
	var values []float64
	for _, g := range groups[1:] {
		if s := scan(g); len(s.tokens) > 0 {
			values = append(values, s.tokens[0].value)
		}
	}
	n := number{left: r.Pattern.String()}
	switch {
	case len(values) == 0 && len(groups) > 1:
		return
	case len(values) == 0:
		n.value = 1
		if c := r.counters[""]; c != nil {
			n.value = c.last().value + 1
		}
	default:
		n.value = values[0]
	}
	if len(values) > 1 && values[1] >= n.value {
		n.total = values[1]
	}
	r.count(n, at).total = n.total
}

// count takes in a number.
func (r *Reader) count(n number, at float64) *counter {
	if r.Start > 0 && n.span == nil && n.value >= r.Start && n.value <= r.Start+r.Units {
		n.value -= r.Start
	}
	c := r.counters[n.key]
	if c == nil {
		c = r.newCounter(n)
	}
	if c.span == nil && c.isAnotherRun(n.value, at) {
		*c = counter{number: c.number, unit: c.unit, claim: c.claim, isWriter: c.isWriter, start: at}
	}
	c.line = r.lines
	c.add(n, at, r.lines)
	return c
}

func (r *Reader) newCounter(n number) *counter {
	if r.counters == nil {
		r.counters = map[string]*counter{}
	}
	if len(r.counters) >= counterCount {
		maps.DeleteFunc(r.counters, func(_ string, c *counter) bool { return c.seen == 1 || c.line < r.lines/2 })
	}
	n.percent = n.percent || n.total == 0 && n.value <= 100 && percentOf.MatchString(n.near())
	c := &counter{number: n}
	r.counters[n.key] = c
	if n.span != nil {
		return c
	}
	c.unit = n.unit()
	c.isWriter = writerWords.MatchString(lower(n.left, 12))
	c.claim = announcementOf(n)
	r.converges = r.converges || converges.MatchString(n.left) || converges.MatchString(n.right)
	if c.claim.weight > 0 && len(r.announced) < announcedCount {
		r.announced = append(r.announced, c)
	}
	return c
}

// take takes in the time of a line.
func (t *times) take(at float64) {
	if at >= 0 {
		t.now = at
	}
	if t.begin == 0 && at > 0 {
		t.begin = at
	}
}

// ForgetTimes says that the times of the lines so far are none.
func (r *Reader) ForgetTimes() {
	for _, c := range r.counters {
		for i := range c.points {
			c.points[i].at = -1
		}
	}
}

// End says that the run has ended: what was open is settled.
func (r *Reader) End(at float64) { r.times.end = at }

// pool returns the counters that may count the run's units, in the order of their places.
func (r *Reader) pool() []*counter {
	var pool []*counter
	for _, c := range r.counters {
		if c.span != nil {
			continue
		}
		if c.moves() || c.seen > 1 && (c.total > 0 || c.unit != "" || c.begins) || outerUnits[c.unit] || c.counted {
			pool = append(pool, c)
		}
	}
	slices.SortFunc(pool, func(a, b *counter) int {
		return cmp.Or(cmp.Compare(len(b.points), len(a.points)), cmp.Compare(len(a.key), len(b.key)), strings.Compare(a.key, b.key))
	})
	return pool[:min(len(pool), poolCount)]
}

// poolCount bounds the counters that are compared with each other: those that moved most.
const poolCount = 300

// reports holds the laps that a job prints in the time-writer's tags.
type reports struct {
	marks  []Mark
	before bool // they came before the clock
}

// take takes in a line with a time-writer report, in seconds: set-up, then the units so far.
func (p *reports) take(line string, at, units float64) {
	out, err := timing.ParseOutput(strings.NewReader(line), timing.Last)
	if err != nil {
		return
	}
	laps := out.Laps()
	if p.before = p.before || at < 0; p.before { // the report's own clock is known
		at = floats.Sum(laps)
	}
	p.marks = nil
	for k, seconds := range slices.Backward(laps) {
		if n := float64(k); units == 0 || n <= units {
			p.marks = append(p.marks, Mark{Number: n, Of: units, Seconds: at})
		}
		at -= seconds
	}
	slices.Reverse(p.marks)
}
