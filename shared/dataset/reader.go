package dataset

import (
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Counts counts the rows of a file: Read = Used + Dropped.
type Counts struct {
	Read, Used, Dropped int
}

// String returns "120 read, 119 used, 1 dropped".
func (c Counts) String() string {
	return fmt.Sprintf("%d read, %d used, %d dropped", c.Read, c.Used, c.Dropped)
}

// source reads rows of one file format. next fills row, which is zero, and returns
// the line it starts on. It returns io.EOF after the last row, a badRecord for a
// row that cannot be used, and any other error if reading cannot continue.
type source interface {
	next(row reflect.Value) (line int, err error)
}

// Reader reads a table row by row. T is the row type.
//
//	for r.Scan() {
//		use(r.Row())
//	}
//	if err := r.Err(); err != nil {
type Reader[T any] struct {
	source      source
	file        string
	row         T
	line        int
	rest        []string
	counts      Counts
	diagnostics []*SyntaxError
	err         error
}

// NewReader returns a reader of rows of type T from r. The file name is used in
// messages only. Parquet needs random access: if r is not an io.ReaderAt and
// io.Seeker it is read into memory.
//
// It returns an error that wraps ErrRowType, ErrFormat, ErrMissingColumn or
// ErrDuplicateColumn if no row could be used.
func NewReader[T any](r io.Reader, file string, f Format, o Options) (*Reader[T], error) {
	reader := &Reader[T]{file: file}
	l, err := layoutOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	if reader.source, reader.rest, err = newSource(r, f, l, o); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return reader, nil
}

func newSource(r io.Reader, f Format, l layout, o Options) (source, []string, error) {
	switch f {
	case CSV:
		return newCSVSource(r, ',', l, o)
	case TSV:
		return newCSVSource(r, '\t', l, o)
	case JSONLines:
		s, err := newJSONSource(r, l, o)
		return s, o.RestColumns, err
	case Parquet:
		return openParquet(r, l, o)
	}
	return nil, nil, fmt.Errorf("%w: %v", ErrFormat, f)
}

// Scan reads the next usable row. It returns false at the end of the file or if
// reading cannot continue; Err distinguishes the two.
func (r *Reader[T]) Scan() bool {
	for r.err == nil {
		var zero T
		r.row = zero
		line, err := r.source.next(reflect.ValueOf(&r.row).Elem())
		var bad badRecord
		switch {
		case errors.Is(err, io.EOF):
			r.err = io.EOF
		case errors.As(err, &bad):
			r.line = line
			r.counts.Read++
			r.drop(string(bad))
		case err != nil:
			r.err = fmt.Errorf("%s:%d: %w", r.file, line, err)
		default:
			r.line = line
			r.counts.Read++
			r.counts.Used++
			return true
		}
	}
	return false
}

// Row returns the row that Scan read.
func (r *Reader[T]) Row() T { return r.row }

// Reject drops the row that Scan read: it is recorded as a diagnostic and counted
// as dropped. Call it at most once per row.
func (r *Reader[T]) Reject(reason string) {
	r.counts.Used--
	r.drop(reason)
}

func (r *Reader[T]) drop(reason string) {
	r.counts.Dropped++
	if len(r.diagnostics) < maxDiagnostics {
		r.diagnostics = append(r.diagnostics, &SyntaxError{r.file, r.line, reason})
	}
}

// Err returns the error that stopped Scan: nil at the end of the file.
func (r *Reader[T]) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// Counts returns the counts of the rows read so far.
func (r *Reader[T]) Counts() Counts { return r.counts }

// maxDiagnostics is the number of dropped rows that are kept; others are only counted.
const maxDiagnostics = 100

// Diagnostics returns the first dropped rows, at most 100.
func (r *Reader[T]) Diagnostics() []*SyntaxError { return r.diagnostics }

// RestColumns returns the names of the rest columns, nil if the file does not name
// them. For JSON lines they are known after the first row.
func (r *Reader[T]) RestColumns() []string {
	if j, ok := r.source.(*jsonSource); ok {
		return j.rest
	}
	return r.rest
}
