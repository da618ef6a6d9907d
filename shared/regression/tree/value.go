package tree

import (
	"fmt"
	"math"
	"strconv"
)

// value is a part of a document with its place.
type value struct {
	v     any
	place string
}

func (v value) present() bool { return v.v != nil }

func (v value) get(name string) value {
	object, _ := v.v.(map[string]any)
	return value{object[name], v.place + "." + name}
}

func (v value) text() (string, error) {
	if s, ok := v.v.(string); ok {
		return s, nil
	}
	return "", bad(v.place, "want a string, found %s", kind(v.v))
}

func (v value) texts() ([]string, error) {
	list, err := v.list()
	if err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, item := range list {
		if out[i], err = item.text(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// count is a whole number from 0 in a string.
func (v value) count() (int, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0, bad(v.place, "%q is not a count", text)
	}
	return n, nil
}

func (v value) list() ([]value, error) {
	list, ok := v.v.([]any)
	if !ok {
		return nil, bad(v.place, "want a list, found %s", kind(v.v))
	}
	out := make([]value, len(list))
	for i, item := range list {
		out[i] = value{item, fmt.Sprintf("%s[%d]", v.place, i)}
	}
	return out, nil
}

// numbers reads a list of numbers, or of true and false; null is NaN.
func (v value) numbers() ([]float64, error) {
	switch list := v.v.(type) {
	case floats:
		return widened(list), nil
	case ints:
		return widened(list), nil
	case longs:
		return widened(list), nil
	case octets:
		return widened(list), nil
	case doubles:
		return list, nil
	case []any:
		out := make([]float64, len(list))
		for i, item := range list {
			switch x := item.(type) {
			case float64:
				out[i] = x
			case int64:
				out[i] = float64(x)
			case nil:
				out[i] = math.NaN()
			case bool:
				if x {
					out[i] = 1
				}
			default:
				return nil, bad(fmt.Sprintf("%s[%d]", v.place, i), "want a number, found %s", kind(item))
			}
		}
		return out, nil
	}
	return nil, bad(v.place, "want a list of numbers, found %s", kind(v.v))
}

func widened[T float32 | int32 | int64 | uint8](list []T) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = float64(x)
	}
	return out
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a string"
	case map[string]any:
		return "an object"
	case []any, floats, ints, longs, octets, doubles:
		return "a list"
	}
	return "a number"
}
