package progress

import (
	"regexp"
	"strconv"
	"strings"
)

// token is a number in a line.
type token struct {
	begin, end int // in the masked line
	value      float64
	decimal    bool
}

// span is a duration or a time of day in a line.
type span struct {
	seconds float64
	begin   int  // in the masked line
	clock   bool // written with colons
	left    bool // by the words next to it it is left
	ends    bool // the words before it say that it is an end
}

// Dates, durations and numbers, each as they begin.
var (
	dateForm  = regexp.MustCompile(`^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}-\d{1,2}-\d{2,4}|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}[ -](?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*[ -]?\d{4})`)
	dayForm   = regexp.MustCompile(`^\d\d/\d\d \d\d:\d\d:\d\d`)
	hashForm  = regexp.MustCompile(`^(?:[0-9a-f]{2}/[0-9a-f]{6}|[0-9a-f]{6,})\b`) // "3fa9c1", "7b/3fa9c1"
	month     = regexp.MustCompile(`(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +$`)
	position  = regexp.MustCompile(`(?:\w\.([A-Za-z]\w*)[:(]|\w:[A-Za-z_]\w*:)$`)
	spanForm  = regexp.MustCompile(`^(?:(?:(\d+) ?(?:days?|d),? *)?(?:(\d+):(\d\d):(\d\d(?:[.,]\d+)?)|(\d+):(\d\d(?:\.\d+)?))|(?:(\d+) ?(?:days?|d)[, :]*)?(?:(\d+(?:\.\d+)?) ?h(?:rs?|ours?)?[ :]*)?(?:(\d+(?:\.\d+)?) ?m(?:in(?:ute)?s?)?[ :]*)?(\d+(?:\.\d+)?) ?(?:seconds?|secs?|s)|(?:(\d+) ?(?:days?|d)[, :]*)?(\d+(?:\.\d+)?) ?h(?:rs?|ours?)?(?: ?(\d+) ?m(?:in)?)?|(\d+(?:\.\d+)?) ?(?:minutes?|mins?|m))`)
	scales    = []float64{86400, 3600, 60, 1, 60, 1, 86400, 3600, 60, 1, 86400, 3600, 60, 60} // of its groups
	leftName  = regexp.MustCompile(`(?i)(?:eta|etc|remain\w*|left|to go|rest\w*|finish\w*)\b[^a-z0-9]{0,6}$`)
	leftAfter = regexp.MustCompile(`(?i)^[\s()]*(?:left|remain|to go)`)
	endName   = regexp.MustCompile(`(?i)(?:eta|etc|finish\w*|complet\w*|\bend\w*|done)\b[^\d]{0,24}$`)
	workClock = regexp.MustCompile(`(?:\btime=|Duration: )$`)
	suffixes  = map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'B': 1e9}
)

// lineBytes bounds what is read of a line, and tokenCount its numbers.
const (
	lineBytes  = 6000
	tokenCount = 60
)

// scanner finds the numbers of a line. Dates, clocks and durations become @ in its masked
// text, bars become spaces.
type scanner struct {
	line   string
	masked []byte
	tokens []token
	spans  []span
}

func scan(line string) scanner {
	s := scanner{line: line[:min(len(line), lineBytes)]}
	for i := 0; i < len(s.line) && len(s.tokens) < tokenCount; {
		i += s.scanAt(i)
	}
	return s
}

// scanAt takes in what is at a place of the line and returns its length.
func (s *scanner) scanAt(i int) int {
	rest := s.line[i:]
	c := rest[0]
	if n := barLength(rest); n > 0 {
		s.masked = append(s.masked, ' ')
		return n
	}
	if n := len(s.masked); (isDigit(c) || c >= 'a' && c <= 'f') && (n == 0 || !isWord(s.masked[n-1])) {
		if length := hashLength(rest); length > 0 {
			s.masked = append(s.masked, '@')
			return length
		}
	}
	if !isDigit(c) && !(c == '.' && len(rest) > 1 && isDigit(rest[1])) {
		s.masked = append(s.masked, c)
		return 1
	}
	if n := len(s.masked); n > 0 && (isLetter(s.masked[n-1]) || s.masked[n-1] == '.' || isDigit(s.masked[n-1])) {
		s.masked = append(s.masked, c) // in a name
		return 1
	}
	if n := s.dateLength(rest); n > 0 {
		s.masked = append(s.masked, '@')
		return n
	}
	if n := s.takeSpan(i); n > 0 {
		return n
	}
	return s.takeNumber(rest)
}

// hashLength returns the length of the hexadecimal identifier, of digits and letters, that a
// text begins with; 0 if there is none.
func hashLength(text string) int {
	hash := hashForm.FindString(text)
	if !strings.ContainsAny(hash, "abcdef") || !strings.ContainsAny(hash, "0123456789") {
		return 0
	}
	return len(hash)
}

// barLength returns the length of a drawn bar that a text begins with; 0 if there is none.
func barLength(text string) int {
	if text[0] == 0xe2 && len(text) > 2 && (text[1] >= 0x94 && text[1] <= 0x96 || text[1] >= 0xa0 && text[1] <= 0xa3) {
		return 3 // box drawing, block elements, Braille
	}
	if text[0] == '#' {
		return 1
	}
	if !strings.ContainsRune("=>*._-+~", rune(text[0])) {
		return 0
	}
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	if n < 3 {
		return 0
	}
	return n
}

// dateLength returns the length of the date, the identifier or the line of a source file that a
// text begins with; 0 if there is none.
func (s *scanner) dateLength(text string) int {
	n := digitsOf(text)
	if n == len(text) {
		return 0
	}
	before := s.masked[max(0, len(s.masked)-16):]
	next := text[n]
	namesMonth := next == ' ' && n < 3 && n+1 < len(text) && strings.IndexByte("JFMASOND", text[n+1]) >= 0
	if namesMonth || strings.IndexByte("-/.", next) >= 0 && n <= 4 {
		if at := dateForm.FindStringIndex(text); at != nil && (at[1] == len(text) || !isDigit(text[at[1]]) && text[at[1]] != '/') {
			return at[1]
		}
	}
	if next == ' ' && n < 3 && month.Match(before) {
		return n
	}
	if next == '/' && dayForm.MatchString(text) && strings.Trim(string(s.masked), " [(") == "" {
		return len("06/12") // the line begins with a day and its clock
	}
	if len(before) > 0 && (before[len(before)-1] == ':' || before[len(before)-1] == '(') {
		if at := position.FindSubmatch(before); at != nil && (at[1] != nil && unitOf(string(at[1])) == "" || at[1] == nil && text[n] == ' ') {
			return n
		}
	}
	return 0
}

// digitsOf returns how many digits a text begins with.
func digitsOf(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// takeSpan takes in the duration or the time of day at a place of the line and returns its
// length; 0 if there is none. Seconds alone may be simulated time: they stay a number.
func (s *scanner) takeSpan(i int) int {
	unit := strings.TrimLeft(s.line[i:], "0123456789.")
	unit = strings.TrimPrefix(unit, " ")
	if unit == "" || strings.IndexByte(":dhms", unit[0]) < 0 || unit[0] == ':' && (len(unit) == 1 || !isDigit(unit[1])) {
		return 0
	}
	at := spanForm.FindStringSubmatchIndex(s.line[i:])
	if at == nil {
		return 0
	}
	rest := s.line[i+at[1]:]
	if rest != "" && (isLetter(rest[0]) || isDigit(rest[0]) || rest[0] == '/' || rest[0] == ':') && at[4] < 0 {
		return 0
	}
	found := span{begin: len(s.masked), clock: at[4] >= 0}
	parts := 0
	for g, scale := range scales {
		if from := at[2*g+2]; from >= 0 {
			v, _ := strconv.ParseFloat(strings.Replace(s.line[i+from:i+at[2*g+3]], ",", ".", 1), 64)
			found.seconds += scale * v
			parts++
		}
	}
	before := string(s.masked[max(0, len(s.masked)-40):])
	if found.clock && workClock.MatchString(before) {
		s.tokens = append(s.tokens, token{found.begin, found.begin + 1, found.seconds, true})
		s.masked = append(s.masked, '0')
		return at[1]
	}
	found.left = leftName.MatchString(before) || leftAfter.MatchString(rest)
	found.ends = found.clock && endName.MatchString(before)
	s.spans = append(s.spans, found)
	if at[20] >= 0 && parts == 1 && !found.left {
		return 0
	}
	s.masked = append(s.masked, '@')
	return at[1]
}

// takeNumber takes in the number that a text begins with and returns its length.
func (s *scanner) takeNumber(text string) int {
	n, digits := numberOf(text)
	value, err := strconv.ParseFloat(digits, 64)
	scale := 1.0
	if n < len(text) && suffixes[text[n]] > 0 && (n+1 == len(text) || !isLetter(text[n+1]) && !isDigit(text[n+1])) {
		scale = suffixes[text[n]]
		n++
	}
	if err != nil {
		s.masked = append(s.masked, text[:n]...)
		return n
	}
	begin := len(s.masked)
	if begin > 0 && s.masked[begin-1] == '-' && (begin == 1 || !isLetter(s.masked[begin-2]) && !isDigit(s.masked[begin-2]) && s.masked[begin-2] != ']') {
		value = -value
	}
	s.masked = append(s.masked, text[:n]...)
	decimal := strings.ContainsAny(strings.TrimSuffix(digits, "."), ".eE") && scale == 1
	s.tokens = append(s.tokens, token{begin, begin + n, value * scale, decimal})
	return n
}

// numberOf returns the length of the number that a text begins with, and its plain form.
func numberOf(text string) (n int, plain string) {
	n = digitsOf(text)
	plain = text[:n]
	for n > 0 && len(text) > n+3 && (text[n] == ',' || text[n] == '_') && digitsOf(text[n+1:]) == 3 {
		plain += text[n+1 : n+4]
		n += 4
	}
	if n < len(text) && text[n] == '.' {
		more := 1 + digitsOf(text[n+1:])
		plain += text[n : n+more]
		n += more
	}
	if len(text) > n+1 && (text[n]|0x20 == 'e' || text[n]|0x20 == 'd') {
		sign := 0
		if text[n+1] == '-' || text[n+1] == '+' {
			sign = 1
		}
		if digits := digitsOf(text[n+1+sign:]); digits > 0 {
			plain += "e" + text[n+1:n+1+sign+digits]
			n += 1 + sign + digits
		}
	}
	return n, plain
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isWord(c byte) bool   { return isDigit(c) || isLetter(c) }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
