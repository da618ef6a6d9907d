package timing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
)

// Errors of a log that cannot be used, each wrapped in a *ParseError.
var (
	// ErrNoTag is returned when a log holds no report at all.
	ErrNoTag = errors.New("no time-writer report")
	// ErrTruncated is returned when a report began and none was completed.
	// Beside a complete report it is a warning.
	ErrTruncated = errors.New("torn time-writer report")
	// ErrBadValue is returned when a completed report is not a list of finite
	// numbers of zero or more.
	ErrBadValue = errors.New("not a list of finite times")
	// ErrContradiction is returned when a report does not begin with the laps
	// of an earlier one, under Extend.
	ErrContradiction = errors.New("later report does not extend the earlier one")
)

// ParseError says where in a log a report is at fault. Offset counts bytes
// from the start of the log, Report counts reports from 1.
type ParseError struct {
	Offset int64
	Report int
	Detail string // may be empty
	Err    error  // one of the sentinels
}

func (e *ParseError) Error() string {
	s := fmt.Sprintf("report %d at byte %d: %v", e.Report, e.Offset, e.Err)
	if e.Report == 0 {
		s = fmt.Sprintf("%v in %d bytes", e.Err, e.Offset)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the sentinel.
func (e *ParseError) Unwrap() error { return e.Err }

// Choice says which of several complete reports counts.
type Choice int

const (
	// Extend takes the last complete report and demands that every report
	// begin with the laps of the one before it.
	Extend Choice = iota
	// Last takes the last complete report, whatever came before.
	Last
	// Longest takes the complete report with most laps, of equals the last.
	Longest
)

// Parser finds time-writer reports in a log that is written to it in pieces of
// any size. It holds 8 bytes per lap under Extend and 16 otherwise, whatever
// the length of the log or of its lines. The zero value is ready and uses
// Extend. It is not safe for concurrent use.
type Parser struct {
	Choice Choice

	offset  int64 // bytes consumed
	state   state
	matched int   // bytes of the tag being matched
	opened  int64 // offset of the open tag of the report being read
	reports int   // opened so far
	digits  [64]byte
	ndigits int

	kept    series // the report that counts
	found   bool
	next    series // the report being read, under Last and Longest
	n       int    // laps of the report being read
	fault   *ParseError
	failed  *ParseError // first completed report at fault
	torn    *ParseError // last report never completed
	differs bool
	done    int // complete reports taken
}

type state uint8

const (
	outside   state = iota // looking for the open tag
	listStart              // before [
	first                  // after [: a number or ]
	value                  // after a comma: a number
	number                 // in a number
	separator              // after a number: , or ]
	listEnd                // after ]: the close tag
	broken                 // a malformed list: looking for the close tag
)

// Write consumes a piece of the log. It never fails: what is wrong with a
// report is told by Output.
func (p *Parser) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if p.state == outside && p.matched == 0 {
			i := bytes.IndexByte(b, '<')
			if i < 0 {
				p.offset += int64(len(b))
				break
			}
			p.offset += int64(i)
			b = b[i:]
		}
		if run := p.number(b); run > 0 {
			p.offset += int64(run)
			b = b[run:]
			continue
		}
		p.consume(b[0])
		p.offset++
		b = b[1:]
	}
	return n, nil
}

// number takes a whole number at once where b begins with one and holds the
// byte after it, and returns its length; 0 leaves the work to consume.
func (p *Parser) number(b []byte) int {
	if p.state != value && p.state != first || p.matched != 0 || b[0] < '0' || b[0] > '9' {
		return 0
	}
	i := 1
	for i < len(b) && i <= len(p.digits) && ('0' <= b[i] && b[i] <= '9' || b[i] == '.') {
		i++
	}
	if i == len(b) || i > len(p.digits) || b[i] != ',' {
		return 0 // torn between pieces, long, with an exponent, or the last one
	}
	x, err := strconv.ParseFloat(string(b[:i]), 64)
	if err != nil || !finishedNumber(b[:i]) {
		return 0
	}
	p.add(x)
	p.state = value
	return i + 1
}

// consume advances by one byte, the one at p.offset.
func (p *Parser) consume(c byte) {
	if p.state != outside {
		if p.matchClose(c) {
			return
		}
	} else {
		p.matchOpen(c)
		return
	}
	switch p.state {
	case listStart:
		switch {
		case c == '[':
			p.state = first
		case !space(c):
			p.reject("no [ after the tag")
		}
	case first, value:
		switch {
		case space(c):
		case c == ']' && p.state == first:
			p.state = listEnd
		case '0' <= c && c <= '9':
			p.digits[0], p.ndigits, p.state = c, 1, number
		default:
			p.reject(fmt.Sprintf("lap %d begins with %q", p.n, c))
		}
	case number:
		switch {
		case '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-':
			if p.ndigits == len(p.digits) {
				p.reject(fmt.Sprintf("lap %d has more than %d characters", p.n, len(p.digits)))
				return
			}
			p.digits[p.ndigits] = c
			p.ndigits++
		case c == ',' || c == ']' || space(c):
			p.endNumber(c)
		default:
			p.reject(fmt.Sprintf("%q in lap %d", c, p.n))
		}
	case separator:
		p.separate(c)
	case listEnd:
		if !space(c) {
			p.reject(fmt.Sprintf("%q after the list", c))
		}
	}
}

func (p *Parser) endNumber(c byte) {
	text := p.digits[:p.ndigits]
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(x, 0) || !finishedNumber(text) {
		p.reject(fmt.Sprintf("lap %d is %q", p.n, text))
		return
	}
	p.add(x)
	p.state = separator
	p.separate(c)
}

// finishedNumber refuses "2.", which only a torn 2.5 looks like, and 007.
func finishedNumber(text []byte) bool {
	if text[0] == '0' && len(text) > 1 && '0' <= text[1] && text[1] <= '9' {
		return false
	}
	dot := bytes.IndexByte(text, '.')
	return dot < 0 || dot+1 < len(text) && '0' <= text[dot+1] && text[dot+1] <= '9'
}

func (p *Parser) separate(c byte) {
	switch {
	case c == ',':
		p.state = value
	case c == ']':
		p.state = listEnd
	case !space(c):
		p.reject(fmt.Sprintf("%q after lap %d", c, p.n-1))
	}
}

// add takes the next lap of the report being read.
func (p *Parser) add(x float64) {
	if p.Choice != Extend {
		p.next.set(p.n, x)
		p.n++
		return
	}
	if p.found && p.n < p.kept.n {
		if !p.differs && p.kept.at(p.n) != x {
			p.differs = true
			p.blame(ErrContradiction, fmt.Sprintf("lap %d is %v, was %v", p.n, x, p.kept.at(p.n)))
		}
	} else if !p.differs {
		p.kept.set(p.n, x) // beyond kept.n: part of it only once completed
	}
	p.n++
}

func (p *Parser) matchOpen(c byte) {
	switch {
	case c == OpenTag[p.matched]:
		p.matched++
		if p.matched == len(OpenTag) {
			p.open()
		}
	case c == '<':
		p.matched = 1
	default:
		p.matched = 0
	}
}

func (p *Parser) open() {
	p.opened = p.offset + 1 - int64(len(OpenTag))
	p.reports++
	p.state, p.matched, p.n, p.fault, p.differs = listStart, 0, 0, nil, false
}

// matchClose looks for the close tag, and for an open tag that tells that the
// report being read was torn. It says whether c belongs to a tag so far.
func (p *Parser) matchClose(c byte) bool {
	if c == '<' {
		if p.matched > 0 {
			p.reject("'<' in the list")
		}
		p.matched = 1
		return true
	}
	if p.matched == 0 {
		return false
	}
	tag := CloseTag
	if p.matched == 1 {
		if c == OpenTag[1] {
			p.matched = -2 // reading an open tag: matched is minus the bytes seen
			return true
		}
	} else if p.matched < 0 {
		tag = OpenTag
	}
	seen := max(p.matched, -p.matched)
	if c != tag[seen] {
		p.matched = 0
		p.reject("'<' in the list")
		return false
	}
	seen++
	switch {
	case seen < len(tag):
		p.matched += max(-1, min(1, p.matched)) // away from zero
	case tag == CloseTag:
		p.close()
	default:
		p.tear()
		p.open()
	}
	return true
}

// close ends the report being read at its close tag.
func (p *Parser) close() {
	if p.state != listEnd && p.fault == nil {
		p.reject("the list does not end")
	}
	p.state, p.matched = outside, 0
	if p.Choice == Extend && p.fault == nil && p.found && p.n < p.kept.n {
		p.blame(ErrContradiction, fmt.Sprintf("%d laps, had %d", p.n, p.kept.n))
	}
	if p.fault != nil {
		if p.failed == nil || p.Choice == Last {
			p.failed = p.fault
		}
		return
	}
	if p.Choice == Last {
		p.failed = nil // only the last word counts
	}
	if p.Choice == Longest && p.found && p.n < p.kept.n {
		return
	}
	if p.Choice != Extend {
		p.kept, p.next = p.next, p.kept
	}
	p.kept.n, p.found = p.n, true
	p.done++
}

// Completed returns how many complete reports were taken so far. It lets a
// caller who watches a job tell when the report that counts arrived.
func (p *Parser) Completed() int { return p.done }

// tear gives up the report being read: it was never closed.
func (p *Parser) tear() {
	p.torn = &ParseError{Offset: p.opened, Report: p.reports, Detail: fmt.Sprintf("ends after %d laps", p.n), Err: ErrTruncated}
}

// reject marks the report being read as malformed.
func (p *Parser) reject(detail string) {
	p.state = broken
	p.blame(ErrBadValue, detail)
}

func (p *Parser) blame(err error, detail string) {
	if p.fault == nil || p.fault.Err == ErrContradiction && err == ErrBadValue {
		p.fault = &ParseError{Offset: p.opened, Report: p.reports, Detail: detail, Err: err}
	}
}

// Output returns what the log said so far, as if it ended here. The error is a
// *ParseError. Output shares the Parser's memory: write no more while it is
// in use.
func (p *Parser) Output() (*Output, error) {
	torn := p.torn
	if p.state != outside {
		torn = &ParseError{Offset: p.opened, Report: p.reports, Detail: fmt.Sprintf("ends after %d laps", p.n), Err: ErrTruncated}
	}
	switch {
	case p.failed != nil && (p.Choice != Longest || !p.found):
		return nil, p.failed
	case !p.found && torn != nil:
		return nil, torn
	case !p.found:
		return nil, &ParseError{Offset: p.offset, Err: ErrNoTag}
	}
	out := &Output{Reports: p.reports, laps: p.kept}
	if torn != nil {
		out.Warnings = append(out.Warnings, torn)
	}
	if p.failed != nil {
		out.Warnings = append(out.Warnings, p.failed)
	}
	return out, nil
}

// Output is what a job's log told: its laps in seconds. A job of k epochs that
// follows the protocol told k+2: set-up, epochs, teardown.
type Output struct {
	Reports  int     // reports begun in the log
	Warnings []error // torn reports beside the complete one
	laps     series
}

// Len returns the number of laps.
func (o *Output) Len() int { return o.laps.n }

// All yields the laps in order, without a copy.
func (o *Output) All() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for i := range o.laps.n {
			if !yield(o.laps.at(i)) {
				return
			}
		}
	}
}

// Laps returns a copy of the laps in one slice.
func (o *Output) Laps() []float64 {
	xs := make([]float64, 0, o.laps.n)
	for x := range o.All() {
		xs = append(xs, x)
	}
	return xs
}

// Total returns the sum of the laps in seconds.
func (o *Output) Total() float64 {
	var sum float64
	for x := range o.All() {
		sum += x
	}
	return sum
}

// Line returns the job's time as a line over its epochs: intercept is the
// first lap plus the last, slope the mean of those between, both in seconds.
// Fewer than three laps have no slope (ok is false); the intercept is then
// the sum of what there is.
func (o *Output) Line() (intercept, slope float64, ok bool) {
	n := o.laps.n
	if n < 3 {
		return o.Total(), 0, false
	}
	for i := 1; i < n-1; i++ {
		slope += o.laps.at(i)
	}
	return o.laps.at(0) + o.laps.at(n-1), slope / float64(n-2), true
}

// ParseOutput reads a whole log and returns its report under Extend. Errors
// are those of the reader or a *ParseError.
func ParseOutput(r io.Reader) (*Output, error) {
	var p Parser
	if _, err := p.ReadFrom(r); err != nil {
		return nil, err
	}
	return p.Output()
}

// ReadFrom consumes all of r. The error is r's.
func (p *Parser) ReadFrom(r io.Reader) (n int64, err error) {
	buf := make([]byte, 256<<10)
	for {
		k, err := r.Read(buf)
		n += int64(k)
		_, _ = p.Write(buf[:k])
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// series is a list of floats that grows without copying, so that its memory
// stays at 8 bytes a value.
type series struct {
	chunks []*[chunk]float64
	n      int
}

const chunk = 8192

func (s *series) at(i int) float64 { return s.chunks[i/chunk][i%chunk] }

// set stores value i, which may lie one beyond all values set before. It does
// not change n.
func (s *series) set(i int, x float64) {
	if i/chunk == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunk]float64))
	}
	s.chunks[i/chunk][i%chunk] = x
}
