package linear

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/foretime/foretime/shared/regression"
)

// NNLS is least squares without an intercept and with no coefficient below zero: the
// fit for costs that only add up, such as set-up time plus time per unit. It is the
// active-set method of Lawson and Hanson, "Solving Least Squares Problems" (1974),
// chapter 23, on columns scaled to norm 1. It gives no interval: the usual theory
// does not hold for a coefficient at zero.
type NNLS struct{}

var _ regression.Fitter[*Model] = NNLS{}

// Fit fits a model. One sample is enough. Of collinear features, or more features than
// the samples can separate, some are used and the others left at zero. The error
// matches [regression.ErrTooFew], [regression.ErrNotFinite] or
// [regression.ErrDimension].
func (NNLS) Fit(_ context.Context, s regression.Samples) (*Model, error) {
	if s.Features == 0 {
		return nil, regression.Dimension("features without an intercept", 0, 1)
	}
	if err := s.Check(regression.Needs{MinRows: 1}); err != nil {
		return nil, err
	}
	d := newDesign(s, false)
	d.unitColumns()
	b := lawsonHanson(mat.NewDense(d.rows, d.width, d.x), mat.NewVecDense(d.rows, d.y))
	for j := range b {
		b[j] /= d.scale[j]
	}
	return &Model{Coefficients: b}, nil
}

// lawsonHanson minimises |a·x - y| over x ≥ 0. Columns of a have norm 1 or 0.
func lawsonHanson(a *mat.Dense, y *mat.VecDense) []float64 {
	_, width := a.Dims()
	x, free := make([]float64, width), make([]bool, width)
	tolerance := 1e-12 * mat.Norm(y, 2)
	refused := make([]bool, width) // columns that were freed without progress
	for range 10 * (width + 1) {
		j := steepest(a, y, x, free, refused, tolerance)
		if j < 0 {
			break
		}
		free[j] = true
		trial, ok := leastSquares(a, y, free)
		if !ok || trial[j] <= 0 { // collinear with the free columns, or rounding
			free[j], refused[j] = false, true
			continue
		}
		clear(refused)
		x = descend(a, y, x, trial, free)
	}
	return x
}

// steepest returns the column at zero whose growth would reduce the residual most,
// or -1 if none would.
func steepest(a *mat.Dense, y *mat.VecDense, x []float64, free, refused []bool, tolerance float64) int {
	var residual, gradient mat.VecDense
	residual.MulVec(a, mat.NewVecDense(len(x), x))
	residual.SubVec(y, &residual)
	gradient.MulVec(a.T(), &residual)
	best, at := tolerance, -1
	for j := range x {
		if g := gradient.AtVec(j); !free[j] && !refused[j] && g > best {
			best, at = g, j
		}
	}
	return at
}

// descend walks from x, which is feasible, towards trial, the least-squares
// solution of the free columns. Each time a coefficient reaches zero it fixes the
// column there and solves again.
func descend(a *mat.Dense, y *mat.VecDense, x, trial []float64, free []bool) []float64 {
	for {
		step, blocking := 1.0, -1
		for j, f := range free {
			if f && trial[j] <= 0 {
				if s := x[j] / (x[j] - trial[j]); blocking < 0 || s < step {
					step, blocking = s, j
				}
			}
		}
		if blocking < 0 {
			return trial
		}
		for j, f := range free {
			if !f {
				continue
			}
			x[j] += step * (trial[j] - x[j])
			if j == blocking || x[j] <= 0 {
				x[j], free[j] = 0, false
			}
		}
		// A subset of independent columns is independent.
		trial, _ = leastSquares(a, y, free)
	}
}

// leastSquares solves for the free columns, the others being zero; ok is false if
// the free columns are dependent.
func leastSquares(a *mat.Dense, y *mat.VecDense, free []bool) (x []float64, ok bool) {
	rows, _ := a.Dims()
	x = make([]float64, len(free))
	var columns []int
	for j, f := range free {
		if f {
			columns = append(columns, j)
		}
	}
	if len(columns) == 0 {
		return x, true
	}
	if len(columns) > rows {
		return nil, false
	}
	part := mat.NewDense(rows, len(columns), nil)
	for at, j := range columns {
		part.SetCol(at, mat.Col(nil, j, a))
	}
	var qr mat.QR
	qr.Factorize(part)
	var r mat.Dense
	qr.RTo(&r)
	for at := range columns {
		if !(math.Abs(r.At(at, at)) > collinear) {
			return nil, false
		}
	}
	var solved mat.VecDense
	_ = qr.SolveVecTo(&solved, false, y) // the condition was checked above
	for at, j := range columns {
		x[j] = solved.AtVec(at)
	}
	return x, true
}
