package linear

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/regression"
)

// collinear is the largest remainder of a column, of norm 1, after projection on
// the columns before it, for which it still counts as dependent on them. R's lm
// uses the same 1e-7.
const collinear = 1e-7

// OLS is least squares, weighted by the samples' weights. Its predictions have
// Student's t intervals: exact if the noise is normal and independent with variance
// Sigma²/weight.
//
// It needs as many samples as coefficients, the intercept included; with exactly as
// many the fit is exact, has no interval, and warns.
type OLS struct {
	Level float64 // of prediction intervals; 0 means 0.95
}

var _ regression.Fitter[*Model] = OLS{}

// Fit fits by QR of the centred and scaled columns. The error matches
// [regression.ErrTooFew], [regression.ErrConstant], [regression.ErrCollinear],
// [regression.ErrNotFinite], [regression.ErrDimension] or
// [regression.ErrSetting].
func (o OLS) Fit(_ context.Context, s regression.Samples) (*Model, error) {
	level, err := levelOr(o.Level)
	if err != nil {
		return nil, err
	}
	needs := regression.Needs{MinRows: s.Features + 1, Varying: true}
	if err := s.Check(needs); err != nil {
		return nil, err
	}
	d := newDesign(s, true)
	d.unitColumns()
	root, b, err := d.solve()
	if err != nil {
		return nil, err
	}
	m := d.model(b)
	degrees := float64(d.rows - needs.MinRows)
	if degrees == 0 {
		m.warnings = append(m.warnings, errNoSpread)
		return m, nil
	}
	m.Doubt = &Doubt{
		Level: level, Sigma: math.Sqrt(d.residual(s, m) / degrees), T: distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile((1 + level) / 2),
		SumWeights: d.sumWeights, Center: d.center, Root: root,
	}
	return m, nil
}

// design is a scaled least-squares problem: rows of weight 0 left out, the others
// times the root of their weight, columns and target centred if there is an
// intercept, columns divided by a scale.
type design struct {
	rows, width int
	sumWeights  float64
	center      []float64 // weighted mean of each feature, or zeros
	centerY     float64
	scale       []float64
	x           []float64 // rows×width, row-major
	y           []float64
}

func newDesign(s regression.Samples, intercept bool) *design {
	d := &design{width: s.Features, center: make([]float64, s.Features), scale: make([]float64, s.Features)}
	for j := range d.scale {
		d.scale[j] = 1
	}
	for i := range s.Len() {
		d.sumWeights += s.Weight(i)
	}
	if intercept {
		d.findCenter(s)
	}
	for i, y := range s.Y {
		root := math.Sqrt(s.Weight(i))
		if root == 0 {
			continue
		}
		for j, v := range s.Row(i) {
			d.x = append(d.x, root*(v-d.center[j]))
		}
		d.y = append(d.y, root*(y-d.centerY))
		d.rows++
	}
	return d
}

// findCenter computes means in two passes; the second corrects the first's
// rounding.
func (d *design) findCenter(s regression.Samples) {
	for range 2 {
		shift, shiftY := make([]float64, d.width), 0.0
		for i, y := range s.Y {
			w := s.Weight(i) / d.sumWeights
			shiftY += w * (y - d.centerY)
			for j, v := range s.Row(i) {
				shift[j] += w * (v - d.center[j])
			}
		}
		d.centerY += shiftY
		for j := range shift {
			d.center[j] += shift[j]
		}
	}
}

// unitColumns scales every column to norm 1.
func (d *design) unitColumns() {
	for j := range d.width {
		norm := 0.0
		for i := j; i < len(d.x); i += d.width {
			norm = math.Hypot(norm, d.x[i])
		}
		if norm > 0 {
			d.rescale(j, norm)
		}
	}
}

func (d *design) rescale(j int, scale float64) {
	d.scale[j] = scale
	for i := j; i < len(d.x); i += d.width {
		d.x[i] /= scale
	}
}

// solve returns the coefficients in the features' own units and the root of their
// covariance, see [Doubt]. The columns must have norm 1.
func (d *design) solve() (root, b []float64, err error) {
	if d.width == 0 {
		return nil, nil, nil
	}
	r, b := d.factor()
	for j := range d.width {
		if !(math.Abs(r.At(j, j)) > collinear) {
			return nil, nil, regression.Collinear(j)
		}
	}
	return inverseRoot(r, d.scale), b, nil
}

// factor returns R of the QR factorisation and the coefficients, which are
// meaningless if R is singular.
func (d *design) factor() (r *mat.Dense, b []float64) {
	var qr mat.QR
	qr.Factorize(mat.NewDense(len(d.y), d.width, d.x))
	r = new(mat.Dense)
	qr.RTo(r)
	var solved mat.VecDense
	// The only error is a poor condition, which callers check in R.
	_ = qr.SolveVecTo(&solved, false, mat.NewVecDense(len(d.y), d.y))
	b = make([]float64, d.width)
	if solved.Len() == d.width {
		for j := range b {
			b[j] = solved.AtVec(j) / d.scale[j]
		}
	}
	return r, b
}

// inverseRoot returns the inverse of Rᵀ, each column divided by its scale.
func inverseRoot(r mat.Matrix, scale []float64) []float64 {
	n := len(scale)
	out := make([]float64, n*n)
	for j := range n { // solve Rᵀ·column = e_j from the top
		for i := j; i < n; i++ {
			v := 0.0
			if i == j {
				v = 1
			}
			for k := j; k < i; k++ {
				v -= r.At(k, i) * out[k*n+j]
			}
			out[i*n+j] = v / r.At(i, i)
		}
	}
	for i := range out {
		out[i] /= scale[i%n]
	}
	return out
}

// model returns a model of the coefficients, without Doubt.
func (d *design) model(b []float64) *Model {
	m := &Model{Intercept: d.centerY, Coefficients: make([]float64, d.width)}
	copy(m.Coefficients, b)
	for j, c := range m.Coefficients {
		m.Intercept -= c * d.center[j]
	}
	return m
}

// residual returns the weighted residual sum of squares of m, computed around the
// center, where nothing cancels.
func (d *design) residual(s regression.Samples, m *Model) float64 {
	sum := 0.0
	for i, y := range s.Y {
		e := y - d.centerY
		for j, v := range s.Row(i) {
			e -= m.Coefficients[j] * (v - d.center[j])
		}
		sum += s.Weight(i) * e * e
	}
	return sum
}
