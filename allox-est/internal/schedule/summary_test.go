package schedule

import "testing"

// Completion times of 10, 12 and 30 s.
func TestSummarize(t *testing.T) {
	var runs []Run
	for i, j := range []Record{job(1, "ann", 2, 20, 10), job(2, "ann", 2, 4, 8), job(3, "bob", 10, 5, 5)} {
		runs = append(runs, Run{Record: j, Parts: []Part{{End: []float64{12, 14, 40}[i]}}})
	}
	want := Summary{Policy: "fifo", Jobs: 3, MeanJCT: 52.0 / 3, P50JCT: 12, P95JCT: 30, P99JCT: 30, Makespan: 38}
	if got := Summarize("fifo", runs); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
