package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/dataset"
)

// freeText are the columns, in lower letters, whose text may contain what separates
// columns, or line breaks.
var freeText = []string{"jobname", "name", "comment", "admincomment", "systemcomment", "submitline", "workdir", "partition", "reason", "nodelist", "constraints", "features"}

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
	whole := t.takeApart(line)
	if t.repeatsHeader() {
		return
	}
	if !whole && t.part != nil && len(t.part)+len(line) < mostRow {
		joined := slices.Concat(t.part, []byte(" "), line)
		whole = t.takeApart(joined) && t.plausible(t.cells)
		switch {
		case whole:
			t.part = nil
		case len(t.cells) < len(t.names):
			t.part = joined
			return
		default:
			t.takeApart(line)
		}
	}
	p.dropUnfinished(t)
	if whole {
		p.row(t)
		t.whole = true
		return
	}
	free := t.free()
	breaks := t.by != 0 && len(free) > 0 && len(t.cells) <= len(t.names)
	switch {
	case breaks && t.whole && free[len(free)-1] == len(t.names)-1 && (len(t.cells) == 1 || !startsWithID(line)): // the last column goes on
		return
	case breaks && startsWithID(line):
		t.part, t.from = bytes.Clone(line), p.line
	default:
		p.bad("%d fields, want %d", len(t.cells), len(t.names))
	}
	t.whole = false
}

// takeApart splits a line into cells and reports whether they are those of a row.
func (t *table) takeApart(line []byte) bool {
	n := len(t.names)
	t.split(line)
	if t.barred && !t.plausible(t.cells) { // the bar may be a column's instead
		t.cells = t.cells[:n+1]
		if !t.regroup() {
			t.cells = t.cells[:n]
		}
	}
	return len(t.cells) == n || len(t.cells) > n && t.regroup()
}

// repeatsHeader reports whether the row is the header once more, as in files put
// together from several.
func (t *table) repeatsHeader() bool {
	return len(t.cells) == len(t.names) && slices.EqualFunc(t.cells, t.names, func(cell []byte, name string) bool { return string(cell) == name })
}

// dropUnfinished records the beginning of a row whose end did not come.
func (p *parser) dropUnfinished(t *table) {
	if t.part != nil {
		const kind = "%d fields, want %d"
		p.drop(kind, &dataset.SyntaxError{File: p.file, Line: t.from, Msg: fmt.Sprintf(kind, bytes.Count(t.part, []byte{t.by})+1, len(t.names))})
		t.part = nil
	}
}

func startsWithID(line []byte) bool {
	line = bytes.TrimLeft(line, ` "`)
	return len(line) > 0 && line[0] >= '0' && line[0] <= '9'
}

// regroup puts a row with too many cells together again: the surplus belongs to a column of
// free text for which the other cells make sense.
func (t *table) regroup() bool {
	surplus := len(t.cells) - len(t.names)
	if t.by == 0 {
		return false
	}
	for _, at := range t.free() {
		joined := bytes.Join(t.cells[at:at+surplus+1], []byte{t.by})
		cells := slices.Concat(t.cells[:at], [][]byte{joined}, t.cells[at+surplus+1:])
		if t.plausible(cells) {
			t.cells = cells
			return true
		}
	}
	return false
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
