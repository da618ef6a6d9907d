package backtest

import (
	"math"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// ClassMedian is the mean absolute error, in hours, of the simplest forecast worth
// beating, the median of the latest waits of jobs of such size and limit, for the jobs
// submitted from from on and before to, Unix seconds; 0 where there are none.
func ClassMedian(jobs []trace.Job, from, to int64) float64 {
	k := newKnown(jobs)
	sum, n := 0., 0.
	for i := range jobs {
		j := &jobs[i]
		if j.Submit >= to {
			break
		}
		k.advance(j.Submit, func(int) {})
		if j.Submit >= from && !j.NoStart {
			sum += math.Abs(k.baselines(j)[classMedian] - float64(j.Wait())/3600)
			n++
		}
		k.submit(i)
	}
	return sum / max(n, 1)
}
