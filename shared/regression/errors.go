package regression

import (
	"errors"
	"fmt"
)

// Errors returned when the samples, or a row to predict, cannot be used.
var (
	// ErrTooFew is returned when there are fewer samples than needed.
	ErrTooFew = errors.New("too few samples")
	// ErrConstant is returned when a feature has the same value in every sample;
	// its effect cannot be separated from the intercept's.
	ErrConstant = errors.New("constant feature")
	// ErrCollinear is returned when a feature is a linear combination of others;
	// their effects cannot be separated.
	ErrCollinear = errors.New("collinear features")
	// ErrNotFinite is returned when a number is NaN or infinite.
	ErrNotFinite = errors.New("not a finite number")
	// ErrDimension is returned when lengths do not match.
	ErrDimension = errors.New("dimension mismatch")
)

// Errors returned for an invalid setting or an undefined metric.
var (
	// ErrSetting is returned when a setting is outside its range.
	ErrSetting = errors.New("invalid setting")
	// ErrUndefined is returned when a metric does not exist for the data, such as
	// R2 of actual values that are all the same.
	ErrUndefined = errors.New("metric undefined")
)

// kindError is an error of one of the kinds above, with a text of its own.
type kindError struct {
	kind error
	text string
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

func newError(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Sprintf(format, args...)}
}

// TooFew returns an [ErrTooFew] that names what is counted, such as "samples" or "groups".
func TooFew(what string, have, need int) error {
	return newError(ErrTooFew, "too few %s: have %d, need at least %d", what, have, need)
}

// Constant returns an [ErrConstant] for a feature, which has the value in every sample.
func Constant(column int, value float64) error {
	return newError(ErrConstant, "feature in column %d is constant: %v in every sample", column, value)
}

// Collinear returns an [ErrCollinear] for a feature that those before it determine.
func Collinear(column int) error {
	return newError(ErrCollinear, "feature in column %d is a linear combination of those before it", column)
}

// NotFinite returns an [ErrNotFinite] for a NaN, an infinity, or a negative weight. Rows and
// columns count from 0; the column is -1 for all that is no feature.
func NotFinite(what string, row, column int, value float64) error {
	place := fmt.Sprintf("row %d", row)
	if column >= 0 {
		place += fmt.Sprintf(", column %d", column)
	}
	return newError(ErrNotFinite, "%s in %s: unusable value %v", what, place, value)
}

// Dimension returns an [ErrDimension] that names what is counted, such as "targets".
func Dimension(what string, have, want int) error {
	return newError(ErrDimension, "%s: have %d, want %d", what, have, want)
}

// Setting returns an [ErrSetting] for a setting outside its range, such as "in (0, 1)".
func Setting(name string, value any, want string) error {
	return newError(ErrSetting, "setting %s = %v: want it %s", name, value, want)
}
