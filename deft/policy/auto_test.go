package policy

import (
	"testing"
	"time"

	"github.com/foretime/foretime/deft/predictor"
)

// A client whose jobs cost exactly 40 ms and 0.03 ms a point: after the first
// intervals the one in force is the predictor's best, but for the jobs that try
// another.
func TestAuto(t *testing.T) {
	truth := predictor.Model{SyncMS: 0.03, BaseMS: 40, Kernels: 400, KernelMS: 0.1, Queue: 400}
	best, err := truth.Best(predictor.Candidates())
	if err != nil {
		t.Fatal(err)
	}
	a := NewAuto()
	low, high := Client{}, Client{Terms: Terms{Priority: 1}}
	seen := map[int]int{}
	for i := range 60 {
		gate := time.Duration(i%7) * 5 * ms
		d, _ := decide(t, a, 1, low, high)
		if d[1].SyncEvery != 0 || d[0].SyncEvery == 0 {
			t.Fatal(d)
		}
		seen[d[0].SyncEvery]++
		delay, err := truth.Predict(d[0].SyncEvery)
		if err != nil {
			t.Fatal(err)
		}
		low.Jobs++
		low.GPU += 40 * ms
		low.LastJob = Job{JCT: time.Duration(delay.ExecMS*1e6) + gate, Gate: gate, Launches: 400, Syncs: 400 / d[0].SyncEvery}
	}
	for _, n := range firstIntervals() {
		if seen[n] == 0 {
			t.Errorf("interval %d was not tried", n)
		}
	}
	if seen[best.Sync] < 44 {
		t.Errorf("intervals %v, want %d nearly always", seen, best.Sync)
	}
	high.Active, low.Active = true, true
	if d, _ := decide(t, a, 1, low, high); closed(d) != "x-" {
		t.Error(d)
	}
}

func TestIntervals(t *testing.T) {
	for _, tt := range []struct{ launches, n, last int }{{0, 1, 1}, {1, 1, 1}, {3, 1, 1}, {4, 2, 2}, {400, 8, 100}, {929, 8, 100}, {1000, 9, 500}} {
		all := intervals(tt.launches)
		if len(all) != tt.n || all[len(all)-1] != tt.last {
			t.Errorf("%d launches: %v", tt.launches, all)
		}
	}
}

func TestAnother(t *testing.T) {
	all := []int{1, 2, 4, 8, 10}
	for _, tt := range []struct {
		n     int
		above bool
		want  int
	}{{4, true, 10}, {4, false, 1}, {1, false, 4}, {10, true, 4}, {2, false, 8}} {
		if got := another(all, tt.n, tt.above); got != tt.want {
			t.Errorf("beside %d: %d, want %d", tt.n, got, tt.want)
		}
	}
	if got := another([]int{1}, 1, true); got != 1 {
		t.Error(got)
	}
}
