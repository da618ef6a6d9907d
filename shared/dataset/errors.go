package dataset

import (
	"errors"
	"fmt"
)

// Errors returned when a table cannot be read or written at all. They arrive
// wrapped with the file and the column.
var (
	// ErrFormat is returned when the file format is not one of the package's.
	ErrFormat = errors.New("unknown table format")
	// ErrRowType is returned when the row type is not a struct of columns.
	ErrRowType = errors.New("unusable row type")
	// ErrMissingColumn is returned when a file lacks a column of the row type.
	ErrMissingColumn = errors.New("missing column")
	// ErrDuplicateColumn is returned when two columns have the same name.
	ErrDuplicateColumn = errors.New("duplicate column")
	// ErrNoParquet is returned for Parquet by a program built with the tag
	// noparquet. Parquet is two thirds of the code that this package adds to a
	// program.
	ErrNoParquet = errors.New("this program was built without Parquet (tag noparquet)")
	// ErrNotFinite is returned when a NaN or an infinity is to be written.
	ErrNotFinite = errors.New("not a finite number")
)

// SyntaxError describes a row that could not be used. Line counts from 1; in a
// Parquet file it is the number of the row.
type SyntaxError struct {
	File string
	Line int
	Msg  string
}

// Error returns "file:line: message".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }
