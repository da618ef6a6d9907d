package pair

import (
	"errors"
	"fmt"

	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// ErrRow is in a diagnostic of a row that cannot be used.
var ErrRow = errors.New("unusable row")

// Row is the speed of one program of a measured pair, Model, next to Other, relative to
// alone.
type Row struct {
	Device, Model, Other string
	Speed                float64
}

// measured is a row of a table: speeds in any one unit, larger is faster.
type measured struct {
	Device string  `dataset:"device,optional"`
	Model  string  `dataset:"model"`
	Other  string  `dataset:"other"`
	Alone  float64 `dataset:"alone"`
	Beside float64 `dataset:"beside"`
}

// Columns names the columns of a table.
const Columns = "model, other, alone, beside and, for several devices, device"

// Load reads a table with the columns model, other, alone, beside and, for several devices,
// device: the speeds of a model alone and next to the other, in one unit, larger is faster.
// A row that cannot be used (a speed that is not a number, not above 0, or more than twice
// that alone) is a diagnostic with file and line.
func Load(path string) (rows []Row, diagnostics []error, err error) {
	format, err := dataset.FormatOf(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := file.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	table, err := dataset.NewReader[measured](f, path, format, dataset.Options{})
	if err != nil {
		return nil, nil, err
	}
	for table.Scan() {
		m := table.Row()
		if speed := m.Beside / m.Alone; m.Alone > 0 && speed > 0 && speed <= 2 {
			rows = append(rows, Row{m.Device, m.Model, m.Other, speed})
		} else {
			diagnostics = append(diagnostics, fmt.Errorf("%s:%d: %w: columns alone %v, beside %v", path, table.Line(), ErrRow, m.Alone, m.Beside))
		}
	}
	for _, d := range table.Diagnostics() {
		diagnostics = append(diagnostics, d)
	}
	return rows, diagnostics, table.Err()
}
