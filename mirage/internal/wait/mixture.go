package wait

import "math"

// outcome is a job of the past with the predictions of it, on the scale of toScale.
type outcome struct {
	mixed  float64
	each   []float64 // of the trees, then of the rules
	actual float64   // or expected, if it still waits
}

// treesShare is the weight of the trees outside the mixture: without it they lose weight
// to rules that were right by chance.
const treesShare = 0.5

// mixtureWeights returns the weights of predictions by their regrets: polynomially
// weighted averages with a rate for each (ML-Poly: Gaillard, Stoltz and van Erven, COLT
// 2014), for the slope of the absolute error, in which none gains more than the error of
// the mixture. The first prediction, the trees', also gets the treesShare. Without any
// regret the weights are equal.
func mixtureWeights(past []outcome, n int) []float64 {
	regrets, squares := make([]float64, n), make([]float64, n)
	for _, o := range past {
		slope := 1.0
		if o.mixed < o.actual {
			slope = -1
		}
		for i, v := range o.each {
			regret := min(slope*(o.mixed-v), math.Abs(o.mixed-o.actual))
			regrets[i] += regret
			squares[i] += regret * regret
		}
	}
	weights, sum := make([]float64, n), 0.0
	for i, r := range regrets {
		if r > 0 {
			weights[i] = r / squares[i]
			sum += weights[i]
		}
	}
	for i := range weights {
		if sum > 0 {
			weights[i] /= sum
		} else {
			weights[i] = 1 / float64(n)
		}
		weights[i] *= 1 - treesShare
	}
	weights[0] += treesShare
	return weights
}

// mix returns the weighted mean of predictions.
func mix(weights, each []float64) float64 {
	sum := 0.0
	for i, w := range weights {
		sum += w * each[i]
	}
	return sum
}
