package joblib

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/pickle"
)

// values are the numbers of an array of float64.
type values []float64

// built reads what joblib puts behind the description of an array: another
// pickle for objects; else one byte with the length of a padding, the padding,
// and the values (joblib/numpy_pickle.py, NumpyArrayWrapper).
func built(d *pickle.Decoder, o *pickle.Object) (any, error) {
	if o.Class != wrapper {
		return o, nil
	}
	kind, err := kindOf(o.Attribute("dtype"))
	if err != nil {
		return nil, err
	}
	if kind[0] == 'O' {
		return d.Nested()
	}
	n, err := size(o.Attribute("shape"), kind)
	if err != nil {
		return nil, err
	}
	if o.Attribute("numpy_array_alignment_bytes") != nil {
		padding, err := d.Bytes(1)
		if err == nil {
			_, err = d.Bytes(uint64(padding[0]))
		}
		if err != nil {
			return nil, err
		}
	}
	b, err := d.Bytes(n)
	if err != nil || kind != "f8" {
		return b, err
	}
	out := make(values, n/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out, nil
}

// kindOf is how numpy writes a type: a letter and how many bytes.
func kindOf(v any) (string, error) {
	o, ok := v.(*pickle.Object)
	if !ok || o.Class != dtype || len(o.Args) == 0 {
		return "", fmt.Errorf("%w: an array of %T", ErrFormat, v)
	}
	kind, ok := o.Args[0].(string)
	order, _ := o.State.(pickle.Tuple)
	if !ok || kind == "" || len(order) > 1 && order[1] == ">" {
		return "", fmt.Errorf("%w: an array of %v", ErrFormat, o.Args[0])
	}
	return kind, nil
}

// size is how many bytes the values of an array have.
func size(shape any, kind string) (uint64, error) {
	var width uint64
	if _, err := fmt.Sscanf(kind[1:], "%d", &width); err != nil || width == 0 || width > 64 {
		return 0, fmt.Errorf("%w: an array of %q", ErrFormat, kind)
	}
	dimensions, ok := shape.(pickle.Tuple)
	for _, v := range dimensions {
		n, isInt := v.(int64)
		ok = ok && isInt && n >= 0 && n <= maxFile
		if ok {
			width = min(width*uint64(n), maxFile+1)
		}
	}
	if !ok || width > maxFile {
		return 0, fmt.Errorf("%w: an array of the shape %v", ErrFormat, shape)
	}
	return width, nil
}

// objects are the elements of an array of objects, which numpy reconstructs from
// (version, shape, dtype, order, list).
func objects(v any) ([]any, error) {
	if o, ok := v.(*pickle.Object); ok {
		if state, ok := o.State.(pickle.Tuple); ok && len(state) == 5 {
			v = state[4]
		}
	}
	l, ok := v.(*pickle.List)
	if !ok {
		return nil, fmt.Errorf("%w: %T for a list", ErrFormat, v)
	}
	return l.Items, nil
}

// texts are the elements of a list or an array, all of which are text.
func texts(v any) ([]string, error) {
	items, err := objects(v)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%w: %T for a name", ErrFormat, item)
		}
		out = append(out, s)
	}
	return out, nil
}
