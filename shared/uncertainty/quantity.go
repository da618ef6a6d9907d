package uncertainty

import (
	"fmt"
	"math"
	"strconv"
)

// Quantity is a prediction with a unit: "46.9 s, 36.9 to 56.8 (95 %)".
type Quantity struct {
	Prediction
	Unit string
}

// Seconds returns a time in seconds as a Quantity, in the unit that suits it: µs,
// ms, s, min, h or d.
func Seconds(p Prediction) Quantity {
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
	decimals := q.Decimals()
	text := Digits(q.Value, decimals) + " " + q.Unit
	if !q.IsBounded() {
		return text
	}
	text += ", " + Digits(q.Low, decimals) + " to " + Digits(q.High, decimals)
	if q.Level > 0 {
		text += fmt.Sprintf(" (%.4g %%)", 100*q.Level)
	}
	return text
}

// Decimals returns the number of decimals that shows two significant digits of the
// distance from the value to the nearer end; three significant digits of the value
// if no end is known.
func (p Prediction) Decimals() int {
	bears, keep := math.Min(p.Value-p.Low, p.High-p.Value), 2
	if bears > 0 { // an end very close to the value adds no digits
		bears = math.Max(bears, p.Width()/100)
	}
	if !p.IsBounded() || !(bears > 0) {
		bears, keep = math.Abs(p.Value), 3
	}
	if !(bears > 0) {
		return 0
	}
	return min(max(keep-1-int(math.Floor(math.Log10(bears))), 0), 12)
}

// Digits returns a number with so many decimals, "-" if it is not finite.
func Digits(x float64, decimals int) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}
