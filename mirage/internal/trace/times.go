package trace

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
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
	at      [moments]int64
	known   [moments]bool
	unix    [moments]bool
	elapsed int64 // seconds, or -1
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
	s.elapsed = -1
	if state.Over() {
		s.elapsed = readElapsed(string(t.text(fieldElapsed)))
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

// resolve turns the times into Unix seconds, and finds a start or an end that is
// missing by the time that elapsed.
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
	switch {
	case s.elapsed < 0 || s.known[whenStarted] == s.known[whenEnded]:
	case s.known[whenStarted]:
		s.at[whenEnded], s.known[whenEnded] = s.at[whenStarted]+s.elapsed, true
	default:
		s.at[whenStarted], s.known[whenStarted] = s.at[whenEnded]-s.elapsed, true
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

// readElapsed reads a time that has gone by, in seconds or as H:M:S; -1 where it is none.
func readElapsed(s string) int64 {
	if n, err := strconv.ParseInt(s, 10, 48); err == nil && n >= 0 {
		return n
	}
	if n, ok := SlurmSeconds(s); ok {
		return n
	}
	return -1
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

// Clock returns a time in the log's time zone.
func (t *Trace) Clock(unix int64) string { return time.Unix(unix, 0).In(t.Zone).Format(time.DateTime) }
