package measurement

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/dataset"
)

// ErrNoRows is returned where there is nothing to learn from.
var ErrNoRows = errors.New("no measured inferences")

// Data holds the rows of measurement files.
type Data struct {
	Rows  []Row
	Files []string
	// Counts counts the rows, Missing those among them without a time.
	Counts  dataset.Counts
	Missing int
	// Diagnostics are rows that could not be used, with file and line.
	Diagnostics []*dataset.SyntaxError
}

// ReadDir reads all .csv files in a directory but those of kernels, or the one file that path
// names. Rows without a time are counted and left out. The error matches [ErrNoRows], or is a
// file's own.
func ReadDir(ctx context.Context, path string) (*Data, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.csv")); err != nil {
			return nil, err
		}
		slices.Sort(files)
		files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, ".kernels.csv") })
	}
	d := &Data{}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		table, err := dataset.Load[Row](file, dataset.Options{})
		if err != nil {
			return nil, err
		}
		d.Files = append(d.Files, file)
		d.Counts.Read += table.Counts.Read
		d.Counts.Used += table.Counts.Used
		d.Counts.Dropped += table.Counts.Dropped
		d.Diagnostics = append(d.Diagnostics, table.Diagnostics...)
		for _, row := range table.Rows {
			if !row.Time.Known {
				d.Missing++
				continue
			}
			d.Rows = append(d.Rows, row.WithSetting())
		}
	}
	if len(d.Rows) == 0 {
		return nil, fmt.Errorf("%s: %w", path, d.none())
	}
	return d, nil
}

// none says why nothing was left.
func (d *Data) none() error {
	switch {
	case len(d.Diagnostics) > 0:
		return fmt.Errorf("%w: %d rows are unusable; the first: %w", ErrNoRows, len(d.Diagnostics), d.Diagnostics[0])
	case d.Missing > 0:
		return fmt.Errorf("%w: %d rows have no execution_time", ErrNoRows, d.Missing)
	}
	return ErrNoRows
}

// WithSetting returns a row of the original collector with the columns that ours have: a setting,
// the device type, and a family, by its model's name.
func (r Row) WithSetting() Row {
	if r.Setting == "" {
		r.Setting = r.Device
	}
	if r.Setting == "" {
		r.Setting = "unknown"
	}
	if r.Family == "" {
		r.Family = ModelFamily(r.ModelName)
	}
	return r
}
