package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// maxRecord is the largest record of a text format, in bytes. It bounds memory if a
// quote is never closed.
const maxRecord = 16 << 20

var errTooLong = fmt.Errorf("longer than %d MiB", maxRecord>>20)

const byteOrderMark = "\uFEFF"

// lines reads physical lines with their line ends and counts them.
type lines struct {
	r *bufio.Reader
	n int // lines read so far
}

func newLines(r io.Reader) (*lines, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(len(byteOrderMark))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case string(head) == byteOrderMark:
		_, err = b.Discard(len(byteOrderMark))
		return &lines{r: b}, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, errors.New("the text is UTF-16; convert it to UTF-8")
	}
	return &lines{r: b}, nil
}

// appendLine appends the next line to b. It returns io.EOF at the end, and
// errTooLong after skipping a line that would not fit.
func (l *lines) appendLine(b []byte) ([]byte, error) {
	start, long := len(b), false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(b)+len(part) > maxRecord; long {
			b = b[:start]
		}
		if !long {
			b = append(b, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return b, err
		case err != nil && len(part) == 0 && len(b) == start && !long:
			return b, io.EOF
		}
		l.n++
		if long {
			return b, errTooLong
		}
		return b, nil
	}
}

// badRecord is the error of one record, without its place.
type badRecord string

func (e badRecord) Error() string { return string(e) }

// records splits CSV or TSV text into records.
type records struct {
	lines *lines
	comma byte
	raw   []byte // the record as read
	text  []byte // its fields without quoting, one after the other
	ends  []int  // where each field ends in text
}

// next returns the fields of the next non-empty record, and the line it starts on.
// After a badRecord the next call continues on the following line.
func (r *records) next() (fields []string, line int, err error) {
	for {
		line = r.lines.n + 1
		r.raw, err = r.lines.appendLine(r.raw[:0])
		switch {
		case errors.Is(err, errTooLong):
			return nil, line, badRecord(err.Error())
		case err != nil:
			return nil, line, err
		case len(chomp(r.raw)) > 0:
			fields, err = r.split(line)
			return fields, line, err
		}
	}
}

func (r *records) split(line int) ([]string, error) {
	r.text, r.ends = r.text[:0], r.ends[:0]
	for at, more := 0, true; more; {
		var err error
		if at < len(r.raw) && r.raw[at] == '"' {
			at, more, err = r.readQuoted(at+1, line)
		} else {
			at, more, err = r.plain(at)
		}
		if err != nil {
			return nil, err
		}
		r.ends = append(r.ends, len(r.text))
	}
	text := string(r.text)
	fields := make([]string, len(r.ends))
	start := 0
	for i, end := range r.ends {
		fields[i], start = text[start:end], end
	}
	return fields, nil
}

// plain reads an unquoted field that starts at raw[at]. It returns the start of the
// next field, and false if there is none.
func (r *records) plain(at int) (next int, more bool, err error) {
	field := r.raw[at:]
	if i := bytes.IndexByte(field, r.comma); i >= 0 {
		field, more = field[:i], true
	} else {
		field = chomp(field)
	}
	if bytes.IndexByte(field, '"') >= 0 {
		return 0, false, badRecord("a quote inside an unquoted field")
	}
	r.text = append(r.text, field...)
	return at + len(field) + 1, more, nil
}

// readQuoted reads a field whose opening quote is before raw[at]; it returns what plain
// does.
func (r *records) readQuoted(at, line int) (next int, more bool, err error) {
	for {
		i := bytes.IndexByte(r.raw[at:], '"')
		if i < 0 {
			r.text = append(r.text, r.raw[at:]...)
			at = len(r.raw)
			if r.raw, err = r.lines.appendLine(r.raw); err != nil {
				if errors.Is(err, io.EOF) || errors.Is(err, errTooLong) {
					err = badRecord(fmt.Sprintf("a quote that is never closed: lines %d to %d are lost", line, r.lines.n))
				}
				return 0, false, err
			}
			continue
		}
		r.text = append(r.text, r.raw[at:at+i]...)
		at += i + 1
		switch rest := r.raw[at:]; {
		case len(rest) > 0 && rest[0] == '"':
			r.text = append(r.text, '"')
			at++
		case len(rest) > 0 && rest[0] == r.comma:
			return at + 1, true, nil
		case len(chomp(rest)) == 0:
			return at, false, nil
		default:
			return 0, false, badRecord("text after a closing quote")
		}
	}
}

// chomp removes a line end.
func chomp(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}

// csvSource reads rows from CSV or TSV text.
type csvSource struct {
	records *records
	layout  layout
	at      []int // the column's index in a record, or -1
	restAt  []int
	width   int
}

func newCSVSource(r io.Reader, comma byte, l layout, o Options) (_ *csvSource, rest []string, err error) {
	lines, err := newLines(r)
	if err != nil {
		return nil, nil, err
	}
	s := &csvSource{records: &records{lines: lines, comma: comma}, layout: l}
	if o.NoHeader {
		return s, o.RestColumns, s.useOrder(o.RestColumns)
	}
	header, _, err := s.records.next()
	if errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("the file is empty: %w", s.firstMissing())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	rest, err = s.useHeader(header, o.RestColumns)
	return s, rest, err
}

func (s *csvSource) firstMissing() error {
	if len(s.layout.columns) == 0 {
		return ErrMissingColumn
	}
	return fmt.Errorf("%w %q", ErrMissingColumn, s.layout.columns[0].name)
}

// useOrder maps columns to fields in order. The number of rest columns, if not
// given, is known after the first row.
func (s *csvSource) useOrder(rest []string) error {
	for i := range s.layout.columns {
		s.at = append(s.at, i)
	}
	s.width = len(s.at)
	for range rest {
		s.restAt = append(s.restAt, s.width)
		s.width++
	}
	if s.layout.rest >= 0 && rest == nil {
		s.width = -1
	}
	return nil
}

func (s *csvSource) useHeader(header, rest []string) ([]string, error) {
	place := make(map[string]int, len(header))
	for i, name := range header {
		name = strings.TrimSpace(name)
		if _, twice := place[name]; twice {
			return nil, fmt.Errorf("header: %w %q", ErrDuplicateColumn, name)
		}
		place[name], header[i] = i, name
	}
	s.width = len(header)
	taken := make([]bool, len(header))
	for _, c := range s.layout.columns {
		i, ok := place[c.name]
		switch {
		case ok:
			taken[i] = true
		case !c.optional:
			return nil, fmt.Errorf("header: %w %q", ErrMissingColumn, c.name)
		default:
			i = -1
		}
		s.at = append(s.at, i)
	}
	if s.layout.rest < 0 {
		return nil, nil
	}
	if rest == nil {
		for i, name := range header {
			if !taken[i] {
				rest = append(rest, name)
			}
		}
	}
	for _, name := range rest {
		i, ok := place[name]
		if !ok {
			return nil, fmt.Errorf("header: %w %q", ErrMissingColumn, name)
		}
		s.restAt = append(s.restAt, i)
	}
	return rest, nil
}

func (s *csvSource) next(row reflect.Value) (line int, err error) {
	fields, line, err := s.records.next()
	if err != nil {
		return line, err
	}
	if s.width < 0 && len(fields) >= len(s.at) { // no header, first row
		for i := len(s.at); i < len(fields); i++ {
			s.restAt = append(s.restAt, i)
		}
		s.width = len(fields)
	}
	switch {
	case s.width < 0:
		return line, badRecord(fmt.Sprintf("%d fields, want %d or more", len(fields), len(s.at)))
	case len(fields) != s.width:
		return line, badRecord(fmt.Sprintf("%d fields, want %d", len(fields), s.width))
	}
	for i := range s.layout.columns {
		c := &s.layout.columns[i]
		if s.at[i] < 0 {
			continue
		}
		if err := c.setText(row.FieldByIndex(c.field), fields[s.at[i]]); err != nil {
			return line, badRecord(err.Error())
		}
	}
	if s.layout.rest < 0 {
		return line, nil
	}
	values := make([]float64, len(s.restAt))
	for k, i := range s.restAt {
		if values[k], err = parseFloat(strings.TrimSpace(fields[i]), 64); err != nil {
			return line, badRecord(fmt.Sprintf("column %d: %q is not a finite number", i+1, clip(fields[i])))
		}
	}
	row.Field(s.layout.rest).Set(reflect.ValueOf(values))
	return line, nil
}

// csvSink writes rows as CSV or TSV text.
type csvSink struct {
	w      *bufio.Writer
	comma  byte
	layout layout
	rest   int // number of rest columns
	b      []byte
	cell   []byte
}

func newCSVSink(w io.Writer, comma byte, l layout, o Options) (*csvSink, error) {
	s := &csvSink{w: bufio.NewWriterSize(w, 64<<10), comma: comma, layout: l, rest: len(o.RestColumns)}
	if o.NoHeader {
		return s, nil
	}
	var names []string
	for _, c := range l.columns {
		names = append(names, c.name)
	}
	for i, name := range append(names, o.RestColumns...) {
		s.begin(i)
		s.b = s.appendField(s.b, []byte(name))
	}
	return s, s.end()
}

func (s *csvSink) begin(i int) {
	if i > 0 {
		s.b = append(s.b, s.comma)
	}
}

func (s *csvSink) end() error {
	if len(s.b) == 0 { // one empty cell: an empty line would be skipped
		s.b = append(s.b, '"', '"')
	}
	s.b = append(s.b, '\n')
	_, err := s.w.Write(s.b)
	s.b = s.b[:0]
	return err
}

func (s *csvSink) write(row reflect.Value) (err error) {
	s.b = s.b[:0]
	for i := range s.layout.columns {
		c := &s.layout.columns[i]
		if s.cell, _, err = c.appendText(s.cell[:0], row.FieldByIndex(c.field)); err != nil {
			return err
		}
		s.begin(i)
		s.b = s.appendField(s.b, s.cell)
	}
	for i, x := range restOf(row, s.layout) {
		s.begin(len(s.layout.columns) + i)
		if s.b, err = appendFloat(s.b, x, 64); err != nil {
			return fmt.Errorf("rest column %d: %w", i+1, err)
		}
	}
	return s.end()
}

func (s *csvSink) close() error { return s.w.Flush() }

// appendField appends a cell, quoted if a reader would not otherwise get the same
// cell back.
func (s *csvSink) appendField(b, cell []byte) []byte {
	if !slices.ContainsFunc(cell, func(c byte) bool { return c == s.comma || c == '"' || c == '\n' || c == '\r' }) &&
		!bytes.HasPrefix(cell, []byte(byteOrderMark)) {
		return append(b, cell...)
	}
	b = append(b, '"')
	for _, c := range cell {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

// restOf returns the rest columns of a row.
func restOf(row reflect.Value, l layout) []float64 {
	if l.rest < 0 {
		return nil
	}
	return row.Field(l.rest).Interface().([]float64)
}
