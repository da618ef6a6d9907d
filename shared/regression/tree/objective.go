package tree

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// Objective is the loss that boosting takes down.
type Objective string

// The objectives, with XGBoost's names.
const (
	SquaredError  Objective = "reg:squarederror"
	AbsoluteError Objective = "reg:absoluteerror"
	PseudoHuber   Objective = "reg:pseudohubererror" // squared near zero, absolute beyond HuberSlope
	Quantile      Objective = "reg:quantileerror"    // the QuantileAlpha quantile
)

// loss is an objective with its parameter.
type loss struct {
	objective Objective
	parameter float64
}

// start is the constant that the trees are added to.
func (l loss) start(y, weights []float64) float64 {
	switch l.objective {
	case AbsoluteError, PseudoHuber:
		return weightedQuantile(y, weights, 0.5)
	case Quantile:
		return weightedQuantile(y, weights, l.parameter)
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

// derivatives writes the first and second derivative of the loss at rows start
// to end. A nil h is not written.
func (l loss) derivatives(y, weights, predicted, g, h []float64, start, end int) {
	for i := start; i < end; i++ {
		first, second := l.derivative(predicted[i] - y[i])
		if weights != nil {
			first *= weights[i]
			second *= weights[i]
		}
		g[i] = first
		if h != nil {
			h[i] = second
		}
	}
}

// derivative is the first and second derivative of the loss at a residual. For
// PseudoHuber the second is the curvature of the parabola that lies above the
// loss and touches it (iteratively reweighted least squares): the true one falls
// so fast that residuals far out would throw a leaf across the data.
func (l loss) derivative(z float64) (first, second float64) {
	switch l.objective {
	case AbsoluteError:
		return sign(z), 1
	case Quantile:
		if z < 0 {
			return -l.parameter, 1
		}
		return 1 - l.parameter, 1
	case PseudoHuber:
		root := math.Sqrt(1 + z*z/(l.parameter*l.parameter))
		return z / root, 1 / root
	}
	return z, 1
}

// flat says whether the second derivative is 1 at every row.
func (l loss) flat(weights []float64) bool {
	return weights == nil && l.objective != PseudoHuber
}

// refit gives a leaf the value that its own rows want, where the second
// derivative says nothing: the quantile of the residuals.
func (l loss) refit(y, weights, predicted []float64, rows []uint32) (float64, bool) {
	share := 0.5
	switch l.objective {
	case Quantile:
		share = l.parameter
	case AbsoluteError:
	default:
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
	return weightedQuantile(residuals, kept, share), true
}

// mean is the average loss, in the target's own unit (root of the mean square
// for squared error).
func (l loss) mean(y, weights, predicted []float64) float64 {
	sum, n := 0.0, 0.0
	for i := range y {
		z, w := predicted[i]-y[i], 1.0
		if weights != nil {
			w = weights[i]
		}
		n += w
		switch l.objective {
		case AbsoluteError:
			sum += w * math.Abs(z)
		case Quantile:
			sum += w * max((1-l.parameter)*z, -l.parameter*z)
		case PseudoHuber:
			d := l.parameter
			sum += w * d * d * (math.Sqrt(1+z*z/(d*d)) - 1)
		default:
			sum += w * z * z
		}
	}
	if l.objective == SquaredError {
		return math.Sqrt(sum / n)
	}
	return sum / n
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// weightedQuantile is the smallest value with at least the share of the weight
// at or below it; for an even split of equal weights, the middle of the two.
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
