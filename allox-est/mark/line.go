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

var (
	escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	// numbers are dates and times of day, which never count, or numbers.
	numbers = regexp.MustCompile(`(\d{4}-\d\d-\d\d|\d+(?::\d\d)+(?:[.,]\d+)?)|\d+(\.\d+)?([eE][-+]?\d+)?`)
	towards = regexp.MustCompile(`^ *(?:/|\\|of\b|out of\b) *(\d+)(?:[^\d.]|$)`)
)

// Bounds of what is kept of a line, in bytes.
const (
	lineBytes = 4 << 10
	keyBytes  = 32 // of the words before a number
)

// slots finds the numbers of a line that may count, and whether it tells a
// measured value: a decimal number beside them, or a time after.
func slots(line string) (found []slot, value bool) {
	if len(line) > lineBytes {
		line = line[:lineBytes]
	}
	line = escapes.ReplaceAllString(line, "")
	var words masked
	end := 0 // of what words holds
	for _, at := range numbers.FindAllStringSubmatchIndex(line, -1) {
		if at[0] < end {
			continue // what a counter grows towards
		}
		words.add(line[end:at[0]])
		before, rest := words.tail(), line[at[1]:]
		end = at[1]
		words.add("0")
		if at[2] >= 0 {
			value = value || len(found) > 0 // a bar's time, not the line's
			continue
		}
		s := slot{decimal: at[4] >= 0 || at[6] >= 0}
		value = value || s.decimal
		s.number, _ = strconv.ParseFloat(line[at[0]:at[1]], 64)
		if to := towards.FindStringSubmatchIndex(rest); to != nil && !s.decimal {
			if of, _ := strconv.ParseFloat(rest[to[2]:to[3]], 64); of >= s.number && of > 0 {
				s.of, end, rest = of, at[1]+to[3], rest[to[3]:]
				words.add("/0")
			}
		}
		if negative(line[:at[0]]) || quantity(rest) {
			continue
		}
		next := follows(rest)
		first, _ := utf8.DecodeRuneInString(next)
		s.word = unicode.IsLetter(first)
		s.key = fmt.Sprint(before, "0", next, " ", s.of)
		found = append(found, s)
	}
	return found, value
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
			if r > unicode.MaxLatin1 {
				r = '~'
			}
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
		case r > unicode.MaxLatin1:
			return "~"
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
// are wanted. Of a longer one than a few KiB the beginning counts.
func (s *Splitter) Split(b []byte, line func(string)) {
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\r\n\b")
		part := b
		if i >= 0 {
			part = b[:i]
		}
		if room := lineBytes - len(s.rest); room > 0 {
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
