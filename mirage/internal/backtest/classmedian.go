package backtest

import (
	"math"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
)

// ClassMedian returns the mean absolute error, in hours, of the simplest forecast worth
// beating, the median of the latest waits of jobs of such size and limit, for the jobs
// submitted from from on and before to, Unix seconds; 0 if there are none.
func ClassMedian(jobs []trace.Job, from, to int64) float64 {
	r := wait.NewReplay(jobs)
	sum, n := 0.0, 0.0
	for i := range jobs {
		j := &jobs[i]
		if j.Submit >= to {
			break
		}
		r.Advance(j.Submit, func(int) {})
		if j.Submit >= from && !j.NoStart {
			sum += math.Abs(r.Rules(j).Class-float64(j.Wait())) / 3600
			n++
		}
		r.Submit(i)
	}
	return sum / max(n, 1)
}
