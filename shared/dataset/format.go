package dataset

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a file format of tables.
type Format int

// The formats. CSV is RFC 4180, TSV the same with tabs: a quoted field may hold
// separators, quotes and line ends. JSONLines has one JSON object per line. Parquet
// has one flat row group schema, compressed with Snappy.
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

// FormatOf returns the format for a file name's extension: .csv, .tsv, .jsonl,
// .ndjson or .parquet. It returns ErrFormat for any other.
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

// Options describes the layout of a table. The zero value is a file with a header
// whose extension gives its format.
type Options struct {
	// NoHeader says that a CSV or TSV file has no header line: its columns
	// are the fields of the row type, in order.
	NoHeader bool
	// RestColumns names the columns of the row type's rest field. A Writer needs
	// them; a Reader takes them from the file if they are nil.
	RestColumns []string
}
