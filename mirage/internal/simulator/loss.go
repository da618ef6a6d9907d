package simulator

import (
	"math"

	"github.com/foretime/foretime/shared/regression"
)

// capHours is the longest wait that the loss distinguishes job by job.
const capHours = 24

// Loss compares the simulated and actual waits of the jobs submitted from
// from on and before to: mean |s-a| / mean a and 1 - Spearman of the waits
// capped at a day, plus |mean s / mean a - 1| of the waits as they are. It is
// infinite where the actual waits have no mean.
func Loss(r *Result, from, to int64) float64 {
	var simulated, actual []float64
	var wholeS, wholeA, cappedA, mae float64
	for i := range r.Starts {
		j := &r.Workload.Jobs[i]
		start, _, ok := r.Times(i)
		if !ok || j.NoStart || j.Submit < from || j.Submit >= to {
			continue
		}
		s, a := float64(start-j.Submit)/3600, float64(j.Wait())/3600
		wholeS += s
		wholeA += a
		s, a = min(s, capHours), min(a, capHours)
		simulated, actual = append(simulated, s), append(actual, a)
		cappedA += a
		mae += math.Abs(s - a)
	}
	if wholeA == 0 {
		return math.Inf(1)
	}
	rho, err := regression.Spearman(simulated, actual)
	if err != nil {
		rho = 0 // all simulated waits are the same: they rank nothing
	}
	return mae/cappedA + math.Abs(wholeS/wholeA-1) + 1 - rho
}
