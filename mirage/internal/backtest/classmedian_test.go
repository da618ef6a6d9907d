package backtest

import (
	"math"
	"testing"

	"github.com/foretime/foretime/mirage/internal/wait"
)

// TestClassMedian: by itself it is as far off as beside the forecasts.
func TestClassMedian(t *testing.T) {
	jobs := queue(200, 5)
	from, to := jobs[100].Submit, jobs[199].Submit
	jobs[150].NoStart = true
	r, err := Run(t.Context(), jobs, Range{From: from, To: to, Progress: func() {}}, wait.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, want := ClassMedian(jobs, from, to), r.Baselines["class_median"].MAEHours
	if want <= 0 || math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}
