package placement

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Answer is the device that runs the model fastest.
type Answer struct {
	Node, Class, DeviceModel, UUID string
	Seconds                        float64
}

// Extra is a member of the answer that the original does not have; its value is
// written as encoding/json has it, in the form of the rest.
type Extra struct {
	Name  string // sorted, and after "model_characteristics"
	Value any
}

// AppendAnswer writes the answer to a request, as the original does: Flask's jsonify
// in debug mode, a final newline included. Extras come before and after
// profiling_prediction, by their names. The error is of an extra's value.
func AppendAnswer(to []byte, r *Request, p Answer, extras []Extra) ([]byte, error) {
	to = append(to, "{\n  \"message\": \"Profiling data received\",\n  \"model_characteristics\": "...)
	to = indentObject(to, r.members, 1)
	after := 0
	for after < len(extras) && extras[after].Name < "profiling_prediction" {
		after++
	}
	to, err := appendExtras(to, extras[:after])
	if err != nil {
		return to, err
	}
	to = append(to, ",\n  \"profiling_prediction\": {\n    \"class\": "...)
	to = appendText(to, p.Class)
	to = append(to, ",\n    \"device_model\": "...)
	to = appendText(to, p.DeviceModel)
	to = append(to, ",\n    \"model\": "...)
	to = ascii(to, r.model)
	to = append(to, ",\n    \"node\": "...)
	to = appendText(to, p.Node)
	to = append(to, ",\n    \"node_uuid\": "...)
	to = appendText(to, p.UUID)
	to = append(to, ",\n    \"predicted_execution_time\": "...)
	to = appendFloat(to, p.Seconds)
	to = append(to, "\n  }"...)
	if to, err = appendExtras(to, extras[after:]); err != nil {
		return to, err
	}
	return append(to, ",\n  \"status\": \"success\"\n}\n"...), nil
}

func appendExtras(to []byte, extras []Extra) ([]byte, error) {
	for _, e := range extras {
		raw, err := json.Marshal(e.Value)
		if err != nil {
			return to, err
		}
		to = append(to, ",\n  "...)
		to = appendText(to, e.Name)
		to = indent(append(to, ": "...), raw, 1)
	}
	return to, nil
}

// indent writes a value in Python's form of indent=2, keys sorted.
func indent(to, raw []byte, depth int) []byte {
	switch raw[0] {
	case '{':
		return indentObject(to, object(raw, 0), depth)
	case '[':
		values := array(raw, 0)
		if len(values) == 0 {
			return append(to, "[]"...)
		}
		for i, v := range values {
			to = line(to, "[,"[min(i, 1)], depth+1)
			to = indent(to, v, depth+1)
		}
		return append(line(to, 0, depth), ']')
	case '"':
		return ascii(to, raw)
	}
	return append(to, raw...)
}

func indentObject(to []byte, members []member, depth int) []byte {
	if len(members) == 0 {
		return append(to, "{}"...)
	}
	for i, at := range sorted(members) {
		m := members[at]
		to = line(to, "{,"[min(i, 1)], depth+1)
		to = ascii(to, m.key)
		to = append(to, ": "...)
		to = indent(to, m.value, depth+1)
	}
	return append(line(to, 0, depth), '}')
}

// line begins a new one, after a mark if there is one.
func line(to []byte, mark byte, depth int) []byte {
	if mark != 0 {
		to = append(to, mark)
	}
	to = append(to, '\n')
	for range depth {
		to = append(to, "  "...)
	}
	return to
}

func appendText(to []byte, s string) []byte {
	to = append(to, '"')
	for _, r := range s {
		if r < utf8.RuneSelf && verbatim(byte(r)) {
			to = append(to, byte(r))
		} else {
			to = unit(to, r)
		}
	}
	return append(to, '"')
}

// ascii rewrites a JSON string in the escapes that Python uses. Halves of a
// surrogate pair stay as they are.
func ascii(to, raw []byte) []byte {
	to = append(to, '"')
	for b := raw[1 : len(raw)-1]; len(b) > 0; {
		switch {
		case b[0] == '\\' && b[1] == 'u':
			v, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
			to = unit(to, rune(v))
			b = b[6:]
		case b[0] == '\\':
			to = unit(to, rune((`"\/` + "\b\f\n\r\t")[strings.IndexByte(`"\/bfnrt`, b[1])]))
			b = b[2:]
		case verbatim(b[0]):
			n := 1
			for n < len(b) && verbatim(b[n]) {
				n++
			}
			to = append(to, b[:n]...)
			b = b[n:]
		default:
			r, n := utf8.DecodeRune(b)
			to = unit(to, r)
			b = b[n:]
		}
	}
	return append(to, '"')
}

// verbatim reports a character that stands for itself.
func verbatim(b byte) bool { return b >= ' ' && b <= '~' && b != '"' && b != '\\' }

const hex = "0123456789abcdef"

// unit writes one character.
func unit(to []byte, r rune) []byte {
	switch i := strings.IndexRune("\"\\\b\f\n\r\t", r); {
	case i >= 0 && r < utf8.RuneSelf:
		return append(to, '\\', `"\bfnrt`[i])
	case r >= ' ' && r <= '~':
		return append(to, byte(r))
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return unit(unit(to, high), low)
	}
	return append(to, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// appendFloat writes a finite number as Python's repr does.
func appendFloat(to []byte, v float64) []byte {
	if size := math.Abs(v); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(to, v, 'e', -1, 64)
	}
	to = strconv.AppendFloat(to, v, 'f', -1, 64)
	if v == math.Trunc(v) {
		to = append(to, ".0"...)
	}
	return to
}
