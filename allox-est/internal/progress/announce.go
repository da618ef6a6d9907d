package progress

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// announcement says that a number that does not move may be a total of a unit.
type announcement struct {
	unit   string // "total" without one
	weight float64
	atMost bool
}

// announcedCount bounds the numbers that may be totals.
const announcedCount = 400

var (
	codes     = regexp.MustCompile(`\b[A-Z]+\d+:`)
	separated = regexp.MustCompile(`[|,;@{#]|\. `)
	lastName  = regexp.MustCompile(`[^a-z_]+$`)
	bareName  = regexp.MustCompile(`^(?:n|num|train|training)?_?[a-z]+$`)
	runWord   = regexp.MustCompile(`(?i)(?:^|[.!;] *|^.*@[^a-z]*)\s*run(?:ning)?(?: for)?\s*$`)
	glued     = regexp.MustCompile(`\w:$`) // "train:87", a line of a module
	words     = regexp.MustCompile(`[a-z_]+`)
)

// announcementOf returns what a number that comes for the first time announces, as in
// "max_epochs: 6", "Run 400 steps", "480 ntimes" or "End Time (s) 10.0".
func announcementOf(n number) (best announcement) {
	if n.total > 0 || n.percent || n.value <= 0 {
		return best
	}
	parts := separated.Split(lower(n.left, 60), -1)
	before := parts[len(parts)-1]
	after := firstPhrase(strings.ToLower(codes.ReplaceAllString(n.right, "")))
	isWhole := n.value == math.Trunc(n.value) && n.value > 1
	isCount := isWhole && !n.decimal
	if isCount && allOf.MatchString(before) {
		best = announcement{unit: "total", weight: 0.7}
	}
	if a := announcedBefore(before, isCount); a.weight > best.weight {
		best = a
	}
	if a := announcedAfter(before, after); isWhole && !glued.MatchString(before) && a.weight > best.weight {
		best = a
	}
	return best
}

// firstPhrase returns the words that a text begins with, after closing brackets.
func firstPhrase(text string) string {
	text = strings.TrimLeft(text, " \t])")
	if i := strings.IndexAny(text, ",;|0123456789"); i >= 0 {
		text = text[:i]
	}
	return text
}

// announcedBefore reads the words before a number: "max_epochs: 6", "End Time (s) 10.0".
func announcedBefore(before string, isCount bool) announcement {
	name := strings.TrimSpace(lastName.ReplaceAllString(before, ""))
	a := announcement{unit: unitOf(before), weight: weightOf(before, name), atMost: maximum.MatchString(before)}
	switch {
	case a.unit == "" || settings.MatchString(before):
		return announcement{}
	case a.unit == "time" && endTimes.MatchString(before):
		return announcement{unit: a.unit, weight: 0.8}
	case a.unit == "time" || a.unit == "progress" || !isCount:
		return announcement{}
	}
	if last := words.FindAllString(name, -1); a.weight == 0.65 && !bareName.MatchString(last[len(last)-1]) {
		a.weight = 0.45 // "profile_steps" names something else
	}
	return a
}

// announcedAfter reads the words after a number: "480 nsteps", "5000 steps, 10.0 ps".
func announcedAfter(before, after string) announcement {
	near := before + " " + after
	names := words.FindAllString(after, 4)
	i := slices.IndexFunc(names, func(w string) bool { return unitOf(w) != "" })
	switch {
	case settings.MatchString(near):
		return announcement{}
	case i < 0 && runWord.MatchString(before):
		return announcement{unit: "step", weight: 0.8}
	case i < 0:
		return announcement{}
	}
	unit := unitOf(names[i])
	if unit == "time" || unit == "progress" {
		return announcement{}
	}
	phrase := strings.Join(names[:min(len(names), 3)], " ")
	return announcement{unit: unit, weight: weightOf(near, names[0], phrase), atMost: maximum.MatchString(before)}
}

// weightOf returns how surely words, or names next to a number, announce a total.
func weightOf(near string, names ...string) float64 {
	switch {
	case announces.MatchString(" " + near + " "):
		return 0.8
	case slices.ContainsFunc(names, plurals.MatchString):
		return 0.65
	}
	return 0
}
