package dataset

import (
	"io"

	"github.com/foretime/foretime/shared/file"
)

// Table is a whole file in memory.
type Table[T any] struct {
	Rows        []T
	RestColumns []string // names of the rest field's columns, if any
	Counts      Counts
	Diagnostics []*SyntaxError
}

// Load reads a table in the format of its file extension. Unusable rows are
// diagnostics; an unreadable file is an error.
func Load[T any](path string, o Options) (*Table[T], error) {
	format, err := FormatOf(path)
	if err != nil {
		return nil, err
	}
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := NewReader[T](f, path, format, o)
	if err != nil {
		return nil, err
	}
	return ReadAll(r)
}

// ReadAll reads the rest of a reader's rows.
func ReadAll[T any](r *Reader[T]) (*Table[T], error) {
	var rows []T
	for r.Scan() {
		rows = append(rows, r.Row())
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return &Table[T]{rows, r.RestColumns(), r.Counts(), r.Diagnostics()}, nil
}

// Save writes rows to a file in the format of its extension.
func Save[T any](path string, rows []T, o Options) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	return file.Write(path, func(out io.Writer) error {
		w, err := NewWriter[T](out, format, o)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := w.Write(row); err != nil {
				return err
			}
		}
		return w.Close()
	})
}
