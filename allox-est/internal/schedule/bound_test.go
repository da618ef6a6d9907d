package schedule

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func boundOf(jobs []Record, c Cluster) float64 {
	s := &Schedule{Cluster: c}
	for i := range jobs {
		s.Runs = append(s.Runs, Run{Job: &jobs[i]})
	}
	return s.LowerBound()
}

// The bound is never above the best of all schedules, which a search of all
// of them finds. That it is not above those with preemption either is seen in
// TestPoliciesKeepTheRules, where srpt is one of the policies.
func TestLowerBoundIsBelowTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t, 5)
		c := Cluster{CPUNodes: rapid.IntRange(1, 2).Draw(t, "cpus"), GPUNodes: rapid.IntRange(1, 2).Draw(t, "gpus")}
		if bound, best := boundOf(jobs, c), optimum(jobs, c); bound > best*(1+1e-9) || !(bound > 0) {
			t.Fatalf("bound %v, optimum %v", bound, best)
		}
	})
}

func TestLowerBoundIsTight(t *testing.T) {
	for _, test := range []struct {
		name string
		jobs []Record
		c    Cluster
		want float64
	}{
		// Alone, a job takes its fastest time.
		{"one job", []Record{job(1, "a", 3, 20, 10)}, Cluster{CPUNodes: 5, GPUNodes: 5}, 10},
		// On one node the bound is shortest job first: 2, 2+4, 2+4+6.
		{"one node", []Record{job(1, "a", 0, 6, inf), job(2, "a", 0, 2, inf), job(3, "a", 0, 4, inf)}, Cluster{CPUNodes: 1}, 20.0 / 3},
		// Shortest remaining time with an arrival: 10 s at 0, 2 s at 4.
		{"arrival", []Record{job(1, "a", 0, 10, inf), job(2, "a", 4, 2, inf)}, Cluster{CPUNodes: 1}, 7},
		// 2 nodes, 4 jobs of 1 s: 1, 1, 2, 2. The mean busy time bound is
		// the mean of 1/4, 3/4, 5/4 and 7/4, plus a half.
		{"two nodes", []Record{job(1, "a", 0, 1, inf), job(2, "a", 0, 1, inf), job(3, "a", 0, 1, inf), job(4, "a", 0, 1, inf)}, Cluster{CPUNodes: 2}, 1.5},
	} {
		if got := boundOf(test.jobs, test.c); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: bound %v, want %v", test.name, got, test.want)
		}
	}
}
