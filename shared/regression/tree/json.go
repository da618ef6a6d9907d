package tree

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// readJSON decodes a document as [readUBJSON] does: a list of numbers becomes
// one array, where encoding/json would keep a value of its own for every number
// of every node.
func readJSON(data []byte) (any, error) {
	if !json.Valid(data) {
		var whole json.RawMessage
		return nil, bad("model", "%v", json.Unmarshal(data, &whole))
	}
	d := &jsonReader{data: data}
	return d.value()
}

// jsonReader walks a document that is known to be valid.
type jsonReader struct {
	data []byte
	at   int
}

// next is the byte that starts the next token.
func (d *jsonReader) next() byte {
	for {
		switch c := d.data[d.at]; c {
		case ' ', '\t', '\r', '\n':
			d.at++
		default:
			return c
		}
	}
}

// follows skips a separator and says whether the list or object goes on.
func (d *jsonReader) follows() bool {
	c := d.next()
	d.at++
	return c == ','
}

func (d *jsonReader) value() (any, error) {
	switch c := d.next(); c {
	case '{':
		return d.object()
	case '[':
		return d.list()
	case '"':
		return d.text()
	case 't', 'f':
		d.at += len("true")
		if c == 'f' {
			d.at++
		}
		return c == 't', nil
	case 'n':
		d.at += len("null")
		return nil, nil
	}
	return d.number()
}

func (d *jsonReader) object() (any, error) {
	object := map[string]any{}
	d.at++
	if d.next() == '}' {
		d.at++
		return object, nil
	}
	for more := true; more; more = d.follows() {
		d.next()
		name, err := d.text()
		if err != nil {
			return nil, err
		}
		d.next()
		d.at++ // the colon
		if object[name], err = d.value(); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func (d *jsonReader) list() (any, error) {
	start := d.at
	d.at++
	switch d.next() {
	case ']':
		d.at++
		return []any{}, nil
	case '{', '[', '"':
	default:
		numbers, ok, err := d.numbers()
		if ok || err != nil {
			return numbers, err
		}
		d.at = start + 1 // mixed
	}
	var list []any
	for more := true; more; more = d.follows() {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// numbers reads a list up to its end; false if it holds something else than
// numbers, true, false and null. Null is NaN.
func (d *jsonReader) numbers() (doubles, bool, error) {
	length := bytes.IndexByte(d.data[d.at:], ']')
	list := make(doubles, 0, 1+bytes.Count(d.data[d.at:d.at+length], []byte{','}))
	for more := true; more; more = d.follows() {
		switch d.next() {
		case '{', '[', '"':
			return nil, false, nil
		case 't':
			d.at += len("true")
			list = append(list, 1)
		case 'f':
			d.at += len("false")
			list = append(list, 0)
		case 'n':
			d.at += len("null")
			list = append(list, math.NaN())
		default:
			x, err := d.number()
			if err != nil {
				return nil, false, err
			}
			list = append(list, x)
		}
	}
	return list, true, nil
}

func (d *jsonReader) number() (float64, error) {
	start := d.at
	for d.at < len(d.data) && inNumber(d.data[d.at]) {
		d.at++
	}
	x, err := strconv.ParseFloat(string(d.data[start:d.at]), 64)
	if err != nil {
		return 0, bad("model", "%v at byte %d", err, start)
	}
	return x, nil
}

func inNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// text reads a string; what it escapes is left to encoding/json.
func (d *jsonReader) text() (string, error) {
	start := d.at
	for d.at++; d.data[d.at] != '"'; d.at++ {
		if d.data[d.at] == '\\' {
			d.at++
		}
	}
	d.at++
	var s string
	err := json.Unmarshal(d.data[start:d.at], &s)
	return s, err
}
