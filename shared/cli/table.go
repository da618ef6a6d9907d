package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is plain text in columns. A column whose every filled cell starts
// like a number is set flush right.
type Table struct {
	Header []string
	Rows   [][]string
}

// Add appends a row; each cell is printed with fmt.Sprint.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.Rows = append(t.Rows, row)
}

// WriteTo prints the table: header, rule, rows; two spaces between columns,
// no trailing blanks.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths, right := t.layout()
	var b strings.Builder
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	for _, row := range append([][]string{t.Header, rule}, t.Rows...) {
		b.WriteString(line(row, widths, right))
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (t *Table) layout() (widths []int, right []bool) {
	columns := len(t.Header)
	for _, row := range t.Rows {
		columns = max(columns, len(row))
	}
	widths, right = make([]int, columns), make([]bool, columns)
	for i, h := range t.Header {
		widths[i] = utf8.RuneCountInString(h)
	}
	for i := range right {
		right[i] = len(t.Rows) > 0
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			right[i] = right[i] && (cell == "" || strings.ContainsRune("+-.0123456789", rune(cell[0])))
		}
	}
	return widths, right
}

func line(row []string, widths []int, right []bool) string {
	var b strings.Builder
	for i, n := range widths {
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		pad := strings.Repeat(" ", n-utf8.RuneCountInString(cell))
		if right[i] {
			cell = pad + cell
		} else {
			cell += pad
		}
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(cell)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
