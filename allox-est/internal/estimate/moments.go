package estimate

import (
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// student returns the two-sided quantile of Student's t.
func student(level, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: max(1, df)}.Quantile(0.5 + level/2)
}

func mean(xs []float64) float64 { return stat.Mean(xs, nil) }

// variance returns the unbiased variance; 0 of fewer than two values.
func variance(xs []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	return stat.Variance(xs, nil)
}
