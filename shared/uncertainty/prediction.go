package uncertainty

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Errors returned when an interval cannot be computed or judged.
var (
	ErrTooFew = errors.New("too few values")              // no finite interval reaches the level
	ErrLevel  = errors.New("level out of range")          // not in (0, 1), or another than promised
	ErrValue  = errors.New("unusable value")              // NaN or infinite, or not above 0 for a factor
	ErrLength = errors.New("values of different lengths") // of predicted, actual and groups
)

// Prediction is a value with an interval that contains the truth with probability
// Level. Value, Low and High have the predicted quantity's unit; an unknown end is
// infinite.
//
// In a struct that is written as JSON, use a named field: embedded, only the
// prediction would be written.
type Prediction struct {
	Value, Low, High float64
	Level            float64 // in (0, 1); 0 if unknown
}

// Point returns a value without a known interval.
func Point(value float64) Prediction {
	return Prediction{Value: value, Low: math.Inf(-1), High: math.Inf(1)}
}

// IsBounded reports whether both ends of the interval are known.
func (p Prediction) IsBounded() bool { return finite(p.Low) && finite(p.High) }

// Contains reports whether y is in the interval, ends included.
func (p Prediction) Contains(y float64) bool { return p.Low <= y && y <= p.High }

// Width returns the distance between the ends.
func (p Prediction) Width() float64 { return p.High - p.Low }

// Exceeds returns the probability that the quantity, which is positive, is above y. The
// distribution is log-normal, with a spread of its own on each side of the median, Value; an
// end at or below 0 makes its side normal. Known is false if the level, or the end on the side
// of y, is unknown.
func (p Prediction) Exceeds(y float64) (probability float64, known bool) {
	end, side := p.High, 1.0
	if y < p.Value {
		end, side = p.Low, -1
	}
	if y <= 0 {
		return 1, true
	}
	if !(p.Level > 0 && p.Level < 1 && finite(end)) {
		return 0, false
	}
	if end == p.Value {
		return (1 - side) / 2, true
	}
	distance := (y - p.Value) / (end - p.Value)
	if end > 0 && p.Value > 0 {
		distance = math.Log(y/p.Value) / math.Log(end/p.Value)
	}
	return math.Erfc(side*distance*math.Erfinv(p.Level)) / 2, true
}

// Times returns the prediction in another unit, or of a quantity f times as large;
// f is not 0.
func (p Prediction) Times(f float64) Prediction {
	p.Value *= f
	p.Low, p.High = p.Low*f, p.High*f
	if f < 0 {
		p.Low, p.High = p.High, p.Low
	}
	return p
}

// Widen moves both ends to f times their distance from the value, f above 0: for
// conditions other than those that the interval was learnt under. For f = 1 it
// returns p, bit for bit.
func (p Prediction) Widen(f float64) Prediction {
	if f == 1 {
		return p
	}
	p.Low, p.High = p.Value+(p.Low-p.Value)*f, p.Value+(p.High-p.Value)*f
	return p
}

// Score returns the interval score of Gneiting and Raftery ("Strictly Proper
// Scoring Rules", JASA 102, 2007, section 6.2) for the outcome y: the width, and
// 2/(1-Level) times the distance by which the interval missed. The unit is that of
// the value; less is better.
func (p Prediction) Score(y float64) float64 {
	return p.Width() + 2/(1-p.Level)*max(p.Low-y, y-p.High, 0)
}

// wire is a Prediction as JSON.
type wire struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Level float64  `json:"level,omitempty"`
}

// MarshalJSON writes value, low, high and level. An unknown end is null, and an
// unknown level is left out.
func (p Prediction) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{p.Value, jsonNumber(p.Low), jsonNumber(p.High), p.Level})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (p *Prediction) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("prediction: %w", err)
	}
	*p = Point(w.Value)
	p.Level = w.Level
	if w.Low != nil {
		p.Low = *w.Low
	}
	if w.High != nil {
		p.High = *w.High
	}
	return nil
}

// jsonNumber returns a pointer to v, or nil if JSON cannot represent v.
func jsonNumber(v float64) *float64 {
	if !finite(v) {
		return nil
	}
	return &v
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("%w: %v: want it between 0 and 1", ErrLevel, level)
	}
	return nil
}

// checkValues requires at least need numbers, all finite.
func checkValues(what string, values []float64, need int) error {
	if len(values) < need {
		return fmt.Errorf("%w: have %d %ss, need %d", ErrTooFew, len(values), what, need)
	}
	for i, v := range values {
		if !finite(v) {
			return fmt.Errorf("%w: %s %d is %v", ErrValue, what, i, v)
		}
	}
	return nil
}
