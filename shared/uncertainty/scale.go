package uncertainty

import "fmt"

// Scale is how an error is measured: as what is to be added to a prediction or
// as what it is to be multiplied by.
type Scale uint8

// The scales. With factors, predictions are above 0 and what comes is not below.
const (
	Offset Scale = iota // y - p, in the unit of the values
	Factor              // y / p
)

// String is the scale's name.
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

// residual is the error of a prediction; ok is false where it has none.
func (s Scale) residual(predicted, actual float64) (r float64, ok bool) {
	if s == Factor {
		r = actual / predicted
		return r, predicted > 0 && actual >= 0 && finite(r)
	}
	r = actual - predicted
	return r, finite(r)
}

// about are the ends of an interval about a value, from two residuals.
func (s Scale) about(value, low, high float64) (float64, float64) {
	if s == Factor {
		return value * low, value * high
	}
	return value + low, value + high
}

// none is the residual of a prediction that came true.
func (s Scale) none() float64 {
	if s == Factor {
		return 1
	}
	return 0
}
