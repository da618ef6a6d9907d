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
	case len(r.reports.marks) > 1 && r.Pattern == nil:
		return "time-writer reports"
	case r.Pattern != nil:
		return "lines like " + r.Pattern.String()
	case c.how == remaining || c.how == finishing:
		return "the log's own " + map[how]string{remaining: "remaining", finishing: "finishing"}[c.how] + " time"
	case c.counter == nil:
		return ""
	case c.inner != nil:
		return c.counter.label() + ", with " + c.inner.label() + " as fraction"
	default:
		return c.counter.label()
	}
}

// Unit names what the marks count, as "epoch"; empty where the caller's number counts
// units of another loop, or nothing is known.
func (r *Reader) Unit() string {
	switch c := r.judge(); {
	case c.how == remaining || c.how == finishing:
		return "percent"
	case c.counter == nil || r.Pattern != nil || len(r.reports.marks) > 1 || r.Units > 0 && c.total != r.Units:
		return ""
	case c.counter.percent, c.how == fraction, c.counter.unit == "time":
		return "percent"
	default:
		return cmp.Or(c.counter.unit, "step")
	}
}

// Candidate is a counter that may count the run's units.
type Candidate struct {
	Number    float64 `json:"counted"`
	Unit      string  `json:"unit"` // empty where its words name none
	PerSecond float64 `json:"per_second"`
	// Counter is the counter in words, and Part the number at which it ends or begins again; 0
	// where it does not.
	Counter string  `json:"counter"`
	Part    float64 `json:"part,omitempty"`
	weight  float64
}

// Candidates returns what may count the run's units, the likeliest first.
func (r *Reader) Candidates() []Candidate {
	var found []Candidate
	for _, c := range r.pool() {
		isNamed := c.unit != "" && !c.decimal || c.ownTotal() > 0 || !c.decimal && c.isEven() && c.label() != "number i"
		if len(c.points) < 4 || c.countsDown() || !isNamed && !(c.leads() && c.isEven()) {
			continue
		}
		run := dropUntimed(c.pass())
		next := Candidate{Number: c.last().value, Unit: c.unit, Counter: c.label(), Part: c.ownTotal(), weight: c.weightAs(pair)}
		if n := len(run); n > 2 && run[n-1].at > run[n/2-1].at {
			next.PerSecond = (run[n-1].value - run[n/2-1].value) / (run[n-1].at - run[n/2-1].at)
		}
		next.weight *= float64(len(run)) / float64(len(run)+4)
		if next.Part > 0 || len(c.falls) > 0 {
			next.weight *= 0.5
		}
		if r.chosen.counter == c {
			next.weight = math.Inf(1)
		}
		found = append(found, next)
	}
	slices.SortStableFunc(found, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.Counter, b.Counter))
	})
	return slices.CompactFunc(found, func(a, b Candidate) bool { return a.Counter == b.Counter })
}

// String returns a candidate with its number.
func (c Candidate) String() string { return fmt.Sprintf("%s: %.10g", c.Counter, c.Number) }

// Pace returns how fast a candidate counts, as a clause.
func (c Candidate) Pace() string {
	number := fmt.Sprintf("%.10g %s", c.Number, Plural(c.Unit))
	switch {
	case c.Part > 0:
		number = fmt.Sprintf("%.10g of %s in %q", c.Number, plain(c.Part), c.Counter)
	case c.Unit == "":
		number = fmt.Sprintf("%.10g in %q", c.Number, c.Counter)
	}
	return fmt.Sprintf("%s so far, %.2g per second", number, c.PerSecond)
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
	words := strings.FieldsFunc(phraseOf(lower(c.left, len(c.left)), "|;@\t#"), func(r rune) bool {
		return r != '_' && r != '.' && r != '\'' && (r < 'a' || r > 'z' && r < 128)
	})
	from := max(0, len(words)-2)
	for i, w := range words {
		if c.unit != "" && unitOf(w) == c.unit {
			from = i
		}
	}
	name := cmp.Or(strings.Join(words[from:], " "), c.unit)
	switch {
	case c.percent:
		return strings.TrimSpace(name + " i%")
	case c.total > 0:
		return strings.TrimSpace(fmt.Sprintf("%s i/%s", name, plain(c.total)))
	}
	return cmp.Or(name, "number") + " i"
}

// plain formats a number, without an exponent below 1e15.
func plain(v float64) string { return fmt.Sprintf("%.15g", v) }

// lower returns the last bytes of a text in lower case.
func lower(text string, bytes int) string {
	return strings.ToLower(text[max(0, len(text)-bytes):])
}
