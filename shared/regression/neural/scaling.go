package neural

import (
	"math"

	"github.com/foretime/foretime/shared/regression"
)

// Scaling brings features and target to mean 0 and standard deviation 1 over the
// training rows.
type Scaling struct {
	Center       []float64 `json:"center"` // one per feature
	Scale        []float64 `json:"scale"`
	TargetCenter float64   `json:"target_center"`
	TargetScale  float64   `json:"target_scale"`
}

// newScaling measures the rows. A constant column keeps its scale, and a warning
// names it.
func newScaling(s regression.Samples, rows []int) (sc Scaling, warnings []error) {
	for j := range s.Features {
		center, scale := moments(rows, func(r int) float64 { return s.X[r*s.Features+j] })
		if scale == 0 {
			scale = 1
			warnings = append(warnings, regression.Constant(j, center))
		}
		sc.Center, sc.Scale = append(sc.Center, center), append(sc.Scale, scale)
	}
	sc.TargetCenter, sc.TargetScale = moments(rows, func(r int) float64 { return s.Y[r] })
	if sc.TargetScale == 0 {
		sc.TargetScale = 1
	}
	return sc, warnings
}

// moments returns the mean and the standard deviation, which is exactly 0 if all
// values are the same.
func moments(rows []int, value func(int) float64) (mean, deviation float64) {
	first, constant := value(rows[0]), true
	for _, r := range rows {
		mean += (value(r) - first) / float64(len(rows))
		constant = constant && value(r) == first
	}
	if constant {
		return first, 0
	}
	mean += first
	for _, r := range rows {
		deviation += (value(r) - mean) * (value(r) - mean) / float64(len(rows))
	}
	return mean, math.Sqrt(deviation)
}

// row writes the standardised x to out.
func (sc *Scaling) row(out []float32, x []float64) {
	for j, v := range x {
		out[j] = float32((v - sc.Center[j]) / sc.Scale[j])
	}
}

// target returns the standardised y; value is its inverse.
func (sc *Scaling) target(y float64) float32 { return float32((y - sc.TargetCenter) / sc.TargetScale) }

func (sc *Scaling) value(out float32) float64 {
	return sc.TargetCenter + sc.TargetScale*float64(out)
}
