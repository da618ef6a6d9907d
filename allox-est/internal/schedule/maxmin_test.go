package schedule

import "testing"

func TestMaxMin(t *testing.T) {
	// The second job has got nothing, and takes the place of the first.
	got := run(t, "max-min", Settings{}, Cluster{GPUNodes: 1}, job(1, "a", 0, inf, 10), job(2, "b", 4, inf, 3))
	if want := "1 gpu0 0-4 gpu0 7-13; 2 gpu0 4-7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// At 10 the first is done; the second moves to the device that is free.
	got = run(t, "max-min", Settings{}, Cluster{CPUNodes: 1, GPUNodes: 1}, job(1, "a", 0, 40, 10), job(2, "a", 0, 50, 20))
	if want := "1 gpu0 0-10; 2 cpu0 0-10 gpu0 10-26"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
