package linear

import (
	"context"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/stats"
)

// Huber is least squares in which a residual beyond K scales counts by its size
// and no longer by its square (Huber, "Robust Estimation of a Location
// Parameter", Annals of Mathematical Statistics 35, 1964), fitted by iteratively
// reweighted least squares. The scale is the median absolute residual / 0.6745,
// taken anew in each round, so that outliers do not set it. It resists outliers
// in the target, not in the features. It gives no interval.
type Huber struct {
	NoIntercept bool
	K           float64 // 0 means 1.345: 95 % as efficient as OLS when noise is normal
	Rounds      int     // 0 means 200
}

var _ regression.Fitter[*Model] = Huber{}

// Fit fits. The error is as of [OLS.Solve]. When more than half of the samples
// lie on the fit their median residual is zero, and the line through them is the
// answer. A fit that still moves after the last round warns.
func (h Huber) Fit(ctx context.Context, s regression.Samples) (*Model, error) {
	if h.K == 0 {
		h.K = 1.345
	}
	if h.Rounds == 0 {
		h.Rounds = 200
	}
	if !(h.K > 0) || h.Rounds < 1 {
		return nil, &regression.SettingError{Name: "K, Rounds", Value: []any{h.K, h.Rounds}, Want: "above 0"}
	}
	m, err := OLS{NoIntercept: h.NoIntercept}.Fit(ctx, s)
	if err != nil {
		return nil, err
	}
	m.Doubt, m.warnings = nil, nil
	size := largest(s.Y)
	before := residuals(s, m)
	for range h.Rounds {
		scale := medianAbsolute(before) / 0.6745
		if scale <= 1e-12*size {
			return m, nil
		}
		next, err := OLS{NoIntercept: h.NoIntercept}.Fit(ctx, h.reweighted(s, before, scale))
		if err != nil {
			return nil, err
		}
		next.Doubt, next.warnings = nil, nil
		m = next
		after := residuals(s, m)
		if moved(before, after) < 1e-10 {
			return m, nil
		}
		before = after
	}
	m.warnings = append(m.warnings, fmt.Errorf("huber: still moving after %d rounds", h.Rounds))
	return m, nil
}

// reweighted are the samples, each of whose weights is lowered by as much as its
// residual is beyond K scales.
func (h Huber) reweighted(s regression.Samples, residuals []float64, scale float64) regression.Samples {
	w := make([]float64, s.Len())
	for i := range w {
		w[i] = s.Weight(i)
		if beyond := math.Abs(residuals[i]) / (h.K * scale); beyond > 1 {
			w[i] /= beyond
		}
	}
	s.Weights = w
	return s
}

// residuals are y - prediction times the root of the weight: all of one noise.
func residuals(s regression.Samples, m *Model) []float64 {
	out := make([]float64, s.Len())
	for i, y := range s.Y {
		e := y - m.Intercept
		for j, v := range s.Row(i) {
			e -= m.Coefficients[j] * v
		}
		out[i] = e * math.Sqrt(s.Weight(i))
	}
	return out
}

// medianAbsolute is the median of the sizes.
func medianAbsolute(values []float64) float64 {
	sizes := make([]float64, len(values))
	for i, v := range values {
		sizes[i] = math.Abs(v)
	}
	return stats.Median(sizes)
}

// moved is the size of the change relative to what was there.
func moved(before, after []float64) float64 {
	change, size := 0.0, 1e-20
	for i := range before {
		change += (before[i] - after[i]) * (before[i] - after[i])
		size += before[i] * before[i]
	}
	return math.Sqrt(change / size)
}

func largest(values []float64) float64 {
	out := 0.0
	for _, v := range values {
		out = max(out, math.Abs(v))
	}
	return out
}
