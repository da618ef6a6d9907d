package progress

import (
	"math"
	"regexp"
	"strings"
)

// number is one number of a line, with the text next to it.
type number struct {
	key     string // of its place: the words to its left, in the form that its next line shares
	left    string // the text to its left, other numbers as #
	right   string
	begins  bool // it begins its line
	value   float64
	total   float64 // next to it, as in "3/90"; 0 without one
	atMost  bool    // the total is a maximum
	decimal bool
	percent bool
	counted bool  // its percentage is in the line too: it counts the units done
	reports bool  // its line goes on with a decimal
	span    *span // where it is a duration or a time of day; nil of other numbers
}

// pairGap matches the text between a number and its total.
var pairGap = regexp.MustCompile(`(?i)^\s*(?:[kmgt]?i?b|[a-z]{1,12})?[\s\]]*(?:/|\\|\(?of|out of|out of a maximum of|of a maximum of|of at most|von|sur|de|di)[\s\[]*$`)

// numbers returns the numbers of a scanned line.
func (s *scanner) numbers() []number {
	var found []number
	var left []byte
	var ends []int // in left
	x := string(s.masked)
	at := 0
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		left = append(left, x[at:t.begin]...)
		at = t.end
		n := number{value: t.value, decimal: t.decimal, right: x[t.end:min(len(x), t.end+40)]}
		ends = append(ends, len(left))
		left = append(left, '#')
		if i+1 < len(s.tokens) {
			next := s.tokens[i+1]
			if gap := x[t.end:next.begin]; len(gap) < 40 && gap != "" && next.value >= t.value && t.value >= 0 && pairGap.MatchString(gap) {
				n.total, n.atMost = next.value, maximum.MatchString(gap)
				n.right = x[next.end:min(len(x), next.end+40)]
				left, at = append(append(left, gap...), '#'), next.end
				i++
			}
		}
		n.percent = beginsWith(n.right, "%p") && percentAt.MatchString(n.right)
		if first := found; n.total == 0 && !n.percent && len(first) > 0 && first[0].total > 0 && first[0].value == first[0].total && n.value <= first[0].total && n.isFinished() {
			n.total = first[0].total // "40/40 trials (3 running, 12 terminated)"
		}
		found = append(found, n)
	}
	all := string(left)
	for i := range found {
		n := &found[i]
		n.left = all[:ends[i]]
		n.begins = strings.Trim(n.left, " \t[(|\"'@") == ""
		n.key = keyOf(*n)
		bar, _, isBar := strings.Cut(n.right, "@<")
		n.counted = n.total > 0 && isBar && !strings.ContainsAny(bar, "0123456789") // with its remaining time
		for j, other := range found {
			if n.total > 0 && other.percent && math.Abs(100*n.value/n.total-other.value) < 1.01 {
				n.counted = true
			}
			n.reports = n.reports || n.isFinished() || j > i && other.decimal && !other.percent
		}
	}
	return found
}

// isFinished reports whether the word after a number says that something ended.
func (n *number) isFinished() bool {
	return beginsWith(n.right, "tfcsd") && finished.MatchString(n.right)
}

// beginsWith reports whether the first sign of a text after spaces and brackets is one of some
// lower-case ones.
func beginsWith(text, signs string) bool {
	text = strings.TrimLeft(text, " \t)")
	return text != "" && (strings.IndexByte(signs, text[0]) >= 0 || isLetter(text[0]) && strings.IndexByte(signs, text[0]|0x20) >= 0)
}

// keyBytes bounds the words that tell places apart.
const keyBytes = 90

// keyOf returns the key of a number's place.
func keyOf(n number) string {
	key := normalise(n.left[max(0, len(n.left)-keyBytes):])
	if strings.TrimSpace(n.left) == "" {
		key += rowName.FindStringSubmatch(n.right)[1]
	}
	next := strings.TrimLeft(n.right, " \t")
	switch {
	case next == "":
	case isDigit(next[0]) || next[0] == '-' || next[0] == '.':
		key += "|#"
	default:
		key += "|" + next[:1]
	}
	if n.total > 0 {
		key += "/" + plain(n.total)
	}
	return key
}

// normalise returns a text without its digits and spaces next to signs.
func normalise(text string) string {
	key := make([]byte, 0, len(text)+16)
	for i := range len(text) {
		c, last := text[i], byte(' ')
		if len(key) > 0 {
			last = key[len(key)-1]
		}
		switch {
		case c == ' ' || c == '\t':
			if last != ' ' {
				key = append(key, ' ')
			}
		case isDigit(c):
			if last != '@' {
				key = append(key, '@')
			}
		default:
			if n := len(key); last == ' ' && n > 1 && !(isLetter(c) && isLetter(key[n-2])) {
				key = key[:n-1]
			}
			key = append(key, c)
		}
	}
	return string(key)
}

// near returns the lower-case words just before a number, after the last separator.
func (n *number) near() string {
	left := strings.TrimRight(n.words(), " |:=")
	return phraseOf(left[max(0, len(left)-32):], "|,;#@")
}

// name returns the lower-case words that name a number, after the last bracket or separator.
func (n *number) name() string { return phraseOf(lower(n.left, 24), "])|,;#@") }

// words returns the lower-case words before a number, without repeated spaces.
func (n *number) words() string {
	return strings.Join(strings.Fields(lower(n.left, 120)), " ")
}

// unit returns the unit of a number: that of the nearest word before it, never across
// another number, else of the next one after it.
func (n *number) unit() string {
	unit := unitOf(n.near())
	if unit == "" && !nextName.MatchString(n.right) {
		unit = unitOf(strings.ToLower(rowName.FindStringSubmatch(n.right)[1]))
	}
	return unit
}
