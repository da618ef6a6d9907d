package transfer

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// pair holds the logarithms of a known configuration's anchors, relative to their mean, and of
// one more model.
type pair struct {
	pattern []float64
	log     float64 // of the model, relative to the mean of the anchors
}

// pairs returns the configurations that have all anchors and the model.
func (t *Table) pairs(anchors []int, model int) []pair {
	var out []pair
	for i := range t.Configs {
		log := t.Configs[i].Log
		pattern, mean := anchorPattern(log, anchors)
		if math.IsNaN(mean) || math.IsNaN(log[model]) {
			continue
		}
		out = append(out, pair{pattern, log[model] - mean})
	}
	return out
}

// anchorPattern returns the anchors' logarithms relative to their mean, and the mean; NaN if
// one is missing.
func anchorPattern(log []float64, anchors []int) (pattern []float64, mean float64) {
	pattern = make([]float64, len(anchors))
	for i, k := range anchors {
		pattern[i] = log[k]
	}
	mean = stat.Mean(pattern, nil)
	floats.AddConst(-mean, pattern)
	return pattern, mean
}

// ridgePenalty is the weight of the penalty on a ridge regression's coefficients.
const ridgePenalty = 0.1

// ridgeEstimate regresses the model on the anchors over the known configurations, all relative
// to the mean of the anchors (Hoerl and Kennard, Technometrics 1970); NaN from fewer than three.
func ridgeEstimate(known []pair, pattern []float64, mean float64) float64 {
	if len(known) < 3 {
		return math.NaN()
	}
	n := len(pattern)
	center := make([]float64, n)
	level := 0.0
	for _, p := range known {
		floats.AddScaled(center, 1/float64(len(known)), p.pattern)
		level += p.log / float64(len(known))
	}
	products := mat.NewSymDense(n, nil)
	target := mat.NewVecDense(n, nil)
	for a := range n {
		products.SetSym(a, a, ridgePenalty)
	}
	off := make([]float64, n)
	for _, p := range known {
		floats.SubTo(off, p.pattern, center)
		v := mat.NewVecDense(n, off)
		products.SymRankOne(products, 1, v)
		target.AddScaledVec(target, p.log-level, v)
	}
	var chol mat.Cholesky
	var coefficients mat.VecDense
	if !chol.Factorize(products) || chol.SolveVecTo(&coefficients, target) != nil {
		return math.NaN()
	}
	for a := range n {
		level += coefficients.AtVec(a) * (pattern[a] - center[a])
	}
	return mean + level
}

// nearestEstimate returns the mean over the configurations whose anchors differ from the new
// ones most nearly by one factor, scaled by that; NaN from none.
func nearestEstimate(known []pair, pattern []float64, mean float64, count int) float64 {
	distances := make([]float64, len(known))
	order := make([]int, len(known))
	for i, p := range known {
		distances[i] = floats.Distance(p.pattern, pattern, 2)
	}
	floats.ArgsortStable(distances, order)
	logs := make([]float64, min(count, len(known)))
	for i := range logs {
		logs[i] = known[order[i]].log
	}
	return mean + stat.Mean(logs, nil)
}
