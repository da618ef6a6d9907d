package measurement

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// ErrColumns is returned for a file whose columns are not those of this version:
// rows cannot be appended to it.
var ErrColumns = errors.New("different columns")

// Table appends rows to a CSV file. A process that is killed leaves at most one
// broken line behind, the last, which the next one cuts off.
type Table[T any] struct {
	Rows []T // that the file held when it was opened
	// LockError wraps [file.ErrNoLocks] if the file could not be locked: a warning.
	LockError error

	log *file.Log
}

// OpenTable reads what a file holds and opens it to append. The error matches
// [ErrColumns] or [file.ErrForeign] for a file that is not such a table, which
// stays as it is, [file.ErrInUse], or a row's [dataset.SyntaxError].
func OpenTable[T any](path string) (*Table[T], error) {
	header, err := encode[T](nil, false)
	if err != nil {
		return nil, err
	}
	header = bytes.TrimSpace(header)
	var text bytes.Buffer
	log, err := file.OpenLog(path, file.Lines{
		Start: func(first []byte) error {
			if !bytes.Equal(first, header) {
				return fmt.Errorf("%w: want %s", ErrColumns, header)
			}
			return nil
		},
		Read: func(line []byte) error {
			text.Write(line)
			return text.WriteByte('\n')
		},
	})
	if err != nil {
		return nil, err
	}
	t := &Table[T]{log: log, LockError: log.Unlocked}
	if text.Len() == 0 {
		err = log.Append(header)
	} else {
		t.Rows, err = decode[T](&text, path)
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	return t, nil
}

// decode reads whole lines; a row that cannot be read is an error.
func decode[T any](text *bytes.Buffer, path string) ([]T, error) {
	r, err := dataset.NewReader[T](text, path, dataset.CSV, dataset.Options{})
	if err != nil {
		return nil, err
	}
	all, err := dataset.ReadAll(r)
	if err == nil && len(all.Diagnostics) > 0 {
		err = all.Diagnostics[0]
	}
	return all.Rows, err
}

// Add appends rows, and returns when they are on the disk.
func (t *Table[T]) Add(rows ...T) error {
	data, err := encode(rows, true)
	if err != nil {
		return err
	}
	return t.log.Append(data)
}

// Close ends the appending.
func (t *Table[T]) Close() error { return t.log.Close() }

func encode[T any](rows []T, noHeader bool) ([]byte, error) {
	var b bytes.Buffer
	w, err := dataset.NewWriter[T](&b, dataset.CSV, dataset.Options{NoHeader: noHeader})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
