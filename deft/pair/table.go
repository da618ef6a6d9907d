package pair

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// Errors of tables.
var (
	// ErrColumn is returned for a table without a column that is needed.
	ErrColumn = errors.New("no such column")
	// ErrRow is in a diagnostic of a row that cannot be used.
	ErrRow = errors.New("unusable row")
)

// Row is one measured pair, of the side of Model: its speed beside Other as a
// share of its speed alone.
type Row struct {
	Device, Model, Other string
	Speed                float64
}

// Load reads a CSV file with the columns model, other, alone and beside, and,
// where there are several devices, device: the speeds of a model alone and beside
// the other, in one unit, larger is faster. A row that cannot be used (a speed
// that is no number, of 0 or below, or more than twice that alone) is a diagnostic
// with file and line.
func Load(path string) (rows []Row, diagnostics []error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	rows, diagnostics, err = read(f, path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, diagnostics, nil
}

func read(in io.Reader, path string) (rows []Row, diagnostics []error, err error) {
	table := csv.NewReader(in)
	header, err := table.Read()
	if err != nil {
		return nil, nil, err
	}
	at := map[string]int{}
	for _, name := range []string{"device", "model", "other", "alone", "beside"} {
		at[name] = slices.Index(header, name)
		if at[name] < 0 && name != "device" {
			return nil, nil, fmt.Errorf("%w: %s; it has %q", ErrColumn, name, header)
		}
	}
	for {
		fields, err := table.Read()
		if err == io.EOF {
			return rows, diagnostics, nil
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			diagnostics = append(diagnostics, fmt.Errorf("%s:%d: %w", path, bad.Line, bad.Err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		alone, err1 := strconv.ParseFloat(fields[at["alone"]], 64)
		beside, err2 := strconv.ParseFloat(fields[at["beside"]], 64)
		if speed := beside / alone; cmp.Or(err1, err2) != nil || !(alone > 0 && speed > 0 && speed <= 2) {
			line, _ := table.FieldPos(0)
			diagnostics = append(diagnostics, fmt.Errorf("%s:%d: %w: alone %q, beside %q", path, line, ErrRow, fields[at["alone"]], fields[at["beside"]]))
			continue
		}
		row := Row{Model: fields[at["model"]], Other: fields[at["other"]], Speed: beside / alone}
		if at["device"] >= 0 {
			row.Device = fields[at["device"]]
		}
		rows = append(rows, row)
	}
}
