package perfmodel

import "fmt"

// Kind is a way to predict.
type Kind int

// The ways to predict. Auto is whichever was closest lately.
const (
	Auto Kind = iota
	History
	Local
	Power
	Ridge
	MLP
	kinds = int(MLP) + 1
)

var kindNames = [kinds]string{"auto", "history", "local", "power", "ridge", "mlp"}

// String returns the kind's name.
func (k Kind) String() string {
	if k < 0 || int(k) >= kinds {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, error) {
	for k, name := range kindNames {
		if s == name {
			return Kind(k), nil
		}
	}
	return Auto, fmt.Errorf("%w: %q", ErrKind, s)
}
