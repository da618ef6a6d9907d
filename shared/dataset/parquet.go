//go:build !noparquet

package dataset

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetBatch is the number of rows read or written at a time.
const parquetBatch = 256

// parquetSource reads rows from a Parquet file. The columns that it reads must be
// plain: not repeated, not nested.
type parquetSource struct {
	file    *parquet.File
	groups  []parquet.RowGroup // still to read
	rows    parquet.Rows       // of the group being read, or nil
	layout  layout
	columns []parquetColumn // by leaf index
	rest    []string
	batch   []parquet.Row
	have    int // number of rows in batch
	at      int // next row in batch
	line    int
}

// parquetColumn maps a leaf column of the file to a column of the row type, to an
// index in the rest, or (both below 0) to nothing.
type parquetColumn struct {
	column, rest int
	tick         time.Duration // unit of a timestamp
}

func newParquetSource(r io.Reader, l layout, o Options) (_ *parquetSource, err error) {
	defer recoverPanic(&err)
	at, size, err := readerAt(r)
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(at, size)
	if err != nil {
		return nil, err
	}
	s := &parquetSource{file: file, groups: file.RowGroups(), layout: l, rest: o.RestColumns, batch: make([]parquet.Row, parquetBatch)}
	return s, s.bind(o.RestColumns == nil)
}

// openParquet returns the source of a file, and its columns that no field names.
func openParquet(r io.Reader, l layout, o Options) (source, []string, error) {
	s, err := newParquetSource(r, l, o)
	if err != nil {
		return nil, nil, err
	}
	return s, s.rest, nil
}

// readerAt gives random access to r, reading it into memory if necessary.
func readerAt(r io.Reader) (io.ReaderAt, int64, error) {
	if f, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		size, err := f.Seek(0, io.SeekEnd)
		return f, size, err
	}
	b, err := io.ReadAll(r)
	return bytes.NewReader(b), int64(len(b)), err
}

// bind finds the file's leaf column for each column of the row type.
func (s *parquetSource) bind(takeRest bool) error {
	wanted := make(map[string]parquetColumn)
	for i, c := range s.layout.columns {
		wanted[c.name] = parquetColumn{column: i, rest: -1}
	}
	for i, name := range s.rest {
		wanted[name] = parquetColumn{column: -1, rest: i}
	}
	seen := make(map[string]bool)
	schema := s.file.Schema()
	for _, path := range schema.Columns() {
		leaf, _ := schema.Lookup(path...)
		name := path[0]
		to, ok := wanted[name]
		if !ok && takeRest && s.layout.rest >= 0 && len(path) == 1 {
			to, ok = parquetColumn{column: -1, rest: len(s.rest)}, true
			s.rest = append(s.rest, name)
		}
		if ok && (len(path) > 1 || leaf.MaxRepetitionLevel > 0) {
			return fmt.Errorf("column %q: nested and repeated columns are not supported", name)
		}
		if !ok {
			to = parquetColumn{column: -1, rest: -1}
		}
		to.tick = tickOf(leaf.Node.Type().LogicalType())
		s.columns = append(s.columns, to)
		seen[name] = true
	}
	for _, c := range s.layout.columns {
		if !seen[c.name] && !c.optional {
			return fmt.Errorf("%w %q", ErrMissingColumn, c.name)
		}
	}
	for _, name := range s.rest {
		if !seen[name] {
			return fmt.Errorf("%w %q", ErrMissingColumn, name)
		}
	}
	return nil
}

func tickOf(t *format.LogicalType) time.Duration {
	if t == nil {
		return 0
	}
	stamp, ok := t.Value.(*format.TimestampType)
	if !ok {
		return 0
	}
	switch stamp.Unit.Value.(type) {
	case *format.MilliSeconds:
		return time.Millisecond
	case *format.MicroSeconds:
		return time.Microsecond
	}
	return time.Nanosecond
}

func (s *parquetSource) next(row reflect.Value) (line int, err error) {
	defer recoverPanic(&err)
	for s.at == s.have {
		if err := s.readBatch(); err != nil {
			return s.line + 1, err
		}
	}
	s.line++
	s.at++
	return s.line, s.decode(row, s.batch[s.at-1])
}

// readBatch reads the next batch.
func (s *parquetSource) readBatch() error {
	if s.rows == nil {
		if len(s.groups) == 0 {
			return io.EOF
		}
		s.rows, s.groups = s.groups[0].Rows(), s.groups[1:]
	}
	n, err := s.rows.ReadRows(s.batch)
	s.at, s.have = 0, n
	switch {
	case errors.Is(err, io.EOF):
		err = s.rows.Close()
		s.rows = nil
	case err == nil && n == 0:
		err = io.ErrNoProgress
	}
	return err
}

func (s *parquetSource) decode(row reflect.Value, cells parquet.Row) error {
	var rest []float64
	if s.layout.rest >= 0 {
		rest = make([]float64, len(s.rest))
	}
	for _, cell := range cells {
		to := s.columns[cell.Column()]
		switch {
		case to.column >= 0:
			c := &s.layout.columns[to.column]
			if err := c.setParquet(row.FieldByIndex(c.field), cell, to.tick); err != nil {
				return badRecord(err.Error())
			}
		case to.rest >= 0:
			x, ok := number(cell)
			if !ok {
				return badRecord(fmt.Sprintf("column %q: %v is not a finite number", s.rest[to.rest], cell))
			}
			rest[to.rest] = x
		}
	}
	if rest != nil {
		row.Field(s.layout.rest).Set(reflect.ValueOf(rest))
	}
	return nil
}

// number returns a numeric value as a finite float64.
func number(v parquet.Value) (x float64, ok bool) {
	if v.IsNull() {
		return 0, false
	}
	switch v.Kind() {
	case parquet.Int32:
		return float64(v.Int32()), true
	case parquet.Int64:
		return float64(v.Int64()), true
	case parquet.Float:
		x = float64(v.Float())
	case parquet.Double:
		x = v.Double()
	default:
		return 0, false
	}
	return x, !math.IsNaN(x) && !math.IsInf(x, 0)
}

func integer(v parquet.Value) (int64, bool) {
	switch v.Kind() {
	case parquet.Int32:
		return int64(v.Int32()), true
	case parquet.Int64:
		return v.Int64(), true
	}
	return 0, false
}

// setParquet stores a Parquet value. It converts between widths of numbers only.
func (c *column) setParquet(v reflect.Value, cell parquet.Value, tick time.Duration) (err error) {
	if cell.IsNull() {
		return c.setMissing(v)
	}
	v = c.target(v)
	n, isInt := integer(cell)
	switch {
	case c.kind == kindText && cell.Kind() == parquet.ByteArray:
		v.SetString(string(cell.ByteArray()))
		return nil
	case c.kind == kindMarshaler && cell.Kind() == parquet.ByteArray:
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(cell.ByteArray()); err != nil {
			return c.problem("%q: %v", clip(cell.String()), err)
		}
		return nil
	case c.kind == kindInt && isInt && !v.OverflowInt(n):
		v.SetInt(n)
		return nil
	case c.kind == kindUint && isInt && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
		return nil
	case c.kind == kindBool && cell.Kind() == parquet.Boolean:
		v.SetBool(cell.Boolean())
		return nil
	case c.kind == kindTime && isInt && tick > 0:
		perSecond := int64(time.Second / tick)
		seconds, rest := n/perSecond, n%perSecond
		v.Set(reflect.ValueOf(time.Unix(seconds, rest*int64(tick)).UTC()))
		return nil
	case c.kind == kindFloat:
		if x, ok := number(cell); ok && !v.OverflowFloat(x) {
			v.SetFloat(x)
			return nil
		}
	}
	return c.problem("%v is not %s", cell, c.kind)
}

// parquetSink writes rows to a Parquet file.
type parquetSink struct {
	w      *parquet.GenericWriter[any]
	layout layout
	batch  []parquet.Row
}

func newParquetSink(w io.Writer, l layout, o Options) (_ *parquetSink, err error) {
	defer recoverPanic(&err)
	root := ordered{Group: parquet.Group{}}
	for _, c := range l.columns {
		node := c.parquetNode()
		if c.pointer {
			node = parquet.Optional(node)
		}
		root.add(c.name, node)
	}
	for _, name := range o.RestColumns {
		root.add(name, parquet.Leaf(parquet.DoubleType))
	}
	schema := parquet.NewSchema("row", root)
	return &parquetSink{
		w:      parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Snappy), parquet.CreatedBy("foretime", "1", "dataset")),
		layout: l,
	}, nil
}

// ordered is a Parquet group whose fields keep their order; the library sorts its
// own by name.
type ordered struct {
	parquet.Group
	fields *[]parquet.Field
}

func (g *ordered) add(name string, node parquet.Node) {
	if g.fields == nil {
		g.fields = new([]parquet.Field)
	}
	g.Group[name] = node
	*g.fields = append(*g.fields, (parquet.Group{name: node}).Fields()...)
}

// Fields returns the fields in order.
func (g ordered) Fields() []parquet.Field { return *g.fields }

func (c *column) parquetNode() parquet.Node {
	switch c.kind {
	case kindInt, kindUint:
		return parquet.Leaf(parquet.Int64Type)
	case kindFloat:
		return parquet.Leaf(parquet.DoubleType)
	case kindBool:
		return parquet.Leaf(parquet.BooleanType)
	case kindTime:
		return parquet.Timestamp(parquet.Nanosecond)
	}
	return parquet.String()
}

func (s *parquetSink) write(row reflect.Value) error {
	cells := make(parquet.Row, 0, len(s.layout.columns))
	for i := range s.layout.columns {
		c := &s.layout.columns[i]
		cell, err := c.parquetValue(row.FieldByIndex(c.field))
		if err != nil {
			return err
		}
		level := 0
		if c.pointer && !cell.IsNull() {
			level = 1
		}
		cells = append(cells, cell.Level(0, level, len(cells)))
	}
	for i, x := range restOf(row, s.layout) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("rest column %d: %v: %w", i+1, x, ErrNotFinite)
		}
		cells = append(cells, parquet.DoubleValue(x).Level(0, 0, len(cells)))
	}
	if s.batch = append(s.batch, cells); len(s.batch) == parquetBatch {
		return s.flush()
	}
	return nil
}

func (c *column) parquetValue(v reflect.Value) (parquet.Value, error) {
	if c.pointer {
		if v.IsNil() {
			return parquet.NullValue(), nil
		}
		v = v.Elem()
	}
	switch c.kind {
	case kindInt:
		return parquet.Int64Value(v.Int()), nil
	case kindUint:
		return parquet.Int64Value(int64(v.Uint())), nil
	case kindBool:
		return parquet.BooleanValue(v.Bool()), nil
	case kindFloat:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return parquet.Value{}, c.problem("%v: %w", x, ErrNotFinite)
		}
		return parquet.DoubleValue(v.Float()), nil
	case kindTime:
		t := v.Interface().(time.Time)
		if !time.Unix(0, t.UnixNano()).Equal(t) {
			return parquet.Value{}, c.problem("%v does not fit in 64 bits of nanoseconds", t)
		}
		return parquet.Int64Value(t.UnixNano()), nil
	}
	text, _, err := c.appendText(nil, v)
	return parquet.ByteArrayValue(text), err
}

func (s *parquetSink) flush() (err error) {
	defer recoverPanic(&err)
	_, err = s.w.WriteRows(s.batch)
	s.batch = s.batch[:0]
	return err
}

func (s *parquetSink) close() (err error) {
	defer recoverPanic(&err)
	if err := s.flush(); err != nil {
		return err
	}
	return s.w.Close()
}

// recoverPanic turns a panic of the library, which damaged files can cause, into an
// error.
func recoverPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged or unsupported Parquet: %v", p)
	}
}
