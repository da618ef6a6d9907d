package task

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unique"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// ErrEmpty is returned for a file without a usable line.
var ErrEmpty = errors.New("no usable line")

// ErrNoTasks is returned for a file in no format of a log of tasks.
var ErrNoTasks = errors.New("not a log of tasks")

// Format is a log's format on disk.
type Format string

// The formats that can be read.
const (
	FormatAuto Format = "auto" // whichever of the others the file is in
	FormatCSV  Format = "csv"  // ours
	FormatTab  Format = "tab"  // the original tool's: no header, separated by tabs; lines of two fields are iteration loads
)

// FormatLoads is a table of iteration loads, which holds no tasks: see [ReadLoads].
const FormatLoads Format = "loads"

// Log is a log in memory.
type Log struct {
	Name        string
	Format      Format
	Rows        []Row     // of runs
	Loads       []float64 // seconds of iterations in order, if the log has them
	Counts      dataset.Counts
	Diagnostics []*dataset.SyntaxError // of the first hundred lines dropped

	add    func(*Row) // nil appends to Rows
	source *source    // nil if it is another reader
	sizes  map[string]Sizes
	key    []byte
}

// Options sets how a log is read.
type Options struct {
	Format Format // "" is FormatAuto
	// Add takes each run in place of Rows. It must not keep the row. Nil keeps Rows.
	Add func(*Row)
	// Read is called with numbers of bytes that were read from the file. Nil is not.
	Read func(bytes int)
}

// Scan reads a log, packed by gzip or not. Bad lines are diagnostics; the error matches
// [ErrEmpty] if no line is left, or is the context's.
func Scan(ctx context.Context, path string, o Options) (*Log, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	source := &source{ctx: ctx, r: f, read: o.Read}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		source.size = info.Size()
	}
	return ReadLog(source, path, o)
}

// source reads until its context ends, and counts the bytes.
type source struct {
	ctx  context.Context
	r    io.Reader
	read func(bytes int)
	n    int64 // bytes read
	size int64 // of the file; 0 if unknown
}

// Read reads, until the context ends.
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	s.n += int64(n)
	if s.read != nil {
		s.read(n)
	}
	return n, err
}

// ReadLog reads like Scan from a reader; the name is for messages.
func ReadLog(r io.Reader, name string, o Options) (*Log, error) {
	format := cmp.Or(o.Format, FormatAuto)
	l := &Log{Name: name, Format: format, add: o.Add, sizes: map[string]Sizes{}}
	l.source, _ = r.(*source)
	whole, first, err := unpack(r)
	if err == nil && format == FormatAuto && len(first) > 0 {
		l.Format, err = taskFormat(first)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch l.Format {
	case FormatCSV:
		err = l.readRows(whole)
	case FormatTab:
		err = l.lines(whole, l.addTab)
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

// taskFormat returns the format of a log of tasks by its first lines.
func taskFormat(first []string) (Format, error) {
	switch format := detect(first); format {
	case FormatLoads:
		return "", fmt.Errorf("%w but a table of iteration loads, which chamtool forecast reads", ErrNoTasks)
	case "":
		return "", fmt.Errorf("%w, nor a table of iteration loads: its first line is %.60q", ErrNoTasks, first[0])
	default:
		return format, nil
	}
}

func (l *Log) readRows(r io.Reader) error {
	reader, err := dataset.NewReader[Row](r, l.Name, dataset.CSV, dataset.Options{})
	if err != nil {
		return err
	}
	for reader.Scan() {
		row := reader.Row()
		if reason := unusable(&row); reason != "" {
			reader.Reject(reason)
			continue
		}
		if row.MHz != nil && !event.IsFrequency(*row.MHz) {
			row.MHz = nil
		}
		l.keep(&row)
	}
	l.Counts, l.Diagnostics = reader.Counts(), reader.Diagnostics()
	return reader.Err()
}

// maxSeconds bounds times: about 30 years, which is far below what nanoseconds in 64 bits hold.
const maxSeconds = 1e9

// unusable says why a row cannot be used, or nothing.
func unusable(r *Row) string {
	switch {
	case r.Seconds <= 0 || r.Iteration < 0:
		return "a run of no time, or of no iteration"
	case !(math.Abs(r.Start) <= maxSeconds):
		return fmt.Sprintf("start_seconds %v: want at most %v", r.Start, maxSeconds)
	case !(r.Seconds <= maxSeconds):
		return fmt.Sprintf("seconds %v: want at most %v", r.Seconds, maxSeconds)
	case r.Queue != nil && !(math.Abs(*r.Queue) <= maxSeconds):
		return fmt.Sprintf("queue_seconds %v: want at most %v", *r.Queue, maxSeconds)
	}
	return ""
}

// keep keeps a row. Equal texts and sizes share memory: a row's own texts would hold its
// whole line.
func (l *Log) keep(r *Row) {
	if l.add != nil {
		l.add(r)
		return
	}
	l.key = r.Sizes.AppendText(l.key[:0])
	sizes, known := l.sizes[string(l.key)]
	if !known {
		sizes = r.Sizes
		l.sizes[string(l.key)] = sizes
	}
	r.Sizes = sizes
	r.Flag = unique.Make(r.Flag).Value()
	r.Entry = unique.Make(r.Entry).Value()
	if n := len(l.Rows); n == cap(l.Rows) && n >= 1000 && l.source != nil && l.source.size > 0 {
		expected := 1.02 * float64(n) * float64(l.source.size) / float64(l.source.n)
		l.Rows = slices.Grow(l.Rows, max(n/8, int(expected)-n)) // doubling would take half as much again
	}
	l.Rows = append(l.Rows, *r)
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
		fields := splitFields(line)
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

// addTab takes "id size... MHz seconds predicted" or "load predicted".
func (l *Log) addTab(fields []string) error {
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
		return fmt.Errorf("%.60q is not a task number", fields[0])
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
	if mhz != 0 && !event.IsFrequency(mhz) {
		return fmt.Errorf("%.60q is no frequency in MHz: want 100 to 10000, or 0 if it is unknown", fields[tail])
	}
	row := Row{Task: id, Flag: "local", Entry: "task", Sizes: sizes, Core: -1, Seconds: took}
	if mhz > 0 {
		row.MHz = &mhz
	}
	if predicted != 0 {
		row.Predicted = &predicted
	}
	l.keep(&row)
	return nil
}

func number(s, what string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%s %.60q is not a finite number", what, s)
	}
	return x, nil
}

func seconds(s, what string) (float64, error) {
	x, err := number(s, what)
	if err == nil && x <= 0 {
		return 0, fmt.Errorf("%s %.60q is not above 0", what, s)
	}
	return x, err
}
