package schedule

import "testing"

func TestDRFE(t *testing.T) {
	c := Cluster{CPUNodes: 2, GPUNodes: 1}
	// A GPU is worth 2 CPUs here: a holds it, so b gets both CPUs.
	got := run(t, "drfe", Settings{}, c, job(1, "a", 0, 20, 10), job(2, "a", 0, 12, 6), job(3, "b", 0, 16, 8), job(4, "b", 0, 18, 9))
	if want := "1 gpu0 6-16; 2 gpu0 0-6; 3 cpu0 0-16; 4 cpu1 0-18"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
