package schedule

import "testing"

func TestDRFFIFO(t *testing.T) {
	c := Cluster{CPUNodes: 1, GPUNodes: 2}
	// All ask for a GPU, so the CPU idles; a holds one, so b goes next.
	got := run(t, "drf-fifo", Settings{}, c, job(1, "a", 0, 20, 10), job(2, "a", 0, 12, 6), job(3, "b", 0, 16, 8), job(4, "b", 0, 2, 1))
	if want := "1 gpu0 0-10; 2 gpu1 9-15; 3 gpu1 0-8; 4 gpu1 8-9"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDRFSJF(t *testing.T) {
	c := Cluster{CPUNodes: 1, GPUNodes: 2}
	// The same, but within a user the shortest goes first; 5 asks for the CPU.
	got := run(t, "drf-sjf", Settings{}, c, job(1, "a", 0, 20, 10), job(2, "a", 0, 12, 6), job(3, "b", 0, 16, 8), job(4, "b", 0, 2, 1), job(5, "c", 0, 3, 4))
	if want := "1 gpu0 6-16; 2 gpu0 0-6; 3 gpu1 1-9; 4 gpu1 0-1; 5 cpu0 0-3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
