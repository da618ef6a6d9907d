package dataset

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is the type of a column, whatever the file format.
type kind int

const (
	kindText kind = iota
	kindInt
	kindUint
	kindFloat
	kindBool
	kindTime
	kindMarshaler // encoding.TextMarshaler and TextUnmarshaler
)

func (k kind) String() string {
	return [...]string{"text", "an integer", "a non-negative integer", "a finite number", "true or false", "an RFC 3339 time", "valid"}[k]
}

// column is one field of the row type.
type column struct {
	name     string
	field    []int // index in the row struct, through embedded ones
	kind     kind
	pointer  bool // an empty cell is nil
	optional bool // the file may lack the column
}

// layout is the row type as columns. rest is the index of the field that takes the
// remaining columns, or -1.
type layout struct {
	columns []column
	rest    int
}

var (
	timeType        = reflect.TypeFor[time.Time]()
	durationType    = reflect.TypeFor[time.Duration]()
	marshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// layoutOf reads the tags of a struct type.
func layoutOf(t reflect.Type) (layout, error) {
	l := layout{rest: -1}
	if t.Kind() != reflect.Struct {
		return l, fmt.Errorf("%s: %w: not a struct", t, ErrRowType)
	}
	for _, f := range reflect.VisibleFields(t) { // embedded structs are their fields
		if err := l.add(f); err != nil {
			return l, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
	}
	if len(l.columns) == 0 && l.rest < 0 {
		return l, fmt.Errorf("%s: %w: no field has a dataset tag", t, ErrRowType)
	}
	return l, nil
}

func (l *layout) add(f reflect.StructField) error {
	tag, tagged := f.Tag.Lookup("dataset")
	name, option, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-", !tagged && !f.IsExported(), !tagged && f.Anonymous && f.Type.Kind() == reflect.Struct:
		return nil
	case !f.IsExported():
		return fmt.Errorf("%w: a column cannot be an unexported field", ErrRowType)
	case option == "rest":
		if f.Type != reflect.TypeFor[[]float64]() || l.rest >= 0 || name != "" || len(f.Index) > 1 {
			return fmt.Errorf(`%w: the rest is one []float64 field tagged ",rest"`, ErrRowType)
		}
		l.rest = f.Index[0]
		return nil
	case name == "":
		return fmt.Errorf(`%w: no dataset tag (use "-" to skip the field)`, ErrRowType)
	case option != "" && option != "optional":
		return fmt.Errorf("%w: unknown tag option %q", ErrRowType, option)
	case slices.ContainsFunc(l.columns, func(c column) bool { return c.name == name }):
		return fmt.Errorf("%w %q", ErrDuplicateColumn, name)
	}
	c := column{name: name, field: f.Index, optional: option == "optional"}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		c.pointer = true
		c.optional = true
		t = t.Elem()
	}
	var ok bool
	if c.kind, ok = kindOf(t); !ok || c.pointer && (c.kind == kindText || c.kind == kindMarshaler) {
		return fmt.Errorf("%w: a column cannot have type %s", ErrRowType, f.Type)
	}
	l.columns = append(l.columns, c)
	return nil
}

func kindOf(t reflect.Type) (kind, bool) {
	switch {
	case t == timeType:
		return kindTime, true
	case t == durationType: // seconds are a float64 with the unit in its name
		return 0, false
	case t.Implements(marshalerType) && reflect.PointerTo(t).Implements(unmarshalerType):
		return kindMarshaler, true
	}
	switch t.Kind() {
	case reflect.String:
		return kindText, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return kindInt, true
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return kindUint, true
	case reflect.Float32, reflect.Float64:
		return kindFloat, true
	case reflect.Bool:
		return kindBool, true
	}
	return 0, false
}

// setText stores the cell s in the field v. The error names the column and the cell, not the
// line.
func (c *column) setText(v reflect.Value, s string) error {
	if c.kind != kindText && c.kind != kindMarshaler {
		s = strings.TrimSpace(s)
		if s == "" {
			return c.setMissing(v)
		}
	}
	v = c.target(v)
	var err error
	switch c.kind {
	case kindText:
		v.SetString(s)
	case kindMarshaler:
		err = v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	case kindInt:
		var n int64
		if n, err = strconv.ParseInt(s, 10, v.Type().Bits()); err == nil {
			v.SetInt(n)
		}
	case kindUint:
		var n uint64
		if n, err = strconv.ParseUint(s, 10, v.Type().Bits()); err == nil {
			v.SetUint(n)
		}
	case kindFloat:
		var x float64
		if x, err = parseFloat(s, v.Type().Bits()); err == nil {
			v.SetFloat(x)
		}
	case kindBool:
		var b bool
		if b, err = strconv.ParseBool(s); err == nil {
			v.SetBool(b)
		}
	case kindTime:
		var t time.Time
		if t, err = time.Parse(time.RFC3339Nano, s); err == nil {
			v.Set(reflect.ValueOf(t.UTC()))
		}
	}
	switch {
	case err == nil:
		return nil
	case c.kind == kindMarshaler:
		return c.problem("%q: %w", clip(s), err)
	}
	return c.problem("%q is not %s", clip(s), c.kind)
}

// setMissing stores the absence of a value, if the field can hold it.
func (c *column) setMissing(v reflect.Value) error {
	if !c.pointer {
		return c.problem("empty")
	}
	v.SetZero()
	return nil
}

// target returns the value itself, allocating it if the field is a pointer.
func (c *column) target(v reflect.Value) reflect.Value {
	if !c.pointer {
		return v
	}
	v.Set(reflect.New(v.Type().Elem()))
	return v.Elem()
}

func (c *column) problem(format string, args ...any) error {
	return fmt.Errorf("column %q: %w", c.name, fmt.Errorf(format, args...))
}

// appendText appends the cell of the field v. ok is false for a missing value.
func (c *column) appendText(b []byte, v reflect.Value) (_ []byte, ok bool, err error) {
	if c.pointer {
		if v.IsNil() {
			return b, false, nil
		}
		v = v.Elem()
	}
	switch c.kind {
	case kindText:
		b = append(b, v.String()...)
	case kindInt:
		b = strconv.AppendInt(b, v.Int(), 10)
	case kindUint:
		b = strconv.AppendUint(b, v.Uint(), 10)
	case kindFloat:
		if b, err = appendFloat(b, v.Float(), v.Type().Bits()); err != nil {
			err = c.problem("%w", err)
		}
	case kindBool:
		b = strconv.AppendBool(b, v.Bool())
	case kindTime:
		b = v.Interface().(time.Time).UTC().AppendFormat(b, time.RFC3339Nano)
	case kindMarshaler:
		var text []byte
		if text, err = v.Interface().(encoding.TextMarshaler).MarshalText(); err != nil {
			err = c.problem("%w", err)
		}
		b = append(b, text...)
	}
	return b, true, err
}

func parseFloat(s string, bits int) (float64, error) {
	x, err := strconv.ParseFloat(s, bits)
	if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		err = ErrNotFinite
	}
	return x, err
}

func appendFloat(b []byte, x float64, bits int) ([]byte, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return b, fmt.Errorf("%v: %w", x, ErrNotFinite)
	}
	return strconv.AppendFloat(b, x, 'g', -1, bits), nil
}

// clip shortens a cell for a message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
