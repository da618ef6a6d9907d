package cluster

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResized(t *testing.T) {
	m := Machine{Nodes: 10, Down: []Window{{From: 0, To: 9, Nodes: 4}, {From: 20, To: 29, Nodes: 10}}}
	for _, tt := range []struct {
		nodes int
		want  []Window
	}{
		{10, m.Down},
		{12, []Window{{From: 0, To: 9, Nodes: 6}, {From: 20, To: 29, Nodes: 12}}},
		{6, []Window{{From: 20, To: 29, Nodes: 6}}},
	} {
		got := m.Resized(tt.nodes)
		if diff := cmp.Diff(Machine{Nodes: tt.nodes, Down: tt.want}, got); diff != "" {
			t.Errorf("%d nodes: %s", tt.nodes, diff)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%d nodes: %v", tt.nodes, err)
		}
	}
	if err := m.Resized(0).Check(); !errors.Is(err, ErrMachine) {
		t.Errorf("no nodes: error %v", err)
	}
}

func TestDownAt(t *testing.T) {
	m := Machine{Nodes: 10, Down: []Window{{From: 0, To: 9, Nodes: 4}, {From: 5, To: 9, Nodes: 8}}}
	for at, want := range map[int64]int{-1: 0, 0: 4, 4: 4, 5: 10, 8: 10, 9: 0} {
		if got := m.DownAt(at); got != want {
			t.Errorf("%d nodes down at %d, want %d", got, at, want)
		}
	}
}

// TestPlanned: a window that is over no longer counts.
func TestPlanned(t *testing.T) {
	o := NewOccupancy(Machine{Nodes: 10, Down: []Window{{From: 5, To: 9, Nodes: 4}}})
	for now, want := range map[int64]bool{0: true, 5: true, 8: true, 9: false, 100: false} {
		if got := o.Planned(now); got != want {
			t.Errorf("planned at %d: %v, want %v", now, got, want)
		}
	}
}
