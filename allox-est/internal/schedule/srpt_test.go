package schedule

import "testing"

func TestSRPT(t *testing.T) {
	// At 4 the job of 3 s preempts the one with 6 s left, which goes on at 7.
	got := run(t, "srpt", Cluster{GPU: 1}, job(1, "a", 0, inf, 10), job(2, "a", 4, inf, 3))
	if want := "1 gpu0 0-4 gpu0 7-13; 2 gpu0 4-7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Done to a fifth on the CPU at 10, the job moves to the GPU that is free.
	got = run(t, "srpt", Cluster{1, 1}, job(1, "a", 0, 40, 10), job(2, "a", 0, 50, 20))
	if want := "1 gpu0 0-10; 2 cpu0 0-10 gpu0 10-26"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
