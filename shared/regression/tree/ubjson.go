package tree

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// The part of Universal Binary JSON (ubjson.org, draft 12) that XGBoost
// writes: big-endian numbers, and counted lists of one type for the arrays of a
// tree.

const (
	deepest  = 32      // nesting of a model file is 6
	largestN = 1 << 28 // entries of one list
)

// readUBJSON decodes a whole document into maps, lists, strings, int64,
// float64, bool and the typed arrays.
func readUBJSON(data []byte) (any, error) {
	d := &ubjsonReader{data: data}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if len(d.data) > d.at {
		return nil, d.bad("%d bytes after the end", len(d.data)-d.at)
	}
	return v, nil
}

type ubjsonReader struct {
	data []byte
	at   int
}

func (d *ubjsonReader) bad(format string, args ...any) error {
	return bad(fmt.Sprintf("UBJSON at byte %d", d.at), format, args...)
}

// take returns the next n bytes.
func (d *ubjsonReader) take(n int) ([]byte, error) {
	if n < 0 || n > len(d.data)-d.at {
		return nil, d.bad("ends early")
	}
	b := d.data[d.at : d.at+n]
	d.at += n
	return b, nil
}

func (d *ubjsonReader) marker() (byte, error) {
	b, err := d.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (d *ubjsonReader) peek() byte {
	if d.at < len(d.data) {
		return d.data[d.at]
	}
	return 0
}

func (d *ubjsonReader) value(depth int) (any, error) {
	m, err := d.marker()
	if err != nil {
		return nil, err
	}
	return d.after(m, depth)
}

// after decodes what follows a marker.
func (d *ubjsonReader) after(m byte, depth int) (any, error) {
	if depth > deepest {
		return nil, d.bad("nested deeper than %d", deepest)
	}
	switch m {
	case 'Z':
		return nil, nil
	case 'T':
		return true, nil
	case 'F':
		return false, nil
	case 'S':
		return d.text()
	case '{':
		return d.object(depth)
	case '[':
		return d.list(depth)
	case 'd', 'D':
		return d.float(m)
	}
	return d.integer(m)
}

var widths = map[byte]int{'i': 1, 'U': 1, 'I': 2, 'l': 4, 'L': 8, 'd': 4, 'D': 8}

func (d *ubjsonReader) integer(m byte) (int64, error) {
	width, known := widths[m]
	if !known || m == 'd' || m == 'D' {
		return 0, d.bad("marker %q where a value should be", m)
	}
	b, err := d.take(width)
	if err != nil {
		return 0, err
	}
	switch m {
	case 'i':
		return int64(int8(b[0])), nil
	case 'U':
		return int64(b[0]), nil
	case 'I':
		return int64(int16(binary.BigEndian.Uint16(b))), nil
	case 'l':
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

func (d *ubjsonReader) float(m byte) (float64, error) {
	b, err := d.take(widths[m])
	if err != nil {
		return 0, err
	}
	if m == 'd' {
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b))), nil
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
}

// length is a typed count.
func (d *ubjsonReader) length() (int, error) {
	m, err := d.marker()
	if err != nil {
		return 0, err
	}
	n, err := d.integer(m)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > largestN {
		return 0, d.bad("length %d", n)
	}
	return int(n), nil
}

func (d *ubjsonReader) text() (string, error) {
	n, err := d.length()
	if err != nil {
		return "", err
	}
	b, err := d.take(n)
	return string(b), err
}

// object reads up to the closing brace, or a counted number of members.
func (d *ubjsonReader) object(depth int) (any, error) {
	count := -1
	if d.peek() == '#' {
		d.at++
		n, err := d.length()
		if err != nil {
			return nil, err
		}
		count = n
	}
	object := map[string]any{}
	for i := 0; i != count; i++ {
		if count < 0 && d.peek() == '}' {
			d.at++
			break
		}
		name, err := d.text()
		if err != nil {
			return nil, err
		}
		if object[name], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// list reads a list that is closed, counted, or counted and of one type.
func (d *ubjsonReader) list(depth int) (any, error) {
	var kind byte
	if d.peek() == '$' {
		d.at++
		m, err := d.marker()
		if err != nil {
			return nil, err
		}
		kind = m
		if d.peek() != '#' {
			return nil, d.bad("a typed list without a count")
		}
	}
	if d.peek() == '#' {
		d.at++
		n, err := d.length()
		if err != nil {
			return nil, err
		}
		if kind != 0 {
			return d.typed(kind, n)
		}
		return d.counted(n, depth)
	}
	list := []any{}
	for d.peek() != ']' {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	d.at++
	return list, nil
}

func (d *ubjsonReader) counted(n, depth int) (any, error) {
	list := make([]any, 0, min(n, len(d.data)-d.at))
	for range n {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// typed reads n numbers that share one marker.
func (d *ubjsonReader) typed(m byte, n int) (any, error) {
	width, known := widths[m]
	if !known {
		return nil, d.bad("a list of type %q", m)
	}
	b, err := d.take(n * width)
	if err != nil {
		return nil, err
	}
	switch m {
	case 'd':
		return each[floats](b, width, n, func(b []byte) float32 { return math.Float32frombits(binary.BigEndian.Uint32(b)) }), nil
	case 'l':
		return each[ints](b, width, n, func(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }), nil
	case 'L':
		return each[longs](b, width, n, func(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }), nil
	case 'U':
		return octets(b), nil
	}
	list := make([]any, n)
	sub := &ubjsonReader{data: b}
	for i := range list {
		if list[i], err = sub.after(m, 0); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func each[L ~[]T, T any](b []byte, width, n int, one func([]byte) T) L {
	list := make(L, n)
	for i := range list {
		list[i] = one(b[i*width:])
	}
	return list
}

// writeUBJSON encodes a document as XGBoost does. Names are in order, so the
// same model gives the same bytes.
func writeUBJSON(w io.Writer, v any) error {
	u := &ubjsonWriter{w: bufio.NewWriter(w)}
	u.value(v)
	return u.w.Flush()
}

// ubjsonWriter leaves errors to the Flush of its buffer.
type ubjsonWriter struct{ w *bufio.Writer }

func (u *ubjsonWriter) value(v any) {
	switch x := v.(type) {
	case map[string]any:
		u.w.WriteByte('{')
		names := make([]string, 0, len(x))
		for name := range x {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			u.text(name)
			u.value(x[name])
		}
		u.w.WriteByte('}')
	case []any:
		u.w.WriteString("[#")
		u.length(len(x))
		for _, item := range x {
			u.value(item)
		}
	case string:
		u.w.WriteByte('S')
		u.text(x)
	case int64:
		u.w.WriteByte('L')
		u.big(uint64(x), 8)
	case floats:
		u.typed('d', len(x))
		for _, n := range x {
			u.big(uint64(math.Float32bits(n)), 4)
		}
	case ints:
		u.typed('l', len(x))
		for _, n := range x {
			u.big(uint64(uint32(n)), 4)
		}
	case longs:
		u.typed('L', len(x))
		for _, n := range x {
			u.big(uint64(n), 8)
		}
	case octets:
		u.typed('U', len(x))
		u.w.Write(x)
	default:
		panic(fmt.Sprintf("tree: a model document holds a %T", v))
	}
}

func (u *ubjsonWriter) typed(m byte, n int) {
	u.w.WriteString("[$")
	u.w.WriteByte(m)
	u.w.WriteByte('#')
	u.length(n)
}

func (u *ubjsonWriter) text(s string) {
	u.length(len(s))
	u.w.WriteString(s)
}

func (u *ubjsonWriter) length(n int) {
	u.w.WriteByte('L')
	u.big(uint64(n), 8)
}

// big writes the lowest bytes of v, highest first.
func (u *ubjsonWriter) big(v uint64, bytes int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], v)
	u.w.Write(b[8-bytes:])
}
