package cli

import "testing"

// The connection of an owner that is killed closes before its process has ended: to
// look once is too early, and the session would have no owner for good.
func TestEndedWaits(t *testing.T) {
	looks := 0
	if !waitForDeath(func() bool { looks++; return looks == 3 }) || looks != 3 {
		t.Errorf("not waited for after %d looks", looks)
	}
}
