package schedule

import "testing"

func TestSJF(t *testing.T) {
	c := Cluster{CPUNodes: 1, GPUNodes: 1}
	// The shortest pair is 3 on the GPU; then 2 on the CPU; 1 waits.
	got := run(t, "sjf", Settings{}, c, job(1, "a", 0, 20, 10), job(2, "a", 0, 12, 6), job(3, "b", 0, 2, 1))
	if want := "1 gpu0 1-11; 2 cpu0 0-12; 3 gpu0 0-1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// It goes by the reported times, and the jobs take their true ones.
func TestSJFIsMisled(t *testing.T) {
	long, short := job(1, "a", 0, inf, 10), job(2, "a", 0, inf, 6)
	long.Stages[0].On[1].Error = -0.5
	got := run(t, "sjf", Settings{}, Cluster{GPUNodes: 1}, long, short)
	if want := "1 gpu0 0-10; 2 gpu0 10-16"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Two jobs of two units share a node of four; one of three does not fit beside.
func TestCapacity(t *testing.T) {
	a, b, c := job(1, "a", 0, 10, inf), job(2, "a", 0, 8, inf), job(3, "a", 0, 12, inf)
	a.Stages[0].On[0].Units, b.Stages[0].On[0].Units, c.Stages[0].On[0].Units = 2, 2, 3
	for _, policy := range []string{"sjf", "allox", "srpt"} {
		got := run(t, policy, Settings{}, Cluster{CPUNodes: 1, CPUsPerNode: 4}, a, b, c)
		if want := "1 cpu0 0-10; 2 cpu0 0-8; 3 cpu0 10-22"; got != want {
			t.Errorf("%s: got %s, want %s", policy, got, want)
		}
	}
}
