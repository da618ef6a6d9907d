package schedule

import (
	"math"
	"testing"
)

// Two users: ann's jobs are slowed down 1 and 3 times, bob's 6 times, so the
// index is (2+6)^2 / (2*(4+36)) = 0.8.
func TestSummary(t *testing.T) {
	jobs := []Record{job(1, "ann", 2, 20, 10), job(2, "ann", 2, 4, 8), job(3, "bob", 10, 5, 5)}
	s := &Schedule{Cluster: Cluster{CPUNodes: 1, GPUNodes: 1}}
	for i, end := range []float64{12, 14, 40} {
		s.Runs = append(s.Runs, Run{Job: &jobs[i], Parts: []Part{{End: end}}})
	}
	got := s.Summary()
	want := Summary{Jobs: 3, MeanJCT: 52.0 / 3, P50JCT: 12, P95JCT: 30, P99JCT: 30, Makespan: 38, Fairness: 0.8, LowerBound: got.LowerBound}
	if math.Abs(got.Fairness-want.Fairness) > 1e-12 {
		t.Errorf("fairness %v, want %v", got.Fairness, want.Fairness)
	}
	if got.Fairness = want.Fairness; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
