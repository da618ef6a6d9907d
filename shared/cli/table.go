package cli

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Table is plain text in columns. A column is right-aligned if all its filled cells
// start like a number.
type Table struct {
	Header []string
	// Widths limits columns to so many characters; longer cells wrap. 0, and a column
	// beyond, has no limit.
	Widths []int
	rows   [][]any
}

// Add appends a row. [Text] formats the cells; CSV keeps all their digits.
func (t *Table) Add(cells ...any) { t.rows = append(t.rows, cells) }

// columns separates columns by two blanks and the header by a rule.
var columns = table.Style{
	Box:     table.BoxStyle{MiddleHorizontal: "-", MiddleSeparator: "  ", MiddleVertical: "  "},
	Options: table.Options{SeparateColumns: true, SeparateHeader: true},
}

// WriteTo prints the header and a rule, if there is a header, and the rows: two
// spaces between columns, no trailing blanks.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	out, right := table.NewWriter(), map[int]bool{}
	out.SetStyle(columns)
	out.SuppressTrailingSpaces()
	var header table.Row
	for i, name := range t.Header {
		header, right[i] = append(header, Plain(name)), true
	}
	if header != nil {
		out.AppendHeader(header)
	}
	for _, cells := range t.rows {
		row := make(table.Row, 0, len(cells))
		for i, cell := range cells {
			plain := Plain(Text(cell))
			row = append(row, plain)
			numeric := plain == "" || strings.ContainsRune("+-.0123456789", rune(plain[0]))
			if before, known := right[i]; before || !known {
				right[i] = numeric
			}
		}
		if len(row) == 0 {
			row = table.Row{""}
		}
		out.AppendRow(row)
	}
	var configs []table.ColumnConfig
	for i, numeric := range right {
		c := table.ColumnConfig{Number: i + 1}
		if numeric && len(t.rows) > 0 {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		if i < len(t.Widths) {
			c.WidthMax, c.WidthMaxEnforcer = t.Widths[i], text.WrapSoft
		}
		configs = append(configs, c)
	}
	out.SetColumnConfigs(configs)
	if out.Length() == 0 && header == nil {
		return 0, nil
	}
	return strings.NewReader(out.Render() + "\n").WriteTo(w)
}

// writeCSV writes the table with a header. A column of predictions becomes
// three: the value, "low" and "high".
func (t *Table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var header []string
	for i, name := range t.Header {
		name = cellText(name)
		header = append(header, name)
		if t.predicts(i) {
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
	return slices.ContainsFunc(t.rows, func(row []any) bool {
		if i >= len(row) {
			return false
		}
		_, ok := cellPrediction(row[i])
		return ok
	})
}

// cellPrediction returns the prediction in a cell, if it has one.
func cellPrediction(cell any) (uncertainty.Prediction, bool) {
	if c, ok := cell.(interface{ Predicted() uncertainty.Prediction }); ok {
		return c.Predicted(), true
	}
	p, ok := cell.(uncertainty.Prediction)
	return p, ok
}
