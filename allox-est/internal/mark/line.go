package mark

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// slot is a number of a line that may count.
type slot struct {
	key     string // the words before it, numbers masked, what follows, and of
	number  float64
	of      float64 // the number it grows towards; 0 where none stands beside it
	decimal bool
	word    bool // a word follows it, as in "3 done"
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// Bounds of what is kept of a line, in bytes.
const (
	lineBytes = 4 << 10
	keptBytes = 1 << 20 // for what is told between tags
	keyBytes  = 32      // of the words before a number
)

// slots finds the numbers of a line that may count, and whether it tells a
// measured value: a decimal number beside them, or a time after.
func slots(line string) (found []slot, value bool) {
	if len(line) > lineBytes {
		line = line[:lineBytes]
	}
	if strings.IndexByte(line, '\x1b') >= 0 {
		line = escapes.ReplaceAllString(line, "")
	}
	var words masked
	end, at := 0, 0 // of what words holds, and of the numbers looked at
	for {
		begin := strings.IndexAny(line[at:], "0123456789") + at
		if begin < at {
			return found, value
		}
		words.add(line[end:begin])
		before := words.tail()
		stop, moment, decimal := number(line, begin)
		end, at = stop, stop
		words.add("0")
		if moment {
			value = value || len(found) > 0 // a bar's time, not the line's
			continue
		}
		s := slot{decimal: decimal}
		value = value || decimal
		s.number, _ = strconv.ParseFloat(line[begin:stop], 64)
		if of, n := towards(line[stop:]); n > 0 && !decimal && of > 0 && of >= s.number {
			s.of, end = of, stop+n
			for at = end; line[at-1] >= '0' && line[at-1] <= '9'; at-- { // its first digit
			}
			at, _, _ = number(line, at)
			words.add("/0")
		}
		rest := line[end:]
		if negative(line[:begin]) || quantity(rest) {
			continue
		}
		next := follows(rest)
		first, _ := utf8.DecodeRuneInString(next)
		s.word = unicode.IsLetter(first)
		s.key = fmt.Sprint(before, "0", next, " ", s.of)
		found = append(found, s)
	}
}

// number finds where the number that begins at i ends. A moment is a date or a time
// of day, which never counts; a decimal has a point or an exponent.
func number(line string, i int) (end int, moment, decimal bool) {
	end = digits(line, i)
	if end == i+4 && shaped(line[end:], "-00-00") {
		return end + len("-00-00"), true, false
	}
	for shaped(line[end:], ":00") {
		end, moment = end+len(":00"), true
	}
	if moment {
		if shaped(line[end:], ".0") {
			end = digits(line, end+1)
		}
		return end, true, false
	}
	if shaped(line[end:], ".0") {
		end, decimal = digits(line, end+1), true
	}
	for _, exponent := range []string{"e0", "E0", "e-0", "E-0", "e+0", "E+0"} {
		if shaped(line[end:], exponent) {
			return digits(line, end+len(exponent)-1), false, true
		}
	}
	return end, false, decimal
}

// digits is where the digits that begin at i end.
func digits(line string, i int) int {
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	return i
}

// shaped says whether a text begins like a pattern, in which 0 is any digit.
func shaped(text, pattern string) bool {
	if len(text) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if digit := text[i] >= '0' && text[i] <= '9'; text[i] != pattern[i] && (pattern[i] != '0' || !digit) {
			return false
		}
	}
	return true
}

// towards is what a number grows towards, as in 3/10 or 3 of 10, by the text after
// it, and where that ends; 0 where nothing says so.
func towards(rest string) (of float64, end int) {
	after := strings.TrimLeft(rest, " ")
	text, begins := strings.CutPrefix(after, "/")
	if !begins {
		if text, begins = strings.CutPrefix(after, "of"); text != "" && letter(text[0]) {
			return 0, 0
		}
	}
	text = strings.TrimLeft(text, " ")
	n := digits(text, 0)
	if !begins || n == 0 {
		return 0, 0
	}
	of, _ = strconv.ParseFloat(text[:n], 64)
	return of, len(rest) - len(text) + n
}

// letter says that a byte is part of a word.
func letter(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// negative says that a minus sign ends the text, not a hyphen or a range.
func negative(before string) bool {
	n := len(before)
	return n > 0 && before[n-1] == '-' && (n == 1 || strings.IndexByte(" =:([,'\"", before[n-2]) >= 0)
}

// quantity says that a number's unit follows it directly, as in 5ms or 5%.
func quantity(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '%' || unicode.IsLetter(r)
}

// masked is text with its numbers masked, in which each row of signs is its first
// one: bars and columns of one line look alike however far they are.
type masked struct {
	b    []byte
	sign bool // ends in one
}

func (m *masked) add(text string) {
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || r == '_' || unicode.IsDigit(r):
			m.b, m.sign = utf8.AppendRune(m.b, unicode.ToLower(r)), false
		case !m.sign && !unicode.IsSpace(r):
			m.b, m.sign = utf8.AppendRune(m.b, r), true
		case !m.sign && len(m.b) > 0 && m.b[len(m.b)-1] != ' ':
			m.b = append(m.b, ' ')
		}
	}
}

// tail is its end, which begins with ^ where that is the whole.
func (m *masked) tail() string {
	if len(m.b) <= keyBytes {
		return "^" + string(m.b)
	}
	return string(m.b[len(m.b)-keyBytes:])
}

// follows is the sign or the word after a number.
func follows(rest string) string {
	rest = strings.TrimLeft(rest, " \t")
	for i, r := range rest {
		switch {
		case unicode.IsLetter(r):
			continue
		case i > 0:
			return rest[:i]
		}
		return string(r)
	}
	return rest
}

// Splitter cuts what a program prints into lines, and what a bar draws into
// drawings. Its zero value is ready.
type Splitter struct {
	All  bool // yields lines without a number too
	rest []byte
}

// Split yields the lines that b completes, those with a number or a tag where not all
// are wanted. Of a longer one than a MiB the beginning counts.
func (s *Splitter) Split(b []byte, line func(string)) {
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\r\n\b")
		part := b
		if i >= 0 {
			part = b[:i]
		}
		if room := keptBytes - len(s.rest); room > 0 {
			s.rest = append(s.rest, part[:min(room, len(part))]...)
		}
		if i < 0 {
			return
		}
		if s.All && len(s.rest) > 0 || bytes.ContainsAny(s.rest, "0123456789<") {
			line(string(s.rest))
		}
		s.rest, b = s.rest[:0], b[i+1:]
	}
}

// Rest yields what was begun last and not completed.
func (s *Splitter) Rest(line func(string)) { s.Split([]byte("\n"), line) }
