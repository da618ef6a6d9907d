package trace

import (
	"bytes"
	"slices"
	"strings"
)

// freeText are the columns, in lower letters, whose text may contain what separates
// columns, or line breaks.
var freeText = []string{"jobname", "name", "comment", "admincomment", "systemcomment", "submitline", "workdir", "partition", "reason", "nodelist(reason)", "nodelist", "constraints", "features"}

func (t *table) free() (at []int) {
	for i, name := range t.names {
		if slices.Contains(freeText, strings.ToLower(name)) {
			at = append(at, i)
		}
	}
	return at
}

// mostRow is more bytes than a row may have.
const mostRow = 1 << 20

// assemble takes in a line: a row, or part of one whose text contains line breaks.
func (p *parser) assemble(t *table, line []byte) {
	n := len(t.names)
	t.split(line)
	if t.repeatsHeader() {
		return
	}
	if t.barred && !t.plausible(t.cells) { // the bar may be a column's instead
		t.cells = t.cells[:n+1]
		if !t.regroup() {
			t.cells = t.cells[:n]
		}
	}
	if len(t.cells) == n || len(t.cells) > n && t.regroup() {
		p.dropUnfinished(t)
		p.row(t)
		t.whole = true
		return
	}
	width := len(t.cells)
	free := t.free()
	switch {
	case t.by == 0 || len(free) == 0 || width > n:
		p.dropUnfinished(t)
	case t.part != nil && len(t.part)+len(line) < mostRow:
		joined := slices.Concat(t.part, []byte(" "), line)
		switch t.split(joined); {
		case len(t.cells) < n:
			t.part = joined
			return
		case len(t.cells) == n && t.plausible(t.cells) || len(t.cells) > n && t.regroup():
			t.part = nil
			p.row(t)
			t.whole = true
			return
		}
		p.dropUnfinished(t)
		p.begin(t, line)
		return
	case t.whole && free[len(free)-1] == n-1 && (width == 1 || !startsWithID(line)): // the last column goes on
		return
	case startsWithID(line):
		p.begin(t, line)
		return
	}
	t.whole = false
	p.bad("%d fields, want %d", width, n)
}

// repeatsHeader reports whether the row is the header once more, as in files put
// together from several.
func (t *table) repeatsHeader() bool {
	return len(t.cells) == len(t.names) && slices.EqualFunc(t.cells, t.names, func(cell []byte, name string) bool { return string(cell) == name })
}

// begin keeps a line as the beginning of a row, if it can be one.
func (p *parser) begin(t *table, line []byte) {
	t.whole = false
	if !startsWithID(line) {
		t.split(line)
		p.bad("%d fields, want %d", len(t.cells), len(t.names))
		return
	}
	t.part, t.from = bytes.Clone(line), p.line
}

// dropUnfinished records the beginning of a row whose end did not come.
func (p *parser) dropUnfinished(t *table) {
	if t.part == nil {
		return
	}
	cells, line := t.cells, p.line
	t.cells = nil
	t.split(t.part)
	p.line = t.from
	p.bad("%d fields, want %d", len(t.cells), len(t.names))
	t.cells = cells
	p.line = line
	t.part = nil
}

func startsWithID(line []byte) bool {
	line = bytes.TrimLeft(line, ` "`)
	return len(line) > 0 && line[0] >= '0' && line[0] <= '9'
}

// regroup puts a row with too many cells together again: the surplus belongs to one or
// two columns of free text, for which the other cells make sense.
func (t *table) regroup() bool {
	surplus, free := len(t.cells)-len(t.names), t.free()
	if t.by == 0 || surplus > 64 {
		return false
	}
	for i, first := range free {
		for _, second := range append([]int{-1}, free[i+1:]...) {
			for taken := surplus; taken >= 0; taken-- {
				rest := surplus - taken
				if second < 0 && rest > 0 || second >= 0 && (rest == 0 || taken == 0) {
					continue
				}
				cells := t.merge(t.cells, first, taken)
				if second >= 0 {
					cells = t.merge(cells, second, rest)
				}
				if t.plausible(cells) {
					t.cells = cells
					return true
				}
			}
		}
	}
	return false
}

// merge joins a cell with those behind it.
func (t *table) merge(cells [][]byte, at, behind int) [][]byte {
	joined := bytes.Join(cells[at:at+behind+1], []byte{t.by})
	return slices.Concat(cells[:at], [][]byte{joined}, cells[at+behind+1:])
}

// plausible reports whether the cells that are no text can be what their columns say.
func (t *table) plausible(cells [][]byte) bool {
	all := func(f field, ok func(string) bool) bool {
		for _, i := range t.at[f] {
			if s := string(cells[i]); !slices.Contains(nothing, s) && !ok(s) {
				return false
			}
		}
		return true
	}
	isMoment := func(s string) bool { _, _, ok := moment(s); return ok }
	isLimit := func(s string) bool { _, ok := SlurmSeconds(s); return ok || s == "UNLIMITED" || s == "Partition_Limit" }
	isNodes := func(s string) bool { _, err := nodeCount(s); return err == nil }
	isState := func(s string) bool { return strings.ToUpper(s) == s || strings.HasPrefix(s, "CANCELLED") }
	for _, f := range []field{fieldSubmit, fieldStart, fieldEnd, fieldEligible} {
		if !all(f, isMoment) {
			return false
		}
	}
	return all(fieldID, func(s string) bool { return startsWithID([]byte(s)) }) && all(fieldLimit, isLimit) && all(fieldNodes, isNodes) && all(fieldState, isState)
}
