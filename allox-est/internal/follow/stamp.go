package follow

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Times in the lines of a log: of the day, with or without a date; seconds since 1970 in a
// JSON record; and the seconds that a bar or a trainer says have passed.
var (
	dated    = regexp.MustCompile(`(\d{4})[-/](\d\d)[-/](\d\d)[T _]+(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?`)
	ofDay    = regexp.MustCompile(`(?:^|[\s\[(T|])(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:[\s\])|,Z]|$)`)
	unixTime = regexp.MustCompile(`"(?:time|timestamp|ts|created|_timestamp)": ?(1[4-9]\d{8}(?:\.\d+)?)`)
	barTime  = regexp.MustCompile(`\[(?:(\d+):)?(\d+):(\d\d)<`)
	// What comes before a date that the program simulates: "time 2001-01-01_06:00:00", or a step.
	simulated = regexp.MustCompile(`(?i)(?:\b(?:model|sim\w*) )?\b(?:time|date|day|t)[ =]*$|^ *\d+ +$`)
	elapsed   = regexp.MustCompile(`(?i)\b(?:elapsed(?:_time)?|time_elapsed|train_wall|wall)["' :=|]{1,9}(?:(?:(\d+):)?(\d+):(\d\d)|(\d+(?:\.\d+)?) ?s?\b)`)
)

// stampBytes bounds the part of a line that begins with its time.
const stampBytes = 120

// clock turns the times in the lines of a log into seconds since its first one.
type clock struct {
	set          bool
	kind         int     // of the stamps
	base, last   float64 // seconds: at the begin of the stamps' kind; of the last line
	stamp, begin float64 // the last stamp; the one at base
	prior        float64 // the stamp before the last one
}

// Stamps go back by so many seconds if the lines of several writers have come out of order;
// from stampShift on if the clock was set.
const (
	stampOrder = 5
	stampShift = 60
)

// Kinds of stamps, the surest first.
const (
	noStamp = iota
	dateStamp
	unixStamp
	dayStamp
	elapsedStamp
	barStamp
)

// time returns when a line was written, in seconds since the first line with a time; -1
// before that. A line without one came with the line before it.
func (c *clock) time(line string) float64 {
	kind, stamp := readStamp(line)
	if kind == noStamp || c.set && kind > c.kind {
		if !c.set {
			return -1
		}
		return c.last
	}
	if !c.set || kind < c.kind {
		c.set = true
		c.kind = kind
		c.base, c.begin = c.last, stamp
		c.stamp, c.prior = stamp, stamp
		return c.last
	}
	if back := c.stamp - stamp; back > 0 {
		switch {
		case kind == dayStamp && back > 43200: // past midnight
			c.begin -= 86400
		case kind >= elapsedStamp: // another loop
			c.base, c.begin = c.last, 0
		case back > stampOrder && stamp >= c.prior: // the line before was of another clock
			c.last = c.base + c.prior - c.begin
		case back > stampShift: // the clock was set back
			c.base, c.begin = c.last, stamp
		}
	}
	c.prior, c.stamp = c.stamp, stamp
	c.last = max(c.last, c.base+stamp-c.begin)
	return c.last
}

func readStamp(line string) (kind int, seconds float64) {
	head := line[:min(len(line), stampBytes)]
	if !strings.ContainsAny(head, ":.") {
		return noStamp, 0
	}
	number := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	if f := dated.FindStringSubmatch(head); f != nil && !simulated.MatchString(head[:strings.Index(head, f[0])]) {
		at := time.Date(int(number(f[1])), time.Month(number(f[2])), int(number(f[3])), int(number(f[4])), int(number(f[5])), int(number(f[6])), 0, time.UTC)
		return dateStamp, float64(at.Unix()) + number("0."+f[7])
	}
	if f := unixTime.FindStringSubmatch(line[:min(len(line), 4<<10)]); f != nil {
		return unixStamp, number(f[1])
	}
	if f := barTime.FindStringSubmatch(line[:min(len(line), 4<<10)]); f != nil {
		return barStamp, 3600*number(f[1]) + 60*number(f[2]) + number(f[3])
	}
	if f := elapsed.FindStringSubmatch(line[:min(len(line), 4<<10)]); f != nil {
		return elapsedStamp, 3600*number(f[1]) + 60*number(f[2]) + number(f[3]) + number(f[4])
	}
	if f := ofDay.FindStringSubmatch(head); f != nil && number(f[1]) < 24 && number(f[2]) < 60 {
		return dayStamp, 3600*number(f[1]) + 60*number(f[2]) + number(f[3]) + number("0."+f[4])
	}
	return noStamp, 0
}
