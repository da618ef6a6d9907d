package sampling

import (
	"testing"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// The cost of a sample follows from two marks, wherever the first one comes.
func TestCostOf(t *testing.T) {
	at := func(number, seconds float64) progress.Mark { return progress.Mark{Number: number, Seconds: seconds} }
	for _, c := range []struct {
		name  string
		marks []progress.Mark
		want  Cost
		known bool
	}{
		{"no mark", nil, Cost{}, false},
		{"one mark", []progress.Mark{at(1, 3)}, Cost{}, false},
		{"the same epoch twice", []progress.Mark{at(1, 3), at(1, 4)}, Cost{}, false},
		{"ends of epochs", []progress.Mark{at(1, 3), at(2, 4)}, Cost{2, 7, 102}, true},
		{"begins of epochs", []progress.Mark{at(0, 2), at(2, 4)}, Cost{2, 7, 102}, true},
		{"a fast first epoch", []progress.Mark{at(1, 1), at(2, 4)}, Cost{0, 15, 300}, true},
	} {
		if got, known := CostOf(c.marks, 5, 100); got != c.want || known != c.known {
			t.Errorf("%s: %+v, %v, want %+v, %v", c.name, got, known, c.want, c.known)
		}
	}
}
