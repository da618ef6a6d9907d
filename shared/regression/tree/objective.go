package tree

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// Objective is the loss that boosting minimises.
type Objective string

// The objectives, with XGBoost's names.
const (
	SquaredError Objective = "reg:squarederror"
	Quantile     Objective = "reg:quantileerror" // the QuantileAlpha quantile
)

// loss is an objective with alpha, which only Quantile uses.
type loss struct {
	objective Objective
	alpha     float64
}

// start returns the constant that the trees are added to.
func (l loss) start(y, weights []float64) float64 {
	if l.objective == Quantile {
		return weightedQuantile(y, weights, l.alpha)
	}
	sum, n := 0.0, 0.0
	for i, v := range y {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		sum += w * v
		n += w
	}
	return sum / n
}

// derivatives writes the first and second derivative of the loss at rows start to
// end. A nil h, without weights, is not written; the second derivative is then 1.
func (l loss) derivatives(y, weights, predicted, g, h []float64, start, end int) {
	for i := start; i < end; i++ {
		first := l.derivative(predicted[i] - y[i])
		if weights != nil {
			first *= weights[i]
			h[i] = weights[i]
		}
		g[i] = first
	}
}

// derivative returns the first derivative of the loss at a residual; the second is
// taken as 1.
func (l loss) derivative(z float64) float64 {
	switch {
	case l.objective == SquaredError:
		return z
	case z < 0:
		return -l.alpha
	}
	return 1 - l.alpha
}

// refit returns a leaf's value from its own rows, for losses without a useful
// second derivative: the quantile of the residuals.
func (l loss) refit(y, weights, predicted []float64, rows []uint32) (float64, bool) {
	if l.objective != Quantile {
		return 0, false
	}
	residuals := make([]float64, len(rows))
	var kept []float64
	if weights != nil {
		kept = make([]float64, len(rows))
	}
	for i, r := range rows {
		residuals[i] = y[r] - predicted[r]
		if weights != nil {
			kept[i] = weights[r]
		}
	}
	return weightedQuantile(residuals, kept, l.alpha), true
}

// mean returns the average loss, in the target's own unit (root of the mean square
// for squared error).
func (l loss) mean(y, weights, predicted []float64) float64 {
	sum, n := 0.0, 0.0
	for i := range y {
		z, w := predicted[i]-y[i], 1.0
		if weights != nil {
			w = weights[i]
		}
		n += w
		if l.objective == Quantile {
			sum += w * max((1-l.alpha)*z, -l.alpha*z)
		} else {
			sum += w * z * z
		}
	}
	if l.objective == SquaredError {
		return math.Sqrt(sum / n)
	}
	return sum / n
}

// weightedQuantile returns the smallest value with at least the given fraction of
// the weight at or below it; for an even split of equal weights, the middle of the
// two.
func weightedQuantile(values, weights []float64, share float64) float64 {
	if weights == nil {
		return stats.Quantile(values, share)
	}
	order := make([]int, len(values))
	total := 0.0
	for i := range order {
		order[i] = i
		total += weights[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	sum := 0.0
	for _, i := range order {
		if sum += weights[i]; sum >= share*total && weights[i] > 0 {
			return values[i]
		}
	}
	return values[order[len(order)-1]]
}
