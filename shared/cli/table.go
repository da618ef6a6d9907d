package cli

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Table is plain text in columns. A column is right-aligned if all its filled cells
// start like a number.
type Table struct {
	Header []string
	rows   [][]any
}

// Add appends a row. [Text] formats the cells; CSV keeps all their digits.
func (t *Table) Add(cells ...any) { t.rows = append(t.rows, cells) }

// WriteTo prints the header and a rule, if there is a header, and the rows: two
// spaces between columns, no trailing blanks.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	rows := make([][]string, len(t.rows))
	for i, row := range t.rows {
		for _, cell := range row {
			rows[i] = append(rows[i], Plain(Text(cell)))
		}
	}
	var header []string
	for _, name := range t.Header {
		header = append(header, Plain(name))
	}
	widths, right := layout(header, rows)
	if header != nil {
		rule := make([]string, len(widths))
		for i, n := range widths {
			rule[i] = strings.Repeat("-", n)
		}
		rows = append([][]string{header, rule}, rows...)
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(line(row, widths, right))
	}
	return strings.NewReader(b.String()).WriteTo(w)
}

func layout(header []string, rows [][]string) (widths []int, right []bool) {
	columns := len(header)
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	widths, right = make([]int, columns), make([]bool, columns)
	for i, h := range header {
		widths[i] = utf8.RuneCountInString(h)
	}
	for i := range right {
		right[i] = len(rows) > 0
	}
	for _, row := range rows {
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

// writeCSV writes the table with a header. A column of predictions becomes
// three: the value, "low" and "high".
func (t *Table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var header []string
	for i, name := range t.Header {
		name = cellText(name)
		if header = append(header, name); t.predicts(i) {
			header = append(header, name+" low", name+" high")
		}
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, row := range t.rows {
		texts := make([]string, 0, len(row))
		for i, cell := range row {
			if p, ok := cellPrediction(cell); ok {
				texts = append(texts, exact(p.Value), exact(p.Low), exact(p.High))
			} else if t.predicts(i) {
				texts = append(texts, exact(cell), "", "")
			} else {
				texts = append(texts, exact(cell))
			}
		}
		if err := out.Write(texts); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// predicts reports whether column i holds a prediction in some row.
func (t *Table) predicts(i int) bool {
	for _, row := range t.rows {
		if i < len(row) {
			if _, ok := cellPrediction(row[i]); ok {
				return true
			}
		}
	}
	return false
}

// cellPrediction returns the prediction in a cell, if it has one.
func cellPrediction(cell any) (uncertainty.Prediction, bool) {
	if c, ok := cell.(interface{ Predicted() uncertainty.Prediction }); ok {
		return c.Predicted(), true
	}
	p, ok := cell.(uncertainty.Prediction)
	return p, ok
}
