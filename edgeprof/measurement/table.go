package measurement

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/foretime/foretime/shared/dataset"
)

// ErrColumns is returned for a file whose columns are not those of this version:
// rows cannot be appended to it.
var ErrColumns = errors.New("other columns")

// Table appends rows to a CSV file. Every append is one write of whole lines,
// so that a killed process leaves at most one broken line behind: the last.
type Table[T any] struct {
	file *os.File
	Rows []T // that the file held when it was opened
}

// OpenTable reads what a file holds and opens it to append; a last line without
// its end, left by a process that was killed, is cut off.
func OpenTable[T any](path string) (*Table[T], error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	t := &Table[T]{file: f}
	if err := t.load(path); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func (t *Table[T]) load(path string) error {
	data, err := io.ReadAll(t.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole < len(data) {
		if err := t.file.Truncate(int64(whole)); err != nil {
			return err
		}
	}
	if _, err := t.file.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	header, err := encode[T](nil, false)
	if err != nil {
		return err
	}
	if whole == 0 {
		_, err := t.file.Write(header)
		return err
	}
	if !bytes.HasPrefix(data, header) {
		return fmt.Errorf("%w than %s", ErrColumns, bytes.TrimSpace(header))
	}
	r, err := dataset.NewReader[T](bytes.NewReader(data[:whole]), path, dataset.CSV, dataset.Options{})
	if err != nil {
		return err
	}
	all, err := dataset.ReadAll(r)
	if err != nil {
		return err
	}
	if len(all.Diagnostics) > 0 {
		return all.Diagnostics[0]
	}
	t.Rows = all.Rows
	return nil
}

// Add appends rows.
func (t *Table[T]) Add(rows ...T) error {
	data, err := encode(rows, true)
	if err != nil {
		return err
	}
	_, err = t.file.Write(data)
	return err
}

// Sync writes what was added to the disk.
func (t *Table[T]) Sync() error { return t.file.Sync() }

// Close ends the appending.
func (t *Table[T]) Close() error { return errors.Join(t.file.Sync(), t.file.Close()) }

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
