package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/uncertainty"
)

// pastWorth is the weight of the model in jobs of the user's own past; a shorter past is
// not used. Set on every other series of steps-azure.
const pastWorth = 3

// Given corrects a prediction by how earlier ones of the same user fared: each of
// past holds the logarithms of actual over predicted of one job or machine, which
// together count as one. The predictive distribution is that of a Dirichlet process
// whose base is the model (Ferguson 1973, A Bayesian analysis of some nonparametric
// problems, section 3): the model alone without a past, and the ranks of past errors,
// as in split conformal prediction, with a long one. A past of less than the belief is
// worth changes nothing.
func (r Rest) Given(past [][]float64) uncertainty.Prediction {
	xs := slices.Clone(r.totals)
	weights := slices.Repeat([]float64{pastWorth / float64(len(xs))}, len(xs))
	blocks := 0
	for _, block := range past {
		for _, e := range block {
			xs, weights = append(xs, r.Total.Value*math.Exp(e)), append(weights, 1/float64(len(block)))
		}
		if len(block) > 0 {
			blocks++
		}
	}
	if blocks < pastWorth {
		return r.Total
	}
	stat.SortWeighted(xs, weights)
	quantile := func(q float64) float64 { return stat.Quantile(q, stat.Empirical, xs, weights) }
	tail := (1 - r.Total.Level) / 2
	return uncertainty.Prediction{Value: quantile(0.5), Low: quantile(tail), High: quantile(1 - tail), Level: r.Total.Level}
}
