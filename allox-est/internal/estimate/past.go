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

// Outcome is a run of the user's past whose rest was predicted from as much of it.
type Outcome struct {
	Block  string  // the job or machine: those of one block count as one
	Error  float64 // logarithm of the actual over the predicted rest
	Course Course  // by then
}

// OutcomeOf returns the outcome of a prediction, given the actual total; false where
// nothing was left.
func (r Rest) OutcomeOf(block string, actual float64) (Outcome, bool) {
	left, predicted := actual-r.done, r.Total.Value-r.done
	if left <= 0 || predicted <= 0 {
		return Outcome{}, false
	}
	return Outcome{block, math.Log(left / predicted), r.Course}, true
}

// Given corrects a prediction by how earlier ones of the same user fared. The predictive
// distribution is that of a Dirichlet process whose base is the model (Ferguson 1973, A
// Bayesian analysis of some nonparametric problems, section 3): the model alone without a
// past, and the ranks of past errors, as in split conformal prediction, with a long one.
// A past of less than the belief is worth changes nothing. Runs of the same course by
// then count, where there are enough; then a run that was refused by itself has an answer.
func (r Rest) Given(past []Outcome) (uncertainty.Prediction, error) {
	blocks := map[string]float64{}
	var alike []Outcome
	for _, o := range past {
		if o.Course == r.Course {
			alike = append(alike, o)
			blocks[o.Block]++
		}
	}
	switch {
	case len(blocks) >= pastWorth:
		past = alike
	case r.Refused != nil:
		return r.Total, r.Refused
	default:
		clear(blocks)
		for _, o := range past {
			blocks[o.Block]++
		}
	}
	if len(blocks) < pastWorth {
		return r.Total, r.Refused
	}
	xs := slices.Clone(r.totals)
	weights := slices.Repeat([]float64{pastWorth / float64(len(xs))}, len(xs))
	for _, o := range past {
		xs = append(xs, r.done+(r.Total.Value-r.done)*math.Exp(o.Error))
		weights = append(weights, 1/blocks[o.Block])
	}
	stat.SortWeighted(xs, weights)
	quantile := func(q float64) float64 { return stat.Quantile(q, stat.Empirical, xs, weights) }
	tail := (1 - r.Total.Level) / 2
	value := math.Cbrt(quantile(0.25) * quantile(0.5) * quantile(0.75)) // past errors may have two modes
	return uncertainty.Prediction{Value: value, Low: quantile(tail), High: quantile(1 - tail), Level: r.Total.Level}, nil
}
