package dataset

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a file format of tables.
type Format int

// The formats. CSV is RFC 4180 and TSV the same with tabs: a quoted field may
// hold separators, quotes and line ends. JSONLines is one JSON object a line.
// Parquet holds one flat row group schema, Snappy-compressed.
const (
	CSV Format = iota
	TSV
	JSONLines
	Parquet
)

// String returns the name of the format.
func (f Format) String() string {
	switch f {
	case CSV:
		return "CSV"
	case TSV:
		return "TSV"
	case JSONLines:
		return "JSON lines"
	case Parquet:
		return "Parquet"
	}
	return fmt.Sprintf("Format(%d)", int(f))
}

// FormatOf returns the format that the ending of a file name tells: .csv,
// .tsv, .jsonl, .ndjson or .parquet. It returns ErrFormat for any other.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return CSV, nil
	case ".tsv":
		return TSV, nil
	case ".jsonl", ".ndjson":
		return JSONLines, nil
	case ".parquet":
		return Parquet, nil
	}
	return 0, fmt.Errorf("%s: %w (want .csv, .tsv, .jsonl, .ndjson or .parquet)", path, ErrFormat)
}

// Options says how a table is laid out. The zero value is a file with a
// header whose name tells its format.
type Options struct {
	// NoHeader says that a CSV or TSV file has no header line: its columns
	// are the fields of the row type, in order.
	NoHeader bool
	// RestColumns names the columns of the row type's rest field. A Writer
	// needs them; a Reader takes them from the file where they are nil.
	RestColumns []string
	// MaxDiagnostics bounds how many diagnostics a Reader keeps; further bad
	// rows are only counted. 0 means 100.
	MaxDiagnostics int
}
