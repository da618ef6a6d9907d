package uncertainty

import "fmt"

// Scale is the kind of an error: an offset to add to a prediction, or a factor to
// multiply it by.
type Scale uint8

// The scales. With factors, predictions are above 0 and outcomes are not below.
const (
	Offset Scale = iota // y - p, in the unit of the values
	Factor              // y / p
)

// String returns the scale's name.
func (s Scale) String() string {
	if s == Factor {
		return "factor"
	}
	return "offset"
}

// MarshalText writes the scale's name.
func (s Scale) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the scale's name.
func (s *Scale) UnmarshalText(b []byte) error {
	for _, known := range []Scale{Offset, Factor} {
		if string(b) == known.String() {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("scale %q: want offset or factor", b)
}

// residual returns the error of a prediction; ok is false if it has none.
func (s Scale) residual(predicted, actual float64) (r float64, ok bool) {
	if s == Factor {
		r = actual / predicted
		return r, predicted > 0 && actual >= 0 && finite(r)
	}
	r = actual - predicted
	return r, finite(r)
}

// interval returns the ends of an interval around a value, from two residuals.
func (s Scale) interval(value, low, high float64) (float64, float64) {
	if s == Factor {
		return value * low, value * high
	}
	return value + low, value + high
}

// identity returns the residual of an exact prediction.
func (s Scale) identity() float64 {
	if s == Factor {
		return 1
	}
	return 0
}
