package perfmodel

import "testing"

// TestLocalLaw: offsets lie straight between the knots and are constant beyond them.
func TestLocalLaw(t *testing.T) {
	var l localLaw
	if got := l.log(1); got != 0 {
		t.Errorf("without a knot: %v", got)
	}
	l.add(1, 10)
	l.add(3, 30)
	l.add(3, 99) // at the same place: counts with the one before
	l.add(4, 10)
	for at, want := range map[float64]float64{-5: 10, 1: 10, 1.5: 15, 2: 20, 3: 30, 3.25: 25, 4: 10, 9: 10} {
		if got := l.log(at); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
}

// TestNearestCreation: of two creations that are as far away, the earlier one counts.
func TestNearestCreation(t *testing.T) {
	var c creations
	c.add(10, 1)
	c.add(14, 2)
	c.add(14, 3)
	for created, want := range map[uint64]float64{1: 1, 11: 1, 12: 1, 14: 3, 20: 3} {
		if got := c.next(created); got != want {
			t.Errorf("created at %d: %v, want %v", created, got, want)
		}
	}
}
