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

// TooFewError gives the number of samples and the number needed. It matches
// [ErrTooFew].
type TooFewError struct {
	What string // what is counted, such as "samples" or "groups"
	Have int
	Need int
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("too few %s: have %d, need at least %d", e.What, e.Have, e.Need)
}

// Is reports whether target is ErrTooFew.
func (e *TooFewError) Is(target error) bool { return target == ErrTooFew }

// ConstantError names a constant feature. It matches [ErrConstant].
type ConstantError struct {
	Column int
	Value  float64 // its value in every sample
}

func (e *ConstantError) Error() string {
	return fmt.Sprintf("feature in column %d is constant: %v in every sample", e.Column, e.Value)
}

// Is reports whether target is ErrConstant.
func (e *ConstantError) Is(target error) bool { return target == ErrConstant }

// CollinearError names a feature that the features before it determine.
// It matches [ErrCollinear].
type CollinearError struct {
	Column int
}

func (e *CollinearError) Error() string {
	return fmt.Sprintf("feature in column %d is a linear combination of those before it", e.Column)
}

// Is reports whether target is ErrCollinear.
func (e *CollinearError) Is(target error) bool { return target == ErrCollinear }

// NotFiniteError gives the place of a NaN, an infinity, or a negative weight. It
// matches [ErrNotFinite].
type NotFiniteError struct {
	What   string // "feature", "target", "weight", "actual", "predicted", ...
	Row    int    // from 0; 0 also for a single row to predict
	Column int    // from 0 for features, -1 for all others
	Value  float64
}

func (e *NotFiniteError) Error() string {
	if e.Column < 0 {
		return fmt.Sprintf("%s in row %d: unusable value %v", e.What, e.Row, e.Value)
	}
	return fmt.Sprintf("%s in row %d, column %d: unusable value %v", e.What, e.Row, e.Column, e.Value)
}

// Is reports whether target is ErrNotFinite.
func (e *NotFiniteError) Is(target error) bool { return target == ErrNotFinite }

// DimensionError gives a length that does not match. It matches [ErrDimension].
type DimensionError struct {
	What string // what is counted, such as "features in row 3"
	Have int
	Want int
}

func (e *DimensionError) Error() string {
	return fmt.Sprintf("%s: have %d, want %d", e.What, e.Have, e.Want)
}

// Is reports whether target is ErrDimension.
func (e *DimensionError) Is(target error) bool { return target == ErrDimension }

// SettingError names a setting outside its range. It matches [ErrSetting].
type SettingError struct {
	Name  string
	Value any
	Want  string // the range, such as "in (0, 1)"
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("setting %s = %v: want it %s", e.Name, e.Value, e.Want)
}

// Is reports whether target is ErrSetting.
func (e *SettingError) Is(target error) bool { return target == ErrSetting }
