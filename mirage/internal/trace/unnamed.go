package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sampleRows is the number of rows from which the columns of a table without a header are recognised.
const sampleRows = 200

// headed returns a table with the columns of its header, or, if the first line is a job,
// with columns that are recognised by their values.
func (p *parser) headed(t *table, line []byte, r *bufio.Reader) *table {
	if t.by == 0 || len(t.at[fieldID])+len(t.at[fieldSubmit])+len(t.at[fieldStart]) > 0 {
		return t
	}
	line = bytes.Clone(line)
	head, _ := r.Peek(1 << 15) // what there is
	lines := append([][]byte{line}, bytes.Split(head, []byte{'\n'})...)
	rows := [][]string{}
	for _, l := range lines[:min(len(lines)-1, sampleRows)+1] {
		cells := strings.Split(strings.TrimRight(string(l), "\r\n"), string(t.by))
		if len(rows) == 0 || len(cells) == len(rows[0]) {
			rows = append(rows, cells)
		}
	}
	found := recognised(rows)
	if found == nil {
		return t
	}
	t = newTable(strings.Repeat("?"+string(t.by), len(rows[0])-1) + "?")
	var said []string
	for f, column := range found {
		name := columns[f][0]
		t.names[column], t.at[f] = name, []int{column}
		said = append(said, fmt.Sprintf("%s in column %d", name, column+1))
	}
	slices.Sort(said)
	p.warn("%s: no header, so columns are recognised by their values: %s", p.file, strings.Join(said, ", "))
	t.first = line
	return t
}

// recognised returns the column of each field that its values identify; nil if they do not
// identify the needed ones.
func recognised(rows [][]string) map[field]int {
	width := len(rows[0])
	found, taken := map[field]int{}, make([]bool, width)
	every := func(c int, ok func(row []string, cell string) bool) bool {
		seen := 0
		for _, row := range rows {
			if slices.Contains(nothing, row[c]) {
				continue
			}
			if !ok(row, row[c]) {
				return false
			}
			seen++
		}
		return seen > 0
	}
	first := func(f field, ok func(row []string, cell string) bool) {
		for c := range width {
			if !taken[c] && every(c, ok) {
				found[f], taken[c] = c, true
				return
			}
		}
	}
	isTime := func(_ []string, s string) bool { _, ok := naiveSeconds(s); return ok }
	var moments []int
	for c := range width {
		if every(c, isTime) {
			moments, taken[c] = append(moments, c), true
		}
	}
	order := map[int][]field{3: {fieldSubmit, fieldStart, fieldEnd}, 4: {fieldSubmit, fieldEligible, fieldStart, fieldEnd}}[len(moments)]
	if order == nil {
		return nil
	}
	// Each time is no later than the next, whatever the order of the columns.
	total := func(c int) (sum int64) {
		for _, row := range rows {
			at, _ := naiveSeconds(row[c])
			sum += at / int64(len(rows))
		}
		return sum
	}
	slices.SortStableFunc(moments, func(a, b int) int { return int(min(max(total(a)-total(b), -1), 1)) })
	for i, f := range order {
		found[f] = moments[i]
	}
	first(fieldID, func(_ []string, s string) bool { return startsWithID([]byte(s)) && !strings.ContainsAny(s, ":-=") })
	first(fieldState, func(_ []string, s string) bool { return slices.Contains(states, stateOf(s)) })
	ran := func(row []string) int64 {
		start, _ := naiveSeconds(row[found[fieldStart]])
		end, _ := naiveSeconds(row[found[fieldEnd]])
		return end - start
	}
	isSpan := func(s string) bool { _, ok := SlurmSeconds(s); return ok && strings.Contains(s, ":") }
	first(fieldElapsed, func(row []string, s string) bool { n, _ := SlurmSeconds(s); return isSpan(s) && n == ran(row) })
	first(fieldExit, func(_ []string, s string) bool {
		code, signal, ok := strings.Cut(s, ":")
		return ok && number(code) && number(signal)
	})
	first(fieldLimit, func(_ []string, s string) bool { return isSpan(s) || s == "UNLIMITED" })
	first(fieldAllocated, func(_ []string, s string) bool { return Nodes.In(s) > 0 })
	nodesOf := func(row []string) int {
		if c, ok := found[fieldAllocated]; ok {
			return Nodes.In(row[c])
		}
		return 0
	}
	first(fieldNodes, func(row []string, s string) bool {
		n, err := strconv.Atoi(s)
		return err == nil && n > 0 && (nodesOf(row) == 0 || n == nodesOf(row))
	})
	if c, ok := mostNames(rows, taken); ok {
		found[fieldUser] = c
	}
	for _, f := range []field{fieldID, fieldNodes, fieldState} {
		if _, ok := found[f]; !ok {
			return nil
		}
	}
	return found
}

func number(s string) bool { _, err := strconv.Atoi(s); return err == nil }

// mostNames returns the column of words with most different ones, but not a name for each
// row, which is that of the users.
func mostNames(rows [][]string, taken []bool) (column int, found bool) {
	most := 1
	for c := range taken {
		names, words := map[string]bool{}, true
		for _, row := range rows {
			s := row[c]
			names[s] = true
			words = words && s != "" && !number(s) && !strings.ContainsAny(s, ":=[]/ ") && strings.ToUpper(s) != s
		}
		if words && !taken[c] && len(names) > most && 2*len(names) <= len(rows) {
			column, most, found = c, len(names), true
		}
	}
	return column, found
}
