package measurement

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Seconds is a time, or none: its zero value is missing, and empty as text.
// Otherwise it is a number of seconds, or hours, minutes and seconds as the
// original collector writes them (00:00:02.712345).
type Seconds struct {
	Value float64
	Known bool
}

// NewSeconds returns a known time.
func NewSeconds(seconds float64) Seconds { return Seconds{seconds, true} }

// MarshalText writes a number of seconds.
func (s Seconds) MarshalText() ([]byte, error) {
	if !s.Known {
		return nil, nil
	}
	return strconv.AppendFloat(nil, s.Value, 'g', -1, 64), nil
}

var errTime = errors.New("want seconds or HH:MM:SS.ffffff, 0 or more")

// UnmarshalText reads either form.
func (s *Seconds) UnmarshalText(text []byte) error {
	value := strings.TrimSpace(string(text))
	if value == "" {
		*s = Seconds{}
		return nil
	}
	sum, parts := 0.0, strings.Split(value, ":")
	if len(parts) != 1 && len(parts) != 3 {
		return errTime
	}
	for i, part := range parts {
		if i < len(parts)-1 && (part == "" || strings.Trim(part, "0123456789") != "") {
			return errTime
		}
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) || len(parts) == 3 && i > 0 && v >= 60 {
			return errTime
		}
		sum = 60*sum + v
	}
	*s = NewSeconds(sum)
	return nil
}
