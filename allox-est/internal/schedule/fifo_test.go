package schedule

import "testing"

func TestFIFO(t *testing.T) {
	c := Cluster{1, 1}
	// 1 takes the GPU it likes, 2 the CPU that is left, 3 waits for either.
	got := run(t, "fifo", c, job(1, "a", 0, 20, 10), job(2, "a", 0, 12, 6), job(3, "b", 0, 2, 1))
	if want := "1 gpu0 0-10; 2 cpu0 0-12; 3 gpu0 10-11"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Nothing overtakes a first job that can only use the busy GPU.
	got = run(t, "fifo", c, job(1, "a", 0, 20, 10), job(2, "a", 0, inf, 6), job(3, "b", 0, 2, 1))
	if want := "1 gpu0 0-10; 2 gpu0 10-16; 3 cpu0 10-12"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
