package registry

import (
	"fmt"
	"strings"
)

// Entry is one choice.
type Entry[T any] struct {
	Name string // what the user types
	Help string // one line, without a full stop
	New  T      // the choice, usually a function that creates it
}

// List holds the choices in the order in which they are shown.
type List[T any] []Entry[T]

// Find returns the New of the entry called name. The error names the choices.
func (l List[T]) Find(name string) (T, error) {
	for _, e := range l {
		if e.Name == name {
			return e.New, nil
		}
	}
	var none T
	return none, fmt.Errorf("%q is none of %s", name, strings.Join(l.Names(), ", "))
}

// Names returns the names in order.
func (l List[T]) Names() []string {
	names := make([]string, len(l))
	for i, e := range l {
		names[i] = e.Name
	}
	return names
}

// Help returns one line per entry with its name and help, in columns.
func (l List[T]) Help() string {
	width := 0
	for _, e := range l {
		width = max(width, len(e.Name))
	}
	var b strings.Builder
	for _, e := range l {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, e.Name, e.Help)
	}
	return b.String()
}
