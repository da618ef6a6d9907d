package progress

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Describe names what counts the run's units, as "epoch i/15, with i/20 as fraction";
// empty where nothing does.
func (r *Reader) Describe() string {
	switch c := r.judge(); {
	case len(r.reports) > 1 && r.Pattern == nil:
		return "time-writer reports"
	case r.Pattern != nil:
		return "lines like " + r.Pattern.String()
	case c.eta != "":
		return "the log's own remaining time"
	case c.counter == nil:
		return ""
	case c.fits > 0 && c.counter.in == "fold":
		return fmt.Sprintf("%s, in all %g fits", c.counter.label(), c.fits)
	case c.fits > 0, len(c.stages) > 0:
		return fmt.Sprintf("%s, stage by stage, in all %g %s", c.counter.label(), r.Units, Plural(c.counter.in))
	case c.turns:
		return fmt.Sprintf("%s, each pass as one of %g", c.counter.label(), r.Units)
	case c.inner != nil:
		return c.counter.label() + ", with " + c.inner.label() + " as fraction"
	case c.companion != nil:
		return c.counter.label() + ", with " + c.companion.label() + " as fraction"
	default:
		return c.counter.label()
	}
}

// Unit names what the marks count, as "epoch"; empty where the caller's number counts
// units of another loop, or nothing is known.
func (r *Reader) Unit() string {
	switch c := r.judge(); {
	case c.eta != "":
		return "percent"
	case c.counter != nil && (len(c.stages) > 0 || c.fits > 0 && c.counter.in != "fold"):
		return c.counter.in
	case c.counter == nil || c.turns || r.Pattern != nil || len(r.reports) > 1 || r.Units > 0 && c.total != r.Units:
		return ""
	case c.counter.percent:
		return "percent"
	default:
		return cmp.Or(c.counter.in, "step")
	}
}

// Counters lists what may count the run's units, the likeliest first, each with its last
// number.
func (r *Reader) Counters() []string {
	var scored []choice
	for _, c := range r.pool() {
		if !c.decimal && !c.paired && c.grew > 1 && (c.in != "" || c.total > 0 || c.even()) && 2*c.stray <= len(c.points) {
			scored = append(scored, choice{counter: c, score: c.side * (1 + float64(c.grew)/float64(c.grew+8)) * (1 + r.steady(c))})
		}
	}
	for _, c := range r.candidates() {
		for i := range scored {
			if scored[i].counter == c.counter {
				scored[i].score += 10 * c.score
			}
		}
	}
	slices.SortStableFunc(scored, func(a, b choice) int { return cmp.Compare(b.score, a.score) })
	var lines []string
	for _, c := range scored {
		lines = append(lines, fmt.Sprintf("%s: %g", c.counter.label(), c.counter.last().number))
	}
	return slices.Compact(lines)
}

// steady returns how well the numbers of a counter fit a line over time, from 0 to 1.
func (r *Reader) steady(c *counter) float64 {
	line := fitted{}
	for _, p := range c.points[c.start:] {
		if p.at >= 0 {
			line.add(p.at, p.number)
		}
	}
	_, r2 := line.slope()
	return r2
}

// Pace describes a counter whose end is not known.
type Pace struct {
	Number    float64 `json:"counted"`
	Unit      string  `json:"unit"` // empty where its words name none
	PerSecond float64 `json:"per_second"`
	// Counter is the counter in words, and Part the number at which it begins again; 0 where
	// it does not.
	Counter string  `json:"counter"`
	Part    float64 `json:"part,omitempty"`
}

// leastPace is the fit from which on a counter without a total is believed.
const leastPace = 0.5

// Rate returns the pace of the likeliest counter without a total, else that of a loop
// which is a part of the run; false where there is none.
func (r *Reader) Rate() (p Pace, known bool) {
	best, most := (*counter)(nil), leastPace
	part := (*counter)(nil)
	for _, c := range r.pool() {
		if (c.total > 1 || c.percent) && !c.paired && c.grew >= 3 && c.stray <= c.grew/4 && (part == nil || cmp.Or(cmp.Compare(c.side, part.side), cmp.Compare(c.grew, part.grew)) > 0) {
			part = c
		}
		named := c.in != "" && c.in != "sample" && !c.decimal
		if !named && !(c.leads() && c.even() && c.grew > 3) || c.percent || c.total > 0 || c.resetting() || c.side < 0.8 || c.grew < 3 || c.stray > c.grew/4 {
			continue
		}
		fit := r.steady(c)
		if fit *= float64(c.grew) / float64(c.grew+2); !c.even() {
			fit *= 0.7
		}
		if !named {
			fit *= 0.8
		}
		if fit > most {
			best, most = c, fit
		}
	}
	if best == nil {
		best = part
	}
	if best == nil {
		return p, false
	}
	points := slices.DeleteFunc(slices.Clone(best.points[best.start:]), func(p point) bool { return p.at < 0 })
	if len(points) < 3 {
		return p, false
	}
	first, last := points[len(points)/2-1], points[len(points)-1]
	p = Pace{Number: last.number, Unit: best.in, PerSecond: (last.number - first.number) / (last.at - first.at), Counter: best.label(), Part: best.part()}
	return p, p.PerSecond > 0 && !math.IsInf(p.PerSecond, 0)
}

// part returns the number at which a counter of a part of the run begins again; 0 of others.
func (c *counter) part() float64 {
	if c.percent {
		return 100
	}
	return c.total
}

// String returns the pace as a clause, which says that no total was found.
func (p Pace) String() string {
	if p.Part > 0 {
		return p.Count() + "; it may be one of several such loops"
	}
	return p.Count() + "; no total found"
}

// Count returns the pace as a clause.
func (p Pace) Count() string {
	number := fmt.Sprintf("%.10g %s", p.Number, Plural(p.Unit))
	switch {
	case p.Part > 0:
		number = fmt.Sprintf("%.10g of %s in %q", p.Number, plain(p.Part), p.Counter)
	case p.Unit == "":
		number = fmt.Sprintf("%.10g in %q", p.Number, p.Counter)
	}
	return fmt.Sprintf("%s so far, %.2g per second", number, p.PerSecond)
}

// Plural returns the plural of a unit.
func Plural(unit string) string {
	if unit == "batch" {
		return unit + "es"
	}
	return unit + "s"
}

// label returns the words before a counter, i for its numbers, and its total.
func (c *counter) label() string {
	words := strings.FieldsFunc(cmp.Or(c.name, phrase(c.left, "|;@\t")), func(r rune) bool {
		return r != '_' && r != '.' && r != '\'' && (r < '0' || r > '9' && r < 'a' || r > 'z' && r < 128)
	})
	from := max(0, len(words)-2)
	for i, w := range words {
		if unit(w) != "" && c.in == unit(w) {
			from = i
		}
	}
	name := cmp.Or(strings.Join(words[from:], " "), c.in)
	switch {
	case c.percent:
		return strings.TrimSpace(name + " i%")
	case c.total > 0:
		return strings.TrimSpace(fmt.Sprintf("%s i/%s", name, plain(c.total)))
	}
	return cmp.Or(name, "number") + " i"
}

// plain formats a number without an exponent.
func plain(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%g", v)
}
