package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must not depend on the machine
)

// DefaultZone is the zone of the machines that the Mirage logs come from.
const DefaultZone = "America/Chicago"

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

// ParseNext reads a time after an instant, as ParseDate does or as sbatch --begin takes
// it: 15:04 or 15:04:05, the next such on the clock of the zone, noon, midnight, today,
// tomorrow, now, and now+2hours.
func ParseNext(s string, zone *time.Location, after int64) (int64, error) {
	now := time.Unix(after, 0).In(zone)
	if text, ok := strings.CutPrefix(s, "now"); ok {
		return laterBy(text, after, s)
	}
	switch s {
	case "today":
		return after, nil
	case "tomorrow":
		return now.AddDate(0, 0, 1).Unix(), nil
	case "noon":
		s = "12:00"
	case "midnight":
		s = "00:00"
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			next := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)
			if next.Unix() < after {
				next = next.AddDate(0, 0, 1)
			}
			return next.Unix(), nil
		}
	}
	return ParseDate(s, zone)
}

// laterBy reads what follows now: nothing, or + and a number of units, seconds where
// none is named.
func laterBy(text string, after int64, whole string) (int64, error) {
	if text == "" {
		return after, nil
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	seconds := map[string]int64{"": 1, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}[strings.TrimSuffix(text[len(digits):], "s")]
	n, err := strconv.ParseInt(strings.TrimPrefix(digits, "+"), 10, 32)
	if !strings.HasPrefix(digits, "+") || err != nil || n < 0 || seconds == 0 {
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
