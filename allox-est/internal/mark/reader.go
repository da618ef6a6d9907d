package mark

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/shared/timing"
)

// Reader reads what a run prints, line by line, and says how far it has come.
// Its zero value knows nothing of the run's length. It is not safe for concurrent
// use.
type Reader struct {
	// Units is the length of the run; 0 where only its output may tell.
	Units float64
	// Pattern, where it is not nil, picks the lines that count and, by its groups,
	// their number; lines without one are counted.
	Pattern *regexp.Regexp
	// Start is the unit after which the run began with a stage of the work: its lines
	// may count from there.
	Start float64

	loops   []*loop // in the order in which they were first seen
	by      map[string]*loop
	reports []Mark
	stages  []stage
	costs   string
	end     float64 // of the run; 0 while it goes on
	lines   int
}

type stage struct {
	name string
	from float64
}

// mostLoops bounds the slots that are looked at.
const mostLoops = 256

// What a job prints where another stage of its work begins, and for costs by name:
// the last complete text of a line counts.
var (
	stageLine = regexp.MustCompile(`<TIME_WRITTER_STAGE>(.*?)</TIME_WRITTER_STAGE>`)
	costsLine = regexp.MustCompile(`.*<TIME_WRITTER_COSTS>(.*?)</TIME_WRITTER_COSTS>`)
)

// Line takes in a line, or one drawing of a bar, that came at a time since the
// start of the run, in seconds; a negative one is not known, and makes no mark.
func (r *Reader) Line(line string, at float64) {
	if strings.TrimSpace(line) == "" {
		return
	}
	r.lines++
	if strings.Contains(line, "<TIME_WRITTER_") {
		if found := stageLine.FindStringSubmatch(line); found != nil {
			r.stages = append(r.stages, stage{found[1], at})
			return
		}
		if found := costsLine.FindStringSubmatch(line); found != nil {
			r.costs = found[1]
			return
		}
		if out, err := timing.ParseOutput(strings.NewReader(line), timing.Last); err == nil {
			r.report(out.Laps(), at)
		}
	}
	if r.Pattern != nil {
		r.match(line, at)
		return
	}
	found, value := slots(line)
	var left *loop
	for _, s := range found {
		l := r.loop(s.key)
		if l == nil {
			continue
		}
		if s.number >= r.Start && s.number <= r.Start+r.Units {
			s.number -= r.Start
		}
		l.left, l.value, left = left, l.value || value || s.word, l
		l.see(s, at)
	}
}

// loop returns the one of a key; nil where there are too many.
func (r *Reader) loop(key string) *loop {
	l := r.by[key]
	if l == nil && len(r.loops) < mostLoops {
		if r.by == nil {
			r.by = map[string]*loop{}
		}
		l = &loop{key: key}
		r.by[key], r.loops = l, append(r.loops, l)
	}
	return l
}

// match takes a line that the pattern may pick.
func (r *Reader) match(line string, at float64) {
	found := r.Pattern.FindStringSubmatch(line)
	if found == nil {
		return
	}
	l := r.loop("")
	number, err := strconv.ParseFloat(strings.Join(found[1:], ""), 64)
	if err != nil {
		number = 1
		if len(l.points) > 0 {
			number = l.last().number + 1
		}
	}
	l.value = true
	l.see(slot{number: number}, at)
}

// report takes in a time-writer report, in seconds: set-up, then the units so far.
func (r *Reader) report(laps []float64, at float64) {
	var marks []Mark
	for k, seconds := range slices.Backward(laps) {
		if n := float64(k); r.Units == 0 || n <= r.Units {
			marks = append(marks, Mark{Number: n, Of: r.Units, Seconds: at})
		}
		at -= seconds
	}
	slices.Reverse(marks)
	r.reports = marks
}

// End says that the run has ended: what was open is settled.
func (r *Reader) End(at float64) { r.end = at }

// Costs are those by name that the run told last; empty where it told none.
func (r *Reader) Costs() string { return r.costs }

// Length is that of the run in units, as the caller or else the output says; 0
// where neither does.
func (r *Reader) Length() float64 {
	if r.Units > 0 {
		return r.Units
	}
	l := r.outer()
	switch {
	case l == nil:
		return 0
	case l.alone() && l.zeroBased(l.of+1):
		return l.of + 1
	}
	return l.of
}

// Marks are the units done so far. They grow, and hold parts of units where whole
// ones are few and the run counts inside of them too.
func (r *Reader) Marks() []Mark {
	if len(r.reports) > 1 && r.Pattern == nil {
		known := slices.IndexFunc(r.reports, func(m Mark) bool { return m.Seconds >= 0 })
		return r.staged(slices.Clone(r.reports[max(0, known):]))
	}
	var marks []Mark
	units := r.Length()
	for _, p := range r.done(units) {
		n := len(marks)
		if p.at < 0 || p.number < 0 || p.number > units || n > 0 && p.number <= marks[n-1].Number {
			continue
		}
		if n > 0 && p.at <= marks[n-1].Seconds {
			marks = marks[:n-1]
		}
		marks = append(marks, Mark{Number: p.number, Of: units, Seconds: p.at})
	}
	return r.staged(thin(marks))
}

// done are the units done at each point.
func (r *Reader) done(units float64) []point {
	if units == 0 {
		return nil
	}
	outer := r.outer()
	if outer == nil {
		return r.aside(units)
	}
	whole := outer.done(units, r.end, r.begins(outer))
	inner := r.inside(outer)
	if len(whole) >= fewMarks {
		return whole
	}
	if inner != nil {
		return parts(whole, inner)
	}
	if along, length := r.along(outer, whole, units); along != nil {
		return along.shares(units / length)
	}
	return whole
}

// parts puts the numbers of an inner loop between the units done.
func parts(whole []point, inner *loop) []point {
	var all []point
	base, next := 0.0, 0
	for _, p := range inner.points {
		for next < len(whole) && whole[next].at <= p.at {
			base = whole[next].number
			all = append(all, whole[next])
			next++
		}
		if share := p.number / inner.length(); share < 1 { // what follows in the unit is not counted
			all = append(all, point{base + share, p.at})
		}
	}
	return append(all, whole[next:]...)
}

// Of marks, parts of units are taken below fewMarks, and no more than keptMarks
// are returned.
const (
	fewMarks  = 4
	keptMarks = 512
)

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

// staged names the stage of each mark.
func (r *Reader) staged(marks []Mark) []Mark {
	for i := range marks {
		for _, s := range r.stages {
			if s.from < marks[i].Seconds {
				marks[i].Stage = s.name
			}
		}
	}
	return marks
}

// outer is the loop that counts the run's units; nil where none does for sure.
func (r *Reader) outer() *loop {
	var best *loop
	var rank int
	for _, l := range r.loops {
		n := r.rank(l)
		if n == 0 || best != nil && cmp.Or(cmp.Compare(n, rank), cmp.Compare(best.grew, l.grew), cmp.Compare(best.same, l.same), cmp.Compare(best.last().number, l.last().number)) >= 0 {
			continue
		}
		best, rank = l, n
	}
	return best
}

// rank says how surely a loop counts the run's units: 1 surely, 0 not at all.
func (r *Reader) rank(l *loop) int {
	if r.Pattern != nil && r.Units > 0 {
		return 1
	}
	if l.began > 1 || (!l.counts() || l.grew == 0 && l.same > 0) && !r.holds(l) {
		return 0
	}
	last := l.last().number
	switch {
	case r.Units == 0:
		if l.of > 0 && l.began+l.fell == 0 && (l.grew > 0 || r.encloses(l)) && !r.over(l) {
			return 1 + slices.Index(r.loops, l)
		}
	case l.of == r.Units || l.zeroBased(r.Units):
		if r.under(l) {
			return 4
		}
		return 1
	case l.of == 0 && !l.decimal && last <= r.Units && !r.under(l):
		if l.begins() {
			return 2
		}
		return 3
	case l.of == 0 && l.decimal && last <= r.Units+0.01 && last > r.Units/100:
		return 3
	}
	return 0
}

// holds says that a number that has not grown yet stands before one of its line
// that has: it counts what that one is inside of.
func (r *Reader) holds(l *loop) bool {
	return !l.decimal && l.grew == 0 && l.same > 0 && l.first().number <= 1 &&
		slices.ContainsFunc(r.loops, func(in *loop) bool { return in.of > 0 && in.grew > 0 && in.after(l) })
}

// encloses says that another loop began to count after a line that ends with a
// number that has not grown yet.
func (r *Reader) encloses(l *loop) bool {
	return l.alone() && slices.ContainsFunc(r.loops, func(in *loop) bool {
		return in.of > 0 && in.of != l.of && in.grew > 0 && in.points[0].at >= l.last().at
	})
}

// over says that a loop was through long before another that went on.
func (r *Reader) over(l *loop) bool {
	return l.last().number == l.of && slices.ContainsFunc(r.loops, func(o *loop) bool {
		return o.of > 0 && o.grew > 0 && o.last().at > 2*l.last().at-l.points[0].at
	})
}

// under says that a loop may count inside of another, whose number before it on
// its lines has not grown yet.
func (r *Reader) under(l *loop) bool {
	for o := l.left; o != nil && r.end == 0; o = o.left {
		if o.grew == 0 && o.same > 0 && !o.decimal && o.first().number <= 1 {
			return true
		}
	}
	return false
}

// inside is the loop that begins again with each of another's units; nil if none
// does.
func (r *Reader) inside(outer *loop) *loop {
	for _, l := range r.loops {
		turns := l.began - outer.grew - outer.began
		if l != outer && !l.decimal && l.grew > 0 && l.counts() && l.length() > 0 && turns >= -1 && turns <= 1 && (l.began > 0 || outer.grew == 0) {
			return l
		}
	}
	return nil
}

// begins says that the lines of a loop begin its units: its number stands still
// while another after it grows.
func (r *Reader) begins(outer *loop) bool {
	return outer.same > 0 && slices.ContainsFunc(r.loops, func(l *loop) bool {
		return !l.decimal && l.grew > outer.grew && l.after(outer) && l.counts()
	})
}

// along is a loop that counts once through the whole run and agrees with the units
// done, and how far it counts; nil if none does.
func (r *Reader) along(outer *loop, whole []point, units float64) (*loop, float64) {
	last := whole[len(whole)-1]
	for _, l := range r.loops {
		if l == outer || l.decimal || l.began+l.fell > 0 || l.grew < 2 || outer.grew < 1 || !l.counts() {
			continue
		}
		length := l.of
		if length == 0 && l.after(outer) {
			from, to := l.at(outer.first().at), l.at(last.at)
			length = units * (to - from) / (last.number - whole[0].number)
		}
		if d := units*l.last().number/length - last.number; length > l.last().number && d > -1 && d < 1.5 {
			return l, length
		}
	}
	return nil, 0
}

// aside are the units done where none is counted: by a loop that begins again with
// each, or, once the run has ended, by one that counts through it.
func (r *Reader) aside(units float64) []point {
	for _, l := range r.loops {
		switch {
		case l.of == 0 || l.decimal || !l.counts() || l.grew < 2:
		case l.began > 0 && float64(l.began) < units:
			return l.turns()
		case l.began == 0 && r.end > 0:
			return l.shares(units / l.of)
		}
	}
	return nil
}

// Reached is the unit done last, also where it is not known when; 0 if none is.
func (r *Reader) Reached() float64 {
	if n := len(r.reports); n > 0 && r.Pattern == nil {
		return r.reports[n-1].Number
	}
	points := r.done(r.Length())
	if len(points) == 0 {
		return 0
	}
	return max(0, min(points[len(points)-1].number, r.Length()))
}

// Full says that the last unit has been named: it is done, or has begun.
func (r *Reader) Full() bool {
	units := r.Length()
	if units == 0 || r.Reached() >= units {
		return units > 0
	}
	o := r.outer()
	return o != nil && len(r.reports) == 0 && o.last().number >= units
}

// Stopped returns after how many units a run that has ended did so by itself; false
// where it did all, or does not tell.
func (r *Reader) Stopped() (units float64, early bool) {
	marks := r.Marks()
	n := len(marks)
	if n < 2 || r.end == 0 {
		return 0, false
	}
	last, step := marks[n-1], marks[n-1].Number-marks[n-2].Number
	units = last.Number
	if o := r.outer(); o != nil && len(r.reports) < 2 {
		step = max(step, o.step)
		if named := o.last().number; !o.decimal && named == units+1 {
			units = named // its line began the last one
		}
	}
	return units, units+max(step, 1) < last.Of
}

// Why says what stood in the way where there are no marks, or all came at once;
// empty where there are.
func (r *Reader) Why() string {
	if marks := r.Marks(); len(marks) > 0 {
		if o := r.outer(); len(marks) == 1 && o != nil && o.grew > 0 {
			return fmt.Sprintf("all %d marks came at once: the job buffers its output", o.grew+1)
		}
		return ""
	}
	for _, l := range r.loops {
		if l.grew == 0 && l.same > 0 && !l.decimal {
			return fmt.Sprintf("the number in lines like %q came %d times and does not grow", strings.Trim(l.key[:strings.LastIndex(l.key, " ")], "^"), l.same+1)
		}
	}
	if r.lines == 0 {
		return "no line has a number"
	}
	return fmt.Sprintf("no number in %d lines grows by even steps", r.lines)
}
