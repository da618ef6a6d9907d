package schedule

import "testing"

func TestSJF(t *testing.T) {
	c := Cluster{1, 1}
	// The shortest pair is 3 on the GPU; then 2 on the CPU; 1 waits.
	got := run(t, "sjf", c, job(1, "a", 0, 20, 10), job(2, "a", 0, 12, 6), job(3, "b", 0, 2, 1))
	if want := "1 gpu0 1-11; 2 cpu0 0-12; 3 gpu0 0-1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// It goes by the reported times, and the jobs take their true ones.
func TestSJFIsMisled(t *testing.T) {
	long, short := job(1, "a", 0, inf, 10), job(2, "a", 0, inf, 6)
	long.Reported[GPU] *= 0.5
	got := run(t, "sjf", Cluster{GPU: 1}, long, short)
	if want := "1 gpu0 0-10; 2 gpu0 10-16"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
