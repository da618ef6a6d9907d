package linear

import (
	"context"
	"math"

	"github.com/foretime/foretime/shared/regression"
)

// Ridge is least squares that also pays Penalty·Σ Coefficients², the intercept
// not among them (Hoerl and Kennard, Technometrics 12, 1970). It has one answer
// even where features are collinear, constant, or more than the samples. Its
// coefficients are biased on purpose, so it gives no interval.
type Ridge struct {
	Penalty     float64 // above 0, in units of the weighted squared features
	NoIntercept bool
	// Scaled makes the penalty the same for every feature whatever its unit: it
	// is paid on the effect of one standard deviation.
	Scaled bool
}

var _ regression.Fitter[*Model] = Ridge{}

// Fit fits by QR of the centred columns over rows of √Penalty. The error
// matches [regression.ErrTooFew] (no sample), [regression.ErrNotFinite],
// [regression.ErrDimension] or [regression.ErrSetting].
func (r Ridge) Fit(_ context.Context, s regression.Samples) (*Model, error) {
	if !(r.Penalty > 0) || math.IsInf(r.Penalty, 1) {
		return nil, &regression.SettingError{Name: "Penalty", Value: r.Penalty, Want: "above 0; without a penalty use OLS"}
	}
	if err := checkSamples(s, r.NoIntercept, regression.Needs{MinRows: 1}); err != nil {
		return nil, err
	}
	d := newDesign(s, !r.NoIntercept)
	if r.Scaled {
		d.unitDeviations()
	}
	if d.width == 0 {
		return d.model(nil), nil
	}
	d.penalise(math.Sqrt(r.Penalty))
	_, b := d.factor()
	return d.model(b), nil
}

// unitDeviations scales every column to a mean square of 1 about its center;
// one that does not vary is left alone.
func (d *design) unitDeviations() {
	for j := range d.width {
		sum := 0.0
		for i := j; i < len(d.x); i += d.width {
			sum += d.x[i] * d.x[i]
		}
		if sum > 0 {
			d.rescale(j, math.Sqrt(sum/d.sumWeights))
		}
	}
}

// penalise appends one row a column that pulls its coefficient to zero.
func (d *design) penalise(root float64) {
	for j := range d.width {
		row := make([]float64, d.width)
		row[j] = root
		d.x, d.y = append(d.x, row...), append(d.y, 0)
	}
}
