package progress

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineBytes bounds the part of a line in which numbers are looked for, numberCount the
// numbers, keyBytes the masked text before a number that distinguishes it from others.
const (
	lineBytes   = 4 << 10
	numberCount = 60
	keyBytes    = 90
)

// number is a number of a line that may count.
type number struct {
	key     string // masked text before it, the sign after it, and total
	form    string // the same without the total,
	second  string // and of the total, if it counts too
	name    string // above it, in a table
	left    string // text before it, from the number before
	wide    string // the same, across numbers
	after   string // text after it and after its total
	value   float64
	total   float64 // it counts towards; 0 where the line does not say
	decimal bool
	percent bool
	word    bool // a word follows
}

// scan returns the numbers of a line, and whether it reports a measured value next to
// them: a decimal number or a duration.
func scan(line string, h heading) (found []number, measured bool) {
	x, clocks := mask(line)
	var key masked
	end, first := 0, -1
	share := "" // the text before a percentage
	for i := 0; i < len(x) && len(found) < numberCount; {
		if x[i] < '0' || x[i] > '9' || i > 0 && (x[i-1] == '.' || digit(x[i-1])) {
			i++
			continue
		}
		n := number{}
		stop, ok := n.parse(x, i)
		key.add(x[end:i])
		before := key.tail()
		negative := i > 0 && x[i-1] == '-' && (i == 1 || strings.IndexByte(" =:([,'\"|\t", x[i-2]) >= 0)
		n.left, n.wide = x[end:i], x[max(0, i-60):i]
		if share != "" && strings.HasPrefix(n.left, "%|") { // a bar
			n.left = share + n.left[2:]
		}
		n.name = h.name(x, i, stop)
		key.add("#")
		end, i = stop, stop
		if !n.decimal {
			if stop := n.pair(x, stop); stop > 0 {
				n.form = before + "|" + sign(strings.TrimLeft(x[end:], " \t"))
				key.add(x[end : end+strings.IndexAny(x[end:], "0123456789")])
				n.second = key.tail()
				key.add("#")
				end, i = stop, stop
			}
		}
		n.after = x[end:]
		if blank := len(n.after) - len(strings.TrimLeft(n.after, " \t")); blank > 1 {
			n.after = n.after[blank-1:]
		}
		n.after = n.after[:min(16, len(n.after))]
		rest := strings.TrimLeft(n.after, " \t")
		n.percent = n.total == 0 && strings.HasPrefix(rest, "%")
		if share = ""; n.percent {
			share = n.left
		}
		measured = measured || n.decimal
		if first < 0 {
			first = end
		}
		if !ok || negative || n.total == 0 && (quantity(n.after) || n.located()) {
			continue
		}
		n.word = rest != "" && letter(rest[0]) && !digit(rest[0])
		n.key = before + "|" + sign(rest)
		if n.name != "" {
			n.key += "~" + n.name
		}
		if n.total > 0 {
			n.second += "|" + sign(rest)
			n.key += "/" + strconv.FormatFloat(n.total, 'g', -1, 64)
		}
		found = append(found, n)
	}
	return found, measured || first >= 0 && clocks > first
}

// parse reads the number that begins at x[i]: thousands separators, an exponent, and a
// suffix k or M. It returns its end; ok is false where it is out of range.
func (n *number) parse(x string, i int) (end int, ok bool) {
	end = digits(x, i)
	text, factor := x[i:end], 1.0
	for _, comma := range []string{",", "_"} {
		stop := end
		for end-i <= 3 && shaped(x[stop:], comma+"000") && !shaped(x[stop:], comma+"0000") {
			stop += len(",000")
		}
		if stop > end {
			text, end = strings.ReplaceAll(x[i:stop], comma, ""), stop
			break
		}
	}
	if shaped(x[end:], ".0") {
		stop := digits(x, end+1)
		text, end, n.decimal = text+x[end:stop], stop, true
	}
	if end < len(x) && (x[end] == 'e' || x[end] == 'E') {
		begin := end + 1
		if begin < len(x) && (x[begin] == '-' || x[begin] == '+') {
			begin++
		}
		if stop := digits(x, begin); stop > begin {
			text, end, n.decimal = text+x[end:stop], stop, true
		}
	}
	if end < len(x) && (end+1 == len(x) || !letter(x[end+1])) {
		switch x[end] {
		case 'k', 'K':
			factor, end = 1e3, end+1
		case 'M':
			factor, end = 1e6, end+1
		}
	}
	n.value, _ = strconv.ParseFloat(text, 64)
	if n.value *= factor; factor > 1 {
		n.value = math.Round(n.value)
		n.decimal = false
	}
	return end, n.value < 1e15
}

// running is the part of the units that are under way, between those that ended and all.
var running = regexp.MustCompile(`^\+ ?\d+\) ?/`)

// pair reads the total after a number, as in "3/10", "3 of 10", "3 out of 10", and
// returns its end; 0 where there is none.
func (n *number) pair(x string, i int) int {
	rest := strings.TrimLeft(x[i:], " \t]")
	word := strings.ToLower(rest[:min(len(rest), 6)])
	switch {
	case strings.HasPrefix(word, "/"), strings.HasPrefix(word, "\\"):
		rest = rest[1:]
	case strings.HasPrefix(word, "out of"):
		rest = rest[6:]
	case strings.HasPrefix(word, "of "), strings.HasPrefix(word, "of["):
		rest = rest[2:]
	case strings.HasPrefix(word, "(of "):
		rest = rest[3:]
	case strings.HasPrefix(word, "+"): // "(12 + 4) / 40": ended, running, all
		if n := running.FindStringIndex(rest); n != nil {
			rest = rest[n[1]:]
			break
		}
		return 0
	default:
		return 0
	}
	rest = strings.TrimLeft(rest, " \t[(")
	if rest == "" || !digit(rest[0]) {
		return 0
	}
	total := number{}
	end, ok := total.parse(rest, 0)
	if end < len(rest) && rest[end] == '/' || !ok || total.decimal || total.value < n.value {
		return 0
	}
	n.total = total.value
	return len(x) - len(rest) + end
}

// mask replaces dates, times of day, durations and long hexadecimal numbers by "@", and
// what bars are drawn with by a space. It returns where the last time stood, too.
func mask(line string) (text string, clocks int) {
	line = line[:min(len(line), lineBytes)]
	b := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		c := line[i]
		word := i == 0 || !letter(line[i-1])
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(line[i:])
			if bar := r >= 0x2500 && r <= 0x259f || r >= 0x2800 && r <= 0x28ff; bar {
				if len(b) > 0 && b[len(b)-1] != ' ' {
					b = append(b, ' ')
				}
			} else {
				b = append(b, line[i:i+n]...)
			}
			i += n
			continue
		case word && (i == 0 || line[i-1] != '.') && (digit(c) || c >= 'a' && c <= 'f'):
			if n := identifier(line[i:]); n > 0 {
				b, i = append(b, '@'), i+n
				continue
			}
		}
		if digit(c) && (i == 0 || line[i-1] != '.' && !digit(line[i-1])) {
			if n := clock(line[i:], word); n > 0 {
				b, i = append(b, '@'), i+n
				clocks = len(b)
				continue
			}
			n := digits(line, i)
			b, i = append(b, line[i:n]...), n
			continue
		}
		if strings.IndexByte("=>#*.-_+", c) >= 0 {
			n := i
			for n < len(line) && strings.IndexByte("=>#*.-_+", line[n]) >= 0 {
				n++
			}
			if n-i >= 3 || c == '#' {
				b, i = append(b, ' '), n
				continue
			}
		}
		b, i = append(b, c), i+1
	}
	return string(b), clocks
}

// clock returns the length of the date, time of day or duration that a text begins
// with; 0 where it begins with none.
func clock(x string, word bool) int {
	end := digits(x, 0)
	for _, date := range []string{"-00-00", "/00/00", ".00.00", "-0-0", "/0/0", ".0.0"} {
		if !shaped(x[end:], date) || end > 4 {
			continue
		}
		end = digits(x, end+1)
		end = digits(x, end+1)
		return end + moment(x[end:])
	}
	if n := moment(x[end:]); n > 0 && (word && end >= 6 && end <= 8 || end <= 2 && strings.HasPrefix(x[end:], "/")) {
		return end + n
	}
	if shaped(x[end:], "/00 ") && end == 2 && x[:2] <= "12" && x[end+1:end+3] <= "31" { // month and day, then a time
		if n := moment(x[end+3:]); n > 0 && strings.Count(x[end+3:end+3+n], ":") == 2 && !strings.HasPrefix(x[end+3+n:], "<") {
			return end + 3 + n
		}
	}
	if n := daytime(x); n > 0 {
		return n
	}
	rest := strings.TrimPrefix(x[end:], " ")
	at := func(rest string) int { return len(x) - len(rest) }
	for _, day := range []string{"days", "day"} {
		if strings.HasPrefix(rest, day) && len(x[end:]) > len(rest) {
			return at(strings.TrimLeft(rest[len(day):], ", "))
		}
	}
	for _, units := range []string{"hms", "ms"} {
		if n := compound(x, units); n > 0 {
			return n
		}
	}
	return 0
}

// moment returns the length of a time of day after a date.
func moment(x string) int {
	rest := strings.TrimLeft(x, "T _")
	if len(rest) == len(x) {
		return 0
	}
	if n := daytime(rest); n > 0 {
		return len(x) - len(rest) + n
	}
	return 0
}

// daytime returns the length of a text like 1:02, 1:02:03 or 1:02:03.4.
func daytime(x string) int {
	end := digits(x, 0)
	begin := end
	for n := 0; n < 2 && end > 0 && shaped(x[end:], ":00") && !shaped(x[end:], ":000"); n++ {
		end += len(":00")
	}
	if end == begin {
		return 0
	}
	if shaped(x[end:], ".0") || shaped(x[end:], ",0") {
		end = digits(x, end+1)
	}
	return end
}

// compound returns the length of a duration of at least two units, as 1h02m or 3m 4s.
func compound(x, units string) int {
	end, seen := 0, 0
	for ; seen < len(units); seen++ {
		begin := len(x) - len(strings.TrimLeft(x[end:], " "))
		stop := digits(x, begin)
		next := len(x) - len(strings.TrimLeft(x[stop:], " "))
		if stop == begin || next == len(x) || x[next] != units[seen] || next+1 < len(x) && x[next+1] >= 'a' && x[next+1] <= 'z' {
			break
		}
		end = next + 1
	}
	if seen < 2 {
		return 0
	}
	return end
}

// identifier returns the length of a hexadecimal identifier: ten digits, or six of which some
// are letters, perhaps below a folder of two digits, as in "3f/a1b2c3".
func identifier(x string) int {
	folder := 0
	if len(x) > 3 && x[2] == '/' && hexadecimal(x[0]) && hexadecimal(x[1]) {
		folder = 3
	}
	n, digits, letters := folder, 0, 0
	for n < len(x) && hexadecimal(x[n]) {
		if digits++; !digit(x[n]) {
			letters++
		}
		n++
	}
	exponent := letters == 1 && strings.Contains(x[:n], "e")
	switch {
	case n < len(x) && letter(x[n]), letters == digits && folder == 0:
		return 0
	case digits >= 10, digits >= 6 && letters > 0 && !exponent, folder > 0 && digits >= 6 && !(digit(x[0]) && digit(x[1])):
		return n
	}
	return 0
}

func hexadecimal(b byte) bool { return digit(b) || b >= 'a' && b <= 'f' }

func digit(b byte) bool { return b >= '0' && b <= '9' }

// letter says that a byte is part of a word.
func letter(b byte) bool {
	return b == '_' || digit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// digits returns the end of the digits that begin at i.
func digits(x string, i int) int {
	for i < len(x) && digit(x[i]) {
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
		if text[i] != pattern[i] && (pattern[i] != '0' || !digit(text[i])) {
			return false
		}
	}
	return true
}

// quantity says that a number's unit of measurement follows it directly, as in 5ms.
func quantity(after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	if unicode.IsLetter(r) {
		return unit(wordOf(after)) == ""
	}
	if !named(after) {
		return false
	}
	end := measurement.FindStringIndex(after)
	return end != nil && !label.MatchString(after[end[1]:])
}

// sign returns the first sign or letter of a text, digits and their signs masked.
func sign(rest string) string {
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case n == 0:
		return ""
	case unicode.IsDigit(r) || r == '-' || r == '+':
		return "#"
	}
	return rest[:n]
}

// masked is text without the spaces next to signs, in which names of files are "@".
type masked struct {
	b     []byte
	token int  // the begin of the word that b ends with
	space bool // one came after a word
}

func (m *masked) add(text string) {
	for i := range len(text) {
		c := text[i]
		if c == ' ' || c == '\t' {
			m.maskFile()
			m.space = len(m.b) > 0 && letter(m.b[len(m.b)-1])
			continue
		}
		inWord := letter(c) || c >= utf8.RuneSelf
		if m.space && inWord {
			m.b = append(m.b, ' ')
			m.token = len(m.b)
		}
		m.space = false
		if !inWord && strings.IndexByte(".-/\\#", c) < 0 {
			m.maskFile()
			m.b = append(m.b, c)
			m.token = len(m.b)
			continue
		}
		if digit(c) { // of a number that is none of the line's
			if n := len(m.b); n > 0 && m.b[n-1] == '#' {
				continue
			}
			c = '#'
		}
		m.b = append(m.b, c)
	}
}

// maskFile replaces a word that ends here by "@" if it is the name of a file.
func (m *masked) maskFile() {
	name := m.b[m.token:]
	dot := -1
	for i := len(name) - 2; i > 0 && dot < 0; i-- {
		if name[i] == '.' {
			dot = i
		}
	}
	if dot > 0 && letter(name[0]) && letter(name[dot+1]) && !digit(name[dot+1]) {
		m.b = append(m.b[:m.token], '@')
	}
	m.token = len(m.b)
}

func (m *masked) tail() string {
	if len(m.b) <= keyBytes {
		return "^" + string(m.b)
	}
	return string(m.b[len(m.b)-keyBytes:])
}
