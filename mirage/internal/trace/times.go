package trace

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must not depend on the machine
)

// The times of a job in a row.
const (
	whenSubmitted = iota
	whenStarted
	whenEnded
	whenEligible
	moments
)

// times holds those of a row: seconds of the wall clock as if it were UTC or, once they are
// resolved, Unix seconds.
type times struct {
	at    [moments]int64
	known [moments]bool
	unix  [moments]bool
}

// read reads the times of a row; of one that is not over only what has been counts.
func (s *times) read(p *parser, t *table, state State) bool {
	for i, f := range [moments]field{fieldSubmit, fieldStart, fieldEnd, fieldEligible} {
		text, column := t.cell(f)
		if text == nil || !state.Over() && (i == whenEnded || i == whenStarted && state.Pending()) { // what is expected
			continue
		}
		if s.at[i], s.unix[i], s.known[i] = moment(string(text)); !s.known[i] && i != whenEligible {
			p.bad("column %s: %q is not a time", column, clip(string(text)))
			return false
		}
	}
	if !s.known[whenSubmitted] {
		p.bad("no time of submission")
	}
	return s.known[whenSubmitted]
}

// pending and running are by the state of a job, or, where there is none, by what it
// has times of.
func (s *times) pending(state State) bool {
	return state.Pending() || state == "" && !s.known[whenStarted] && !s.known[whenEnded]
}

func (s *times) running(state State) bool {
	return s.known[whenStarted] && (state.Running() || state == "" && !s.known[whenEnded])
}

// resolve turns the times into Unix seconds.
func (s *times) resolve(c *clock, limit int64) {
	if wall := !s.unix[whenSubmitted] && !s.unix[whenStarted] && !s.unix[whenEnded]; wall && s.known[whenStarted] && s.known[whenEnded] {
		s.at[whenSubmitted], s.at[whenStarted], s.at[whenEnded] = c.resolve(s.at[whenSubmitted], s.at[whenStarted], s.at[whenEnded], limit)
		s.unix[whenSubmitted] = true
		s.unix[whenStarted] = true
		s.unix[whenEnded] = true
	}
	for i := range s.at {
		if s.known[i] && !s.unix[i] {
			s.at[i], _ = c.unix(s.at[i])
		}
	}
}

// moment reads a time as sacct may be asked to print it (SLURM_TIME_FORMAT): of the
// wall clock, with an offset from UTC, or in Unix seconds.
func moment(s string) (at int64, unix, ok bool) {
	if at, ok = naiveSeconds(s); ok {
		return at, false, true
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 && n < 1<<40 {
		return n, true, true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05-0700"} {
		if t, err := time.Parse(layout, strings.Replace(s, " +", "+", 1)); err == nil {
			return t.Unix(), true, true
		}
	}
	return 0, false, false
}

// SlurmSeconds reads Slurm's forms of a span: M, M:S, H:M:S, D-H, D-H:M,
// D-H:M:S.
func SlurmSeconds(s string) (int64, bool) {
	days, rest, hasDays := strings.Cut(s, "-")
	if !hasDays {
		rest, days = s, "0"
	}
	parts := strings.Split(rest, ":")
	unit := [][]int64{{60}, {60, 1}, {3600, 60, 1}}
	if hasDays {
		unit = [][]int64{{3600}, {3600, 60}, {3600, 60, 1}}
	}
	if len(parts) > 3 {
		return 0, false
	}
	n, err := strconv.ParseUint(days, 10, 20)
	seconds := int64(n) * 86400
	for i, part := range parts {
		n, wrong := strconv.ParseUint(part, 10, 30)
		seconds, err = seconds+int64(n)*unit[len(parts)-1][i], cmp.Or(err, wrong)
	}
	return seconds, err == nil
}

// Span returns a time in seconds in the largest unit that is exact, such as "12h".
func Span(seconds int64) string {
	switch n := seconds; {
	case n%86400 == 0 && n >= 3*86400:
		return fmt.Sprintf("%dd", n/86400)
	case n%3600 == 0 && n > 0:
		return fmt.Sprintf("%dh", n/3600)
	case n%60 == 0 && n > 0:
		return fmt.Sprintf("%dm", n/60)
	}
	return fmt.Sprintf("%ds", seconds)
}

// Instant is a time that prints as a wall clock, and in JSON with the zone of the clock.
type Instant struct{ time.Time }

func (i Instant) String() string { return i.Format(time.DateTime) }

// Clock returns a time in the log's time zone.
func (t *Trace) Clock(unix int64) Instant { return Instant{time.Unix(unix, 0).In(t.Zone)} }

// DefaultZone is the zone of the machines that the Mirage logs come from.
const DefaultZone = "America/Chicago"

// defaultZones are the zones of layouts, "" for UTC.
var defaultZones = map[Layout]string{Mirage: DefaultZone}

// foldSlack is the time beyond its limit after which a job's times count as misread: the batch
// system's grace for killing it.
const foldSlack = 60

// ParseDate reads a date or a time as wall clock in a zone and returns Unix
// seconds. It takes "2023-02-01", "2023-02-01T15:04", "2023-02-01T15:04:05",
// and times that carry their own zone in the form of RFC 3339; a space may take
// the place of the T.
func ParseDate(s string, zone *time.Location) (int64, error) {
	given := s
	if i := len(time.DateOnly); len(s) > i && s[i] == ' ' {
		s = s[:i] + "T" + s[i+1:]
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Unix(), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t.Unix(), nil
		}
	}
	return 0, fmt.Errorf("%q is neither a date (2023-02-01) nor a time (2023-02-01T15:04:05)", given)
}

// ParseNext reads a time as ParseDate does or as sbatch --begin reads it: now, now+2hours, or
// a day, a time or both. A day without a time is its midnight. A time without a day is the
// next such on the clock of the zone after an instant.
func ParseNext(s string, zone *time.Location, after int64) (int64, error) {
	date, wrong := ParseDate(s, zone)
	if wrong == nil {
		return date, nil
	}
	text := strings.ToLower(s)
	if rest, ok := strings.CutPrefix(text, "now"); ok {
		return laterBy(strings.ReplaceAll(rest, " ", ""), after, s)
	}
	now := time.Unix(after, 0).In(zone)
	var day, clock time.Time
	text = strings.NewReplacer(" am", "am", " pm", "pm").Replace(betweenWords.ReplaceAllString(text, "$1 $2"))
	for word := range strings.FieldsSeq(text) {
		d, isDay := dayOf(word, now)
		c, isClock := clockOf(word)
		switch {
		case isDay && day.IsZero():
			day = d
		case isClock && clock.IsZero():
			clock = c
		default:
			return 0, wrong
		}
	}
	at := func(d time.Time) int64 {
		return time.Date(d.Year(), d.Month(), d.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, zone).Unix()
	}
	switch {
	case !day.IsZero():
		return at(day), nil
	case clock.IsZero():
		return 0, wrong
	case at(now) < after:
		return at(now.AddDate(0, 0, 1)), nil
	}
	return at(now), nil
}

// betweenWords finds the T in tomorrowT10:00.
var betweenWords = regexp.MustCompile(`([0-9wy])t([0-9])`)

// dayOf reads a day as sbatch names it.
func dayOf(word string, now time.Time) (time.Time, bool) {
	switch word {
	case "today":
		return now, true
	case "tomorrow":
		return now.AddDate(0, 0, 1), true
	}
	for _, layout := range []string{time.DateOnly, "1/2/06", "1.2.06", "010206"} {
		if d, err := time.Parse(layout, word); err == nil {
			return d, true
		}
	}
	d, err := time.Parse("1/2", word)
	if d = d.AddDate(now.Year(), 0, 0); err == nil && d.YearDay() < now.YearDay() {
		d = d.AddDate(1, 0, 0)
	}
	return d, err == nil
}

// clockOf reads a time of the day as sbatch names it.
func clockOf(word string) (time.Time, bool) {
	if named := map[string]string{"midnight": "00:00", "elevenses": "11:00", "noon": "12:00", "fika": "15:00", "teatime": "16:00"}[word]; named != "" {
		word = named
	}
	for _, layout := range []string{"15:04", time.TimeOnly, "3:04pm", "3:04:05pm"} {
		if t, err := time.Parse(layout, word); err == nil {
			return t.AddDate(2, 0, 0), true // midnight of year 1 is the zero time
		}
	}
	return time.Time{}, false
}

// laterBy reads what follows now: nothing, or + or - and a number of units, seconds where
// none is named.
func laterBy(text string, after int64, whole string) (int64, error) {
	if text == "" {
		return after, nil
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	seconds := map[string]int64{"": 1, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}[strings.TrimSuffix(text[len(digits):], "s")]
	n, err := strconv.ParseInt(digits, 10, 32)
	if !strings.ContainsAny(digits[:min(1, len(digits))], "+-") || err != nil || seconds == 0 {
		return 0, fmt.Errorf("%q is not a time such as now+2hours", whole)
	}
	return after + n*seconds, nil
}

// clock turns wall-clock text into Unix seconds.
type clock struct{ zone *time.Location }

// unix returns the instants that the wall clock shows naive at: one, or two
// in the hour that is repeated when summer time ends. naive counts seconds as
// if the wall clock were UTC. A time that the clock skips is read with the
// offset before the change.
func (c *clock) unix(naive int64) (early, late int64) {
	const day = 86400
	offset := func(at int64) int64 { _, s := time.Unix(at, 0).In(c.zone).Zone(); return int64(s) }
	early, late = naive-offset(naive-day), naive-offset(naive+day)
	shows := func(at int64) bool { return at+offset(at) == naive }
	switch {
	case early == late:
		return early, early
	case shows(early) && shows(late):
		return min(early, late), max(early, late)
	case shows(late):
		return late, late
	}
	return early, early
}

// resolve picks the readings of a job's three times. Where the clock was
// ambiguous it takes the earliest readings that are in order and leave the
// duration within limit + 60 s, or else the earliest ones. limit below 0
// means unknown.
func (c *clock) resolve(submit, start, end, limit int64) (s, b, e int64) {
	s0, _ := c.unix(submit)
	b0, b1 := c.unix(start)
	e0, e1 := c.unix(end)
	for _, b := range [...]int64{b0, b1} {
		for _, e := range [...]int64{e0, e1} {
			if b < s0 || e < b || limit >= 0 && e-b > limit+foldSlack {
				continue
			}
			return s0, b, e
		}
	}
	return s0, b0, e0
}

// naiveSeconds reads "2006-01-02T15:04:05" as if it were UTC.
func naiveSeconds(s string) (int64, bool) {
	if len(s) != len(time.DateTime) {
		return 0, false
	}
	layout := time.DateTime
	if s[10] == 'T' {
		layout = "2006-01-02T15:04:05"
	}
	t, err := time.Parse(layout, s)
	return t.Unix(), err == nil
}
