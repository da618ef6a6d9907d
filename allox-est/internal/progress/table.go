package progress

import (
	"strings"
	"unicode"
)

// heading is the row of names above the rows of a table.
type heading struct {
	names []string
	sep   string // between the cells; empty for spaces
	first bool   // only the first cell of a row is surely below its name: names have spaces
}

// headingBytes bounds the rows that may be a heading.
const headingBytes = 400

// separators of the cells of a table, the likeliest first.
var separators = []string{"|", ",", "\t"}

// headingOf reads a row of names; false where a line is none. Names in a row of words are
// those of columns only if the first one is a unit.
func headingOf(line string) (h heading, ok bool) {
	if len(line) > headingBytes || strings.Contains(line, "://") {
		return heading{}, false
	}
	line = strings.ToLower(strings.Trim(line, " \t|"))
	for _, sep := range separators {
		if strings.Contains(line, sep) {
			h.sep = sep
			break
		}
	}
	if h.sep != "" {
		h.names = strings.Split(line, h.sep)
	} else {
		h.names = strings.Fields(line)
		h.first = strings.Contains(line, "  ")
	}
	if len(h.names) < 2 {
		return heading{}, false
	}
	for i, name := range h.names {
		name = strings.Trim(name, " \t\"'#")
		if len(name) > 24 || strings.ContainsAny(name, ":=;[]{}") || h.sep == "," && strings.Contains(name, " ") {
			return heading{}, false
		}
		h.names[i] = name
		ok = ok || strings.ContainsFunc(name, unicode.IsLetter)
	}
	if !ok || h.names[0] == "" || h.sep == "" && !h.first && unit(h.names[0]) != h.names[0] {
		return heading{}, false
	}
	return h, true
}

// name returns the name above the number at x[begin:end] of a row; empty where the row is
// of another form.
func (h heading) name(x string, begin, end int) string {
	if len(h.names) == 0 {
		return ""
	}
	if h.sep == "" {
		if strings.TrimLeft(x[:begin], " \t") != "" || end == len(x) || x[end] != ' ' && x[end] != '\t' {
			return ""
		}
		if rest := strings.Fields(x[end:]); len(rest) == 0 || !numeric(rest[0]) || !h.first && len(rest)+1 != len(h.names) {
			return ""
		}
		return h.names[0]
	}
	cell, _, _ := strings.Cut(x[end:], h.sep)
	if strings.Trim(cell, " \t\"") != "" {
		return "" // not all of a cell
	}
	left := strings.Trim(x[:begin], " ")
	if h.sep == "|" {
		left, x = strings.TrimPrefix(left, "|"), strings.Trim(x, " \t|")
	}
	if left != "" && !strings.HasSuffix(left, h.sep) || strings.Count(x, h.sep)+1 != len(h.names) {
		return ""
	}
	return h.names[strings.Count(left, h.sep)]
}

// numeric says that a cell is a number, or a value that is not known.
func numeric(cell string) bool {
	cell = strings.TrimLeft(cell, "+-.")
	return cell != "" && digit(cell[0]) || strings.EqualFold(cell, "nan") || strings.EqualFold(cell, "none") || strings.EqualFold(cell, "inf")
}

// onlyWords says that all digits of a line are parts of names.
func onlyWords(line string) bool {
	for i := range len(line) {
		if digit(line[i]) && (i == 0 || !letter(line[i-1]) && line[i-1] != '-') {
			return false
		}
	}
	return true
}
