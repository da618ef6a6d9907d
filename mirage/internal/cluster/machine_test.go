package cluster

import "testing"

// TestPlanned: a window that is over no longer counts.
func TestPlanned(t *testing.T) {
	o := NewOccupancy(Machine{Nodes: 10, Down: []Window{{From: 5, To: 9, Nodes: 4}}})
	for now, want := range map[int64]bool{0: true, 5: true, 8: true, 9: false, 100: false} {
		if got := o.NeedsPlan(now); got != want {
			t.Errorf("planned at %d: %v, want %v", now, got, want)
		}
	}
}
