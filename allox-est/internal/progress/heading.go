package progress

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// heading is the row of names above the rows of a table.
type heading []string

// headingBytes bounds the rows that may be a heading.
const headingBytes = 400

var (
	cells      = regexp.MustCompile(` *[|,\t] *| {2,}`)
	bareDigits = regexp.MustCompile(`(?:^|[^A-Za-z_@])\d`)
	cellNames  = regexp.MustCompile(`^[a-z_#][\w /()%.#-]*$`)
)

// headingOf reads a row of names; false where a line is none.
func headingOf(line string) (heading, bool) {
	if len(line) > headingBytes || strings.ContainsAny(line, ":=;[]{}") || bareDigits.MatchString(line) {
		return nil, false
	}
	names := cells.Split(strings.ToLower(strings.Trim(line, " \t|")), -1)
	for i, name := range names {
		names[i] = strings.Trim(name, " \t\"'")
		if len(name) > 24 || !cellNames.MatchString(names[i]) {
			return nil, false
		}
	}
	if len(names) == 1 {
		names = strings.Fields(names[0])
	}
	return names, len(names) > 1 && (strings.ContainsAny(line, "|,\t") || strings.Contains(line, "  ") || beginsWithUnit(line))
}

// unitNames begin the names of first columns.
var unitNames = []string{"ep", "step", "it", "gen", "round", "trial"}

// beginsWithUnit reports whether a line begins with a unit's name and another word. It is
// asked about every line without a number, of which a run may print millions.
func beginsWithUnit(line string) bool {
	line = strings.TrimLeft(line, " \t")
	isUnit := slices.ContainsFunc(unitNames, func(name string) bool { return len(line) > len(name) && strings.EqualFold(line[:len(name)], name) })
	if !isUnit {
		return false
	}
	first, next, _ := strings.Cut(line, " ")
	return strings.IndexFunc(first+next[:min(len(next), 1)], func(c rune) bool { return !unicode.IsLetter(c) }) < 0 && next != ""
}

// name puts the names above the numbers of a row before them.
func (h heading) name(numbers []number) []number {
	if len(h) == 0 || len(numbers) == 0 || !numbers[0].begins {
		return numbers
	}
	for i := range numbers {
		n := &numbers[i]
		if strings.Trim(phraseOf(n.left, "#@"), " \t,|-+\"") != "" {
			return numbers
		}
		column := i
		if len(numbers) != len(h) {
			column = len(cells.FindAllString(strings.TrimLeft(n.left, " \t|"), -1))
		}
		if column < len(h) {
			n.left, n.key = h[column]+" ", h[column]+n.key
		}
	}
	return numbers
}
