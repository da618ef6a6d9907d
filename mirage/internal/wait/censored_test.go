package wait

import (
	"math"
	"testing"
)

// TestTails compares with the product-limit estimate by hand: of 1, 2+, 3, 4+ (+: still
// waits) the value 1 has probability 1/4, 3 has (3/4)/2 = 3/8 and the largest the rest.
func TestTails(t *testing.T) {
	tails := estimateTails([]excess{{4, true}, {3, false}, {2, true}, {1, false}})
	for _, tt := range []struct{ from, want float64 }{
		{-10, 1./4 + 3*3./8 + 4*3./8}, {0.9, 1./4 + 3*3./8 + 4*3./8},
		{1, 3.5}, {2, 3.5}, {3, 4}, {4, 4}, {7, 7},
	} {
		if got := tails.beyond(tt.from); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("beyond %v: %v, want %v", tt.from, got, tt.want)
		}
	}
	if got := estimateTails(nil).beyond(2); got != 2 {
		t.Errorf("of nothing: %v", got)
	}
	if got := estimateTails([]excess{{1, true}, {2, true}}).beyond(0); got != 2 {
		t.Errorf("all wait: %v", got)
	}
	if got := estimateTails([]excess{{1, true}, {1, false}}).beyond(0); got != 1 {
		t.Errorf("one of two equal ones still waits: %v", got)
	}
}

// TestExpectWaits: excesses of 1 and 3, and of a job that waits, 2 by now: its wait is its
// prediction and 3.
func TestExpectWaits(t *testing.T) {
	seen := []observed{{0, 11, false}, {1, 23, false}, {2, 32, true}}
	got := expectWaits(seen, func(job int) float64 { return float64(10 * (job + 1)) })
	for i, want := range []float64{11, 23, 33} {
		if got[i] != want {
			t.Errorf("job %d: %v, want %v", i, got[i], want)
		}
	}
}
