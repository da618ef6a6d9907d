package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unicode/utf8"
)

// jsonSource reads rows from JSON lines.
type jsonSource struct {
	lines  *lines
	layout layout
	rest   []string
	known  bool // rest is known
	raw    []byte
}

func newJSONSource(r io.Reader, l layout, o Options) (*jsonSource, error) {
	lines, err := newLines(r)
	return &jsonSource{lines: lines, layout: l, rest: o.RestColumns, known: o.RestColumns != nil}, err
}

func (s *jsonSource) next(row reflect.Value) (line int, err error) {
	for {
		line = s.lines.n + 1
		s.raw, err = s.lines.appendLine(s.raw[:0])
		if errors.Is(err, errTooLong) {
			return line, badRecord(err.Error())
		}
		if err != nil {
			return line, err
		}
		if text := bytes.TrimSpace(s.raw); len(text) > 0 {
			return line, s.decode(row, text)
		}
	}
}

func (s *jsonSource) decode(row reflect.Value, text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return badRecord("not a JSON object: " + clip(string(text)))
	}
	for i := range s.layout.columns {
		c := &s.layout.columns[i]
		raw, ok := object[c.name]
		if !ok && c.optional {
			continue
		}
		if !ok {
			return badRecord(c.problem("missing").Error())
		}
		if err := c.setJSON(row.FieldByIndex(c.field), raw); err != nil {
			return badRecord(err.Error())
		}
	}
	if s.layout.rest < 0 {
		return nil
	}
	if !s.known {
		s.rest, s.known = s.restKeys(text), true
	}
	values := make([]float64, len(s.rest))
	for i, name := range s.rest {
		if raw := object[name]; !isNumber(raw) || json.Unmarshal(raw, &values[i]) != nil {
			return badRecord(fmt.Sprintf("column %q: %q is not a finite number", name, clip(string(raw))))
		}
	}
	row.Field(s.layout.rest).Set(reflect.ValueOf(values))
	return nil
}

// restKeys returns the keys of an object that no column names, in order.
func (s *jsonSource) restKeys(text []byte) []string {
	var keys []string
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token() // the opening brace
	for d.More() {
		key, _ := d.Token()
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			break
		}
		name, _ := key.(string)
		named := func(c column) bool { return c.name == name }
		if !slices.ContainsFunc(s.layout.columns, named) && !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return keys
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// setJSON stores a JSON scalar: text and times from strings, numbers from numbers,
// booleans from true and false.
func (c *column) setJSON(v reflect.Value, raw json.RawMessage) error {
	if string(raw) == "null" {
		return c.setMissing(v)
	}
	text := string(raw)
	var fits bool
	switch c.kind {
	case kindText, kindMarshaler, kindTime:
		fits = json.Unmarshal(raw, &text) == nil
	case kindBool:
		fits = text == "true" || text == "false"
	default:
		fits = isNumber(raw)
	}
	if !fits {
		return c.problem("%s is not %s", clip(text), c.kind)
	}
	return c.setText(v, text)
}

// jsonSink writes rows as JSON lines.
type jsonSink struct {
	w      *bufio.Writer
	layout layout
	keys   [][]byte // `"name":` of every column, then of the rest
	b      []byte
	cell   []byte
}

func newJSONSink(w io.Writer, l layout, o Options) (*jsonSink, error) {
	s := &jsonSink{w: bufio.NewWriterSize(w, 64<<10), layout: l}
	var names []string
	for _, c := range l.columns {
		names = append(names, c.name)
	}
	for _, name := range append(names, o.RestColumns...) {
		key, err := appendJSONString(nil, []byte(name))
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, append(key, ':'))
	}
	return s, nil
}

func (s *jsonSink) write(row reflect.Value) (err error) {
	s.b = append(s.b[:0], '{')
	for i := range s.layout.columns {
		c := &s.layout.columns[i]
		var ok bool
		if s.cell, ok, err = c.appendText(s.cell[:0], row.FieldByIndex(c.field)); err != nil {
			return err
		}
		if !ok {
			continue
		}
		s.key(i)
		switch c.kind {
		case kindText, kindTime, kindMarshaler:
			if s.b, err = appendJSONString(s.b, s.cell); err != nil {
				return c.problem("%w", err)
			}
		default:
			s.b = append(s.b, s.cell...)
		}
	}
	for i, x := range restOf(row, s.layout) {
		s.key(len(s.layout.columns) + i)
		if s.b, err = appendFloat(s.b, x, 64); err != nil {
			return fmt.Errorf("rest column %d: %w", i+1, err)
		}
	}
	_, err = s.w.Write(append(s.b, '}', '\n'))
	return err
}

func (s *jsonSink) key(i int) {
	if len(s.b) > 1 {
		s.b = append(s.b, ',')
	}
	s.b = append(s.b, s.keys[i]...)
}

func (s *jsonSink) close() error { return s.w.Flush() }

// appendJSONString appends text as a JSON string. Text that is not UTF-8 is an
// error, because JSON cannot hold it.
func appendJSONString(b, text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return b, errors.New("text is not UTF-8")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(text)); err != nil {
		return b, err
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), nil
}
