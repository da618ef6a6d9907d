package schedule

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAlloX(t *testing.T) {
	c := Cluster{1, 1}
	// 2 gains least from the GPU, so it takes the CPU: 5+2+6 = 13 s is least.
	got := run(t, "allox", c, job(1, "a", 0, 20, 4), job(2, "a", 0, 5, 5), job(3, "b", 0, 30, 2))
	if want := "1 gpu0 2-6; 2 cpu0 0-5; 3 gpu0 0-2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Waiting 4 s for the GPU beats 20 s on the idle CPU.
	got = run(t, "allox", c, job(1, "a", 0, 20, 4), job(2, "a", 0, 20, 4))
	if want := "1 gpu0 0-4; 2 gpu0 4-8"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Where all jobs are there at once and estimates are exact, AlloX is optimal:
// as good as the best of all assignments and orders.
func TestAlloXIsOptimalWithoutArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t, 5)
		for i := range jobs {
			jobs[i].Arrival = 0
			jobs[i].Reported = jobs[i].Actual
		}
		c := Cluster{rapid.IntRange(1, 2).Draw(t, "cpus"), 1}
		runs, err := Replay(context.Background(), jobs, c, &allox{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := Summarize("allox", runs).MeanJCT, optimum(jobs, c); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("mean JCT %v, optimum %v", got, want)
		}
	})
}

// optimum tries all assignments of jobs to nodes and all orders on each node
// and returns the least mean completion time.
func optimum(jobs []Record, c Cluster) float64 {
	type node struct {
		device Device
		free   float64
	}
	nodes := make([]node, c[CPU], c[CPU]+c[GPU])
	for range c[GPU] {
		nodes = append(nodes, node{device: GPU})
	}
	best := math.Inf(1)
	left := make([]int, len(jobs))
	for i := range left {
		left[i] = i
	}
	// Appending jobs to nodes in every order of jobs meets every schedule
	// that has no needless gaps, and one of those is best.
	var try func(left []int, sum float64)
	try = func(left []int, sum float64) {
		if sum >= best {
			return
		}
		if len(left) == 0 {
			best = sum
			return
		}
		for k, i := range left {
			rest := slices.Delete(slices.Clone(left), k, k+1)
			for n := range nodes {
				seconds := jobs[i].Actual[nodes[n].device]
				if math.IsInf(seconds, 1) {
					continue
				}
				was := nodes[n].free
				nodes[n].free = max(was, jobs[i].Arrival) + seconds
				try(rest, sum+nodes[n].free-jobs[i].Arrival)
				nodes[n].free = was
			}
		}
	}
	try(left, 0)
	return best / float64(len(jobs))
}
