package cli

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Share is a fraction of a whole, from 0 to 1, shown in percent.
type Share float64

// Quantity is a prediction with a unit.
type Quantity = uncertainty.Quantity

// Seconds returns a time in seconds as a Quantity, in the unit that suits it.
func Seconds(p uncertainty.Prediction) Quantity { return uncertainty.Seconds(p) }

// Text returns a cell for people: a number with three significant digits, a
// prediction with its interval to the digits that its width supports, a share in
// percent, "-" for an unknown value (nil, or not finite).
func Text(cell any) string {
	if v := reflect.ValueOf(cell); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "-"
	}
	switch v := cell.(type) {
	case error, fmt.Stringer:
		return fmt.Sprint(v)
	case float64:
		return number(v)
	case Share:
		if math.IsNaN(float64(v)) {
			return "-"
		}
		return strconv.FormatFloat(100*float64(v), 'f', 1, 64) + " %"
	case uncertainty.Prediction:
		n := v.Decimals()
		if !v.IsBounded() {
			return uncertainty.Digits(v.Value, n)
		}
		return uncertainty.Digits(v.Value, n) + " [" + uncertainty.Digits(v.Low, n) + ", " + uncertainty.Digits(v.High, n) + "]"
	}
	if v := reflect.ValueOf(cell); v.Kind() == reflect.Pointer {
		return Text(v.Elem().Interface())
	}
	return fmt.Sprint(cell)
}

// number returns three significant digits, and all digits before the point.
func number(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "-"
	case size != 0 && size < 1e-4 || size >= 1e9:
		return strconv.FormatFloat(x, 'g', 3, 64)
	default:
		return uncertainty.Digits(x, uncertainty.Point(x).Decimals())
	}
}

// exact returns a cell of a CSV file with all its digits, "" for an unknown value;
// [cellText] formats texts.
func exact(cell any) string {
	v := reflect.ValueOf(cell)
	if err, ok := cell.(error); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		return cellText(err.Error())
	}
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case !v.IsValid() || v.Kind() == reflect.Pointer:
		return ""
	case v.Kind() == reflect.Float64 && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return ""
	case v.Kind() == reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	text := fmt.Sprint(v.Interface())
	if v.CanInt() || v.CanUint() {
		return text
	}
	return cellText(text)
}
