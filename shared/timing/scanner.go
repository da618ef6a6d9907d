package timing

import (
	"bytes"
	"fmt"
	"strconv"
)

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

// Write consumes a piece of the log. It never fails: Output returns the errors of
// reports.
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

// number reads a whole number if b begins with one and also holds the following
// byte, and returns its length; 0 leaves the bytes to consume.
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
			p.digits[0], p.ndigits = c, 1
			p.state = number
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
	if err != nil || !finishedNumber(text) {
		p.reject(fmt.Sprintf("lap %d is %q", p.n, text))
		return
	}
	p.add(x)
	p.state = separator
	p.separate(c)
}

// finishedNumber rejects "2.", which a torn 2.5 looks like, and 007.
func finishedNumber(text []byte) bool {
	if text[0] == '0' && len(text) > 1 && '0' <= text[1] && text[1] <= '9' {
		return false
	}
	dot := bytes.IndexByte(text, '.')
	return dot < 0 || dot+1 < len(text) && text[dot+1] <= '9'
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

// matchClose looks for the close tag, and for an open tag, which means that the
// report being read was torn. It reports whether c belongs to a tag so far.
func (p *Parser) matchClose(c byte) bool {
	switch p.matched {
	case 0:
		if c == '<' {
			p.matched = 1
		}
		return c == '<'
	case 1:
		p.tag = CloseTag
		if c == OpenTag[1] {
			p.tag = OpenTag
		}
	}
	if c != p.tag[p.matched] {
		return p.mismatch(c)
	}
	p.matched++
	switch {
	case p.matched < len(p.tag):
	case p.tag == CloseTag:
		p.close()
	default:
		p.tear()
		p.open()
	}
	return true
}

// mismatch abandons a tag in the list at a byte that may begin the next one.
func (p *Parser) mismatch(c byte) bool {
	p.reject("'<' in the list")
	p.matched = 0
	if c == '<' {
		p.matched = 1
	}
	return c == '<'
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
