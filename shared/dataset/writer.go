package dataset

import (
	"fmt"
	"io"
	"reflect"
	"slices"
)

// sink writes rows of one file format.
type sink interface {
	write(row reflect.Value) error
	close() error
}

// Writer writes a table row by row. The same rows give the same bytes.
type Writer[T any] struct {
	sink   sink
	layout layout
	rest   int
	rows   int
}

// NewWriter returns a writer of rows of type T to w. A row type with a rest
// field needs Options.RestColumns, unless the file has no header.
// NewWriter returns an error that wraps ErrRowType, ErrFormat,
// ErrMissingColumn or ErrDuplicateColumn.
func NewWriter[T any](w io.Writer, f Format, o Options) (*Writer[T], error) {
	l, err := layoutOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	rest, err := checkRest(l, o, f)
	if err != nil {
		return nil, err
	}
	s, err := newSink(w, f, l, o)
	if err != nil {
		return nil, err
	}
	return &Writer[T]{sink: s, layout: l, rest: rest}, nil
}

// checkRest returns the number of rest columns per row, or -1 if the first row
// determines it.
func checkRest(l layout, o Options, f Format) (int, error) {
	names := slices.Clone(o.RestColumns)
	headerless := o.NoHeader && (f == CSV || f == TSV)
	switch {
	case l.rest < 0 && len(names) > 0:
		return 0, fmt.Errorf("%w: rest columns are named, but no field takes them", ErrRowType)
	case l.rest >= 0 && names == nil && headerless:
		return -1, nil
	case l.rest >= 0 && names == nil:
		return 0, fmt.Errorf("%w: the rest columns have no names", ErrMissingColumn)
	}
	for _, c := range l.columns {
		names = append(names, c.name)
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return 0, fmt.Errorf("%w %q", ErrDuplicateColumn, names[i])
		}
	}
	return len(o.RestColumns), nil
}

func newSink(w io.Writer, f Format, l layout, o Options) (sink, error) {
	switch f {
	case CSV:
		return newCSVSink(w, ',', l, o)
	case TSV:
		return newCSVSink(w, '\t', l, o)
	case JSONLines:
		return newJSONSink(w, l, o)
	case Parquet:
		return newParquetSink(w, l, o)
	}
	return nil, fmt.Errorf("%w: %v", ErrFormat, f)
}

// Write appends a row. An error names the row, counted from 1, and the
// column; it wraps ErrNotFinite for a NaN or an infinity.
func (w *Writer[T]) Write(row T) error {
	v := reflect.ValueOf(&row).Elem()
	w.rows++
	rest := restOf(v, w.layout)
	if w.rest < 0 {
		w.rest = len(rest)
	}
	if len(rest) != w.rest {
		return fmt.Errorf("row %d: %d rest columns, want %d", w.rows, len(rest), w.rest)
	}
	if err := w.sink.write(v); err != nil {
		return fmt.Errorf("row %d: %w", w.rows, err)
	}
	return nil
}

// Close completes the table. It does not close the underlying writer.
func (w *Writer[T]) Close() error { return w.sink.close() }
