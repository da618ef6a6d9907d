package timing

import (
	"errors"
	"fmt"
)

// Errors of a log that cannot be used, each wrapped in a *ParseError.
var (
	// ErrNoTag is returned when a log holds no report at all.
	ErrNoTag = errors.New("no time-writer report")
	// ErrTruncated is returned when a report began and none was completed. After a
	// complete report it is a warning.
	ErrTruncated = errors.New("torn time-writer report")
	// ErrBadValue is returned when a completed report is not a list of finite
	// numbers of zero or more.
	ErrBadValue = errors.New("not a list of finite times")
	// ErrContradiction is returned when a report does not begin with the laps
	// of an earlier one, under Extend.
	ErrContradiction = errors.New("later report does not extend the earlier one")
)

// ParseError gives the place of an invalid report in a log. Offset counts bytes
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

// Choice selects one of several complete reports.
type Choice int

const (
	// Extend selects the last complete report; every report must begin with the
	// laps of the one before it.
	Extend Choice = iota
	// Last selects the last complete report.
	Last
	// Longest selects the complete report with most laps, the last one of equals.
	Longest
)

// Parser finds time-writer reports in a log that is written to it in pieces of any
// size. It uses 8 bytes per lap under Extend and 16 otherwise, for any length of
// the log or of its lines. The zero value is ready and uses Extend. It is not safe
// for concurrent use.
type Parser struct {
	Choice Choice

	offset  int64 // bytes consumed
	state   state
	tag     string // being matched inside a report, once two bytes of it are known
	matched int    // bytes of the tag being matched
	opened  int64  // offset of the open tag of the report being read
	reports int    // opened so far
	digits  [64]byte
	ndigits int

	kept    series // the selected report
	found   bool
	next    series // the report being read, under Last and Longest
	n       int    // laps of the report being read
	fault   *ParseError
	failed  *ParseError // first invalid completed report
	torn    *ParseError // last report that was never completed
	differs bool
	done    int // complete reports so far
}

func (p *Parser) open() {
	p.opened = p.offset + 1 - int64(len(OpenTag))
	p.reports++
	p.state = listStart
	p.matched, p.n = 0, 0
	p.fault, p.differs = nil, false
}

// add appends the next lap of the report being read.
func (p *Parser) add(x float64) {
	if p.Choice != Extend {
		p.next.set(p.n, x)
		p.n++
		return
	}
	if p.found && p.n < p.kept.n {
		if !p.differs && p.kept.value(p.n) != x {
			p.differs = true
			p.blame(ErrContradiction, fmt.Sprintf("lap %d is %v, was %v", p.n, x, p.kept.value(p.n)))
		}
	} else if !p.differs {
		p.kept.set(p.n, x) // beyond kept.n: counts once the report is complete
	}
	p.n++
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
		p.failed = nil // only the last report counts
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

// CountReports returns the number of complete reports so far. A caller that watches a
// job can use it to notice the final report.
func (p *Parser) CountReports() int { return p.done }

// tear abandons the report being read: it was never closed.
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

// Output returns the result so far, as if the log ended here. The error is a
// *ParseError. Output shares the Parser's memory: do not write to the Parser while
// it is in use.
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
	out := &Output{laps: p.kept}
	if torn != nil {
		out.Warnings = append(out.Warnings, torn)
	}
	if p.failed != nil {
		out.Warnings = append(out.Warnings, p.failed)
	}
	return out, nil
}
