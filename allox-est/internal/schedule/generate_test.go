package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// generate returns synthetic jobs of ten users, twice as fast on a GPU but for a random
// factor on each time, with estimates that are 10 % off. Five arrive at a time.
func generate(n int) []Record {
	rng := rand.New(rand.NewPCG(1, 1))
	jobs := make([]Record, n)
	for i := range jobs {
		gpu := []float64{25, 75, 125}[rng.IntN(3)]
		j := job(i, fmt.Sprint("queue", i%10), 15*float64(i/5), 2*gpu, gpu)
		for d := range j.Actual {
			j.Actual[d] *= math.Exp(0.8 * rng.NormFloat64())
			j.Reported[d] = j.Actual[d] * max(0.01, 1+0.1*rng.NormFloat64())
		}
		jobs[i] = j
	}
	return jobs
}
