package timing

import (
	"math"
	"strconv"
)

// AppendRepr appends x as Python's repr prints a float: the shortest decimal
// that reads back as x, with ".0" when it has no fraction, and in exponent
// form below 1e-4 and from 1e16 on.
func AppendRepr(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "nan"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, x, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// AppendReprList appends xs as Python's repr prints a list of floats.
func AppendReprList(dst []byte, xs []float64) []byte {
	dst = append(dst, '[')
	for i, x := range xs {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendRepr(dst, x)
	}
	return append(dst, ']')
}
