package perfmodel

import "errors"

// Returned when there is no answer.
var (
	// ErrUntrained is returned before an entry's first fit.
	ErrUntrained = errors.New("too few runs for a model")
	// ErrKind is returned when the asked kind of model is unknown.
	ErrKind = errors.New("unknown model")
	// ErrStore is returned when a file of kept models cannot be used.
	ErrStore = errors.New("unusable model file")
)
