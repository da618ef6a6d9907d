package estimate

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// pastWorth is how many earlier jobs of the user's own the model's belief is worth;
// fewer say nothing of the next one.
const pastWorth = 3

// Given corrects a prediction by how earlier ones of the same user fared: each of
// past holds the logarithms of actual over predicted of one job or machine, which
// together count as one. The predictive distribution is that of a Dirichlet process
// whose base is the model (Ferguson 1973, A Bayesian analysis of some nonparametric
// problems, section 3): the model alone without a past, and the ranks of past errors,
// as in split conformal prediction, with a long one. A past of less than the belief is
// worth changes nothing.
func (r Rest) Given(past [][]float64) uncertainty.Prediction {
	type point struct{ x, weight float64 }
	var points []point
	total := 0.0
	for _, block := range past {
		for _, e := range block {
			points = append(points, point{r.Total.Value * math.Exp(e), 1 / float64(len(block))})
		}
		if len(block) > 0 {
			total++
		}
	}
	if total < pastWorth {
		return r.Total
	}
	for _, x := range r.totals {
		points = append(points, point{x, pastWorth / float64(len(r.totals))})
	}
	total += pastWorth
	slices.SortFunc(points, func(a, b point) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	quantile := func(q float64) float64 {
		sum := 0.0
		for _, p := range points {
			if sum += p.weight; sum >= q*total {
				return p.x
			}
		}
		return points[len(points)-1].x
	}
	tail := (1 - r.Total.Level) / 2
	return uncertainty.Prediction{Value: quantile(0.5), Low: quantile(tail), High: quantile(1 - tail), Level: r.Total.Level}
}
