package schedule

import "testing"

func TestEqualShare(t *testing.T) {
	c := Cluster{CPUNodes: 2, GPUNodes: 1}
	// The GPU goes to a's shortest there, then each user gets a CPU for its
	// shortest there. a holds no CPU, so a is served first.
	got := run(t, "es", Settings{}, c, job(1, "a", 0, 20, 10), job(2, "a", 0, 30, 6), job(3, "b", 0, 16, 8), job(4, "b", 0, 9, 9))
	if want := "1 cpu0 0-20; 2 gpu0 0-6; 3 gpu0 6-14; 4 cpu1 0-9"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// GPUs are given out first, whatever the job likes better.
	if got, want := run(t, "es", Settings{}, c, job(1, "a", 0, 5, 6)), "1 gpu0 0-6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
