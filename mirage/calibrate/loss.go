package calibrate

import (
	"math"

	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/regression"
)

// capHours is the longest wait that the loss tells apart.
const capHours = 24

// Loss compares the simulated and actual waits of the jobs submitted from
// from on and before to, waits capped at a day: mean |s-a| / mean a, plus
// |mean s / mean a - 1|, plus 1 - Spearman. It is infinite where the actual
// waits have no mean or no ranks.
func Loss(r *simulator.Result, from, to int64) float64 {
	var simulated, actual []float64
	meanS, meanA, mae := 0.0, 0.0, 0.0
	for i := range r.Starts {
		j := &r.Workload.Jobs[i]
		start, _, ok := r.Started(i)
		if !ok || j.Submit < from || j.Submit >= to {
			continue
		}
		s := min(capHours, float64(start-j.Submit)/3600)
		a := min(capHours, float64(j.Wait())/3600)
		simulated, actual = append(simulated, s), append(actual, a)
		meanS += s
		meanA += a
		mae += math.Abs(s - a)
	}
	if meanA == 0 {
		return math.Inf(1)
	}
	rho, err := regression.Spearman(simulated, actual)
	if err != nil {
		rho = 0 // all simulated waits are the same: they rank nothing
	}
	return mae/meanA + math.Abs(meanS/meanA-1) + 1 - rho
}
