package task

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// ErrEmpty is returned for a file without a usable line.
var ErrEmpty = errors.New("no usable line")

// ErrFormat is returned for an unknown format name.
var ErrFormat = errors.New("unknown log format")

// Format is a log's format on disk.
type Format string

// The formats that can be read.
const (
	FormatAuto    Format = "auto"    // whichever of the others the file is in
	FormatCSV     Format = "csv"     // ours
	FormatParquet Format = "parquet" // ours
	FormatMXM     Format = "mxm"     // the original tool's: tab separated, one size; lines of two fields are iteration loads
	FormatAR      Format = "ar"      // comma separated windows: earlier iteration loads, then the load that followed
	FormatPerm    Format = "perm"    // iteration, the sizes in execution order, the iteration's seconds
)

// ParseFormat checks a format's name.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case FormatAuto, FormatCSV, FormatParquet, FormatMXM, FormatAR, FormatPerm:
		return f, nil
	}
	return "", fmt.Errorf("%w: %q: want auto, csv, parquet, mxm, ar or perm", ErrFormat, s)
}

// Log is a log in memory.
type Log struct {
	Name   string
	Format Format
	Rows   []Row // of runs; empty for ar and perm
	// Loads are the seconds of iterations in order: of the lines that tell
	// them, or of the windows' last column.
	Loads []float64
	// Windows are the loads before each of Loads; only for ar.
	Windows     [][]float64
	Counts      dataset.Counts
	Diagnostics []*dataset.SyntaxError // of the first hundred lines dropped
}

// parquetMagic is how a Parquet file begins.
const parquetMagic = "PAR1"

// LoadLog reads a log, packed by gzip or not. Bad lines are diagnostics; the error
// matches [ErrEmpty] where no line is left, or is the context's.
func LoadLog(ctx context.Context, path string, format Format) (*Log, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadLog(cancelled{ctx, f}, path, format)
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// ReadLog is LoadLog for a reader; the name is for messages.
func ReadLog(r io.Reader, name string, format Format) (*Log, error) {
	l := &Log{Name: name, Format: format}
	whole, first, err := unpacked(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if format == FormatAuto {
		if l.Format = detect(first); l.Format == "" && first != "" {
			return nil, fmt.Errorf("%s: %w: its first line is %q: give the format with --format", name, ErrFormat, clip(first))
		}
	}
	switch l.Format {
	case FormatCSV, FormatParquet:
		err = l.readRows(whole)
	case FormatMXM:
		err = l.lines(whole, l.mxm)
	case FormatAR:
		err = l.lines(whole, l.ar)
	case FormatPerm:
		err = l.lines(whole, l.perm)
	case "": // an empty file
	default:
		_, err = ParseFormat(string(format))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if l.Counts.Used == 0 {
		if len(l.Diagnostics) > 0 {
			return nil, fmt.Errorf("%w: %w", l.Diagnostics[0], ErrEmpty)
		}
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	return l, nil
}

func (l *Log) readRows(r io.Reader) error {
	layout := dataset.CSV
	if l.Format == FormatParquet {
		layout = dataset.Parquet
	}
	reader, err := dataset.NewReader[Row](r, l.Name, layout, dataset.Options{})
	if err != nil {
		return err
	}
	for reader.Scan() {
		row := reader.Row()
		if row.Seconds <= 0 || row.Iteration < 0 {
			reader.Reject("a run of no time, or of no iteration")
			continue
		}
		l.Rows = append(l.Rows, row)
	}
	l.Counts, l.Diagnostics = reader.Counts(), reader.Diagnostics()
	return reader.Err()
}

// lines gives every line that is not empty to take, and records what it
// refuses. A line that the end of the file cuts off counts as any other.
func (l *Log) lines(r io.Reader, take func(fields []string) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		if strings.TrimSpace(line) == "" {
			continue
		}
		l.Counts.Read++
		fields := strings.FieldsFunc(line, separates)
		if err := take(fields); err != nil {
			l.Counts.Dropped++
			if len(l.Diagnostics) < 100 {
				l.Diagnostics = append(l.Diagnostics, &dataset.SyntaxError{File: l.Name, Line: number, Msg: err.Error()})
			}
			continue
		}
		l.Counts.Used++
	}
	return scanner.Err()
}

// mxm takes "id size... MHz seconds predicted" or "load predicted".
func (l *Log) mxm(fields []string) error {
	if len(fields) == 2 {
		load, err := seconds(fields[0], "load")
		if err != nil {
			return err
		}
		l.Loads = append(l.Loads, load)
		return nil
	}
	if len(fields) < 5 {
		return fmt.Errorf("%d fields, want 2 or at least 5", len(fields))
	}
	id, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a task number", clip(fields[0]))
	}
	var sizes Sizes
	tail := len(fields) - 3
	if err := sizes.UnmarshalText([]byte(strings.Join(fields[1:tail], " "))); err != nil {
		return err
	}
	mhz, badMHz := number(fields[tail], "frequency")
	took, badTime := seconds(fields[tail+1], "run time")
	predicted, badPrediction := number(fields[tail+2], "predicted time")
	if err := cmp.Or(badMHz, badTime, badPrediction); err != nil {
		return err
	}
	row := Row{Task: id, Flag: "local", Entry: "task", Sizes: sizes, Core: -1, Seconds: took}
	if mhz > 0 {
		row.MHz = &mhz
	}
	if predicted != 0 {
		row.Predicted = &predicted
	}
	l.Rows = append(l.Rows, row)
	return nil
}

func (l *Log) ar(fields []string) error {
	if len(fields) < 2 {
		return fmt.Errorf("%d fields, want at least 2", len(fields))
	}
	if len(l.Windows) > 0 && len(fields) != len(l.Windows[0])+1 {
		return fmt.Errorf("%d fields, want %d as in the first line", len(fields), len(l.Windows[0])+1)
	}
	window := make([]float64, len(fields))
	for i, f := range fields {
		var err error
		if window[i], err = seconds(f, "load"); err != nil {
			return err
		}
	}
	last := len(window) - 1
	l.Windows, l.Loads = append(l.Windows, window[:last:last]), append(l.Loads, window[last])
	return nil
}

func (l *Log) perm(fields []string) error {
	if len(fields) < 3 {
		return fmt.Errorf("%d fields, want at least 3", len(fields))
	}
	if _, err := strconv.ParseUint(fields[0], 10, 32); err != nil {
		return fmt.Errorf("%q is not an iteration number", clip(fields[0]))
	}
	var sizes Sizes
	last := len(fields) - 1
	if err := sizes.UnmarshalText([]byte(strings.Join(fields[1:last], " "))); err != nil {
		return err
	}
	load, err := seconds(fields[last], "run time")
	if err != nil {
		return err
	}
	l.Loads = append(l.Loads, load)
	return nil
}

func number(s, what string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%s %q is not a finite number", what, clip(s))
	}
	return x, nil
}

func seconds(s, what string) (float64, error) {
	x, err := number(s, what)
	if err == nil && x <= 0 {
		return 0, fmt.Errorf("%s %q is not above 0", what, clip(s))
	}
	return x, err
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}
