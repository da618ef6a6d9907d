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

// Quantity is a prediction with a unit: "46.9 s, 36.9 to 56.8 (95 %)".
type Quantity struct {
	uncertainty.Prediction
	Unit string
}

// Seconds returns a time in seconds as a Quantity, in the unit that suits it: µs,
// ms, s, min, h or d.
func Seconds(p uncertainty.Prediction) Quantity {
	units := []struct {
		name    string
		seconds float64
	}{{"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}
	suits := units[0]
	for _, u := range units[1:] {
		// a minute and a day begin at two of them: 90 s and 30 h read well
		if enough := u.seconds * map[string]float64{"min": 2, "d": 2}[u.name]; math.Abs(p.Value) >= max(enough, u.seconds) {
			suits = u
		}
	}
	if p.Value == 0 {
		suits = units[2]
	}
	return Quantity{p.Times(1 / suits.seconds), suits.name}
}

// String returns the value with its unit, and the interval with its level if one is
// known, to the digits that the interval's width supports.
func (q Quantity) String() string {
	decimals := decimals(q.Prediction)
	text := digits(q.Value, decimals) + " " + q.Unit
	if !q.Bounded() {
		return text
	}
	text += ", " + digits(q.Low, decimals) + " to " + digits(q.High, decimals)
	if q.Level > 0 {
		text += fmt.Sprintf(" (%g %%)", 100*q.Level)
	}
	return text
}

// decimals returns the number of decimals that shows two significant digits of the
// distance from the value to the nearer end; three significant digits of the value
// if no end is known.
func decimals(p uncertainty.Prediction) int {
	bears, keep := math.Min(p.Value-p.Low, p.High-p.Value), 2
	if bears > 0 { // an end very close to the value adds no digits
		bears = math.Max(bears, p.Width()/100)
	}
	if !p.Bounded() || !(bears > 0) {
		bears, keep = math.Abs(p.Value), 3
	}
	if !(bears > 0) {
		return 0
	}
	return min(max(keep-1-int(math.Floor(math.Log10(bears))), 0), 12)
}

func digits(x float64, decimals int) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

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
		n := decimals(v)
		if !v.Bounded() {
			return digits(v.Value, n)
		}
		return digits(v.Value, n) + " [" + digits(v.Low, n) + ", " + digits(v.High, n) + "]"
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
		return digits(x, decimals(uncertainty.Point(x)))
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
