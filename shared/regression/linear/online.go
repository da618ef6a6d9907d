package linear

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// gramCollinear is the share of a column's sum of squares below which the
// columns before it are held to determine it. A Gram matrix squares the
// condition: what it can tell apart is coarser than QR can.
const gramCollinear = 1e-10

// Online is weighted least squares over rows that come one by one, and may go
// again. It keeps sufficient statistics, not the rows: with z = (1, x) and w the
// weight,
//
//	A = Σ w·z·zᵀ   b = Σ w·z·y   c = Σ w·y²   coefficients = A⁻¹b
//
// and, once A is positive definite, its Cholesky factor, which a row changes by
// one rank-one update: memory and the cost of a row are O(k²) for k
// coefficients, however many rows have come. Rows are shifted by the first one,
// so that values far from zero, as times of day, lose no digits.
//
// With forgetting factor f below 1 each row multiplies the weight of all rows
// before it by f: a row that is n rows old weighs fⁿ, and 1/(1-f) rows matter.
//
// An Online is not safe for concurrent use.
type Online struct {
	settings OnlineSettings
	features int
	shifted  bool
	shift    []float64 // the first row, or zeros without an intercept
	shiftY   float64

	rows    int
	gram    *mat.SymDense // A, the intercept first
	moment  *mat.VecDense // b
	squares float64       // c
	weight  float64       // Σ w
	factor  mat.Cholesky
	factors bool // factor is that of gram
	z       *mat.VecDense
	model   *Model // of the present rows; nil when not yet asked for
}

// OnlineSettings are the settings of [NewOnline]. The zero value works.
type OnlineSettings struct {
	NoIntercept bool
	Forgetting  float64 // in (0, 1]; 0 means 1: nothing is forgotten
	Level       float64 // of prediction intervals, in (0, 1); 0 means 0.95
}

// NewOnline is a fit without rows of a number of features. The error matches
// [regression.ErrSetting] or [regression.ErrDimension] (nothing to fit).
func NewOnline(features int, o OnlineSettings) (*Online, error) {
	level, err := levelOr(o.Level)
	if err != nil {
		return nil, err
	}
	o.Level = level
	if o.Forgetting == 0 {
		o.Forgetting = 1
	}
	if !(o.Forgetting > 0 && o.Forgetting <= 1) {
		return nil, &regression.SettingError{Name: "Forgetting", Value: o.Forgetting, Want: "in (0, 1]"}
	}
	k := coefficients(regression.Samples{Features: features}, o.NoIntercept)
	if features < 0 || k == 0 {
		return nil, &regression.DimensionError{What: "features", Have: features, Want: 1}
	}
	return &Online{
		settings: o, features: features, shift: make([]float64, features),
		gram: mat.NewSymDense(k, nil), moment: mat.NewVecDense(k, nil), z: mat.NewVecDense(k, nil),
	}, nil
}

// Rows is how many rows were added and not removed.
func (o *Online) Rows() int { return o.rows }

// Add takes a row in with weight 1. The error matches [regression.ErrDimension]
// or [regression.ErrNotFinite], and then nothing has changed.
func (o *Online) Add(x []float64, y float64) error { return o.AddWeighted(x, y, 1) }

// AddWeighted takes a row in with a weight above 0, an inverse variance.
func (o *Online) AddWeighted(x []float64, y, weight float64) error {
	if err := o.check(x, y, weight); err != nil {
		return err
	}
	if !o.shifted && !o.settings.NoIntercept {
		copy(o.shift, x)
		o.shiftY, o.shifted = y, true
	}
	o.forget()
	o.rows++
	o.change(x, y, weight)
	return nil
}

// Remove takes out a row that was added with weight 1. It must be a row that is
// in: that is not remembered, so not checked. Where rows are forgotten their
// weight is no longer known, and Remove is an error that matches
// [regression.ErrSetting]; with no row left it matches [regression.ErrTooFew].
func (o *Online) Remove(x []float64, y float64) error { return o.RemoveWeighted(x, y, 1) }

// RemoveWeighted takes out a row that was added with the same weight.
func (o *Online) RemoveWeighted(x []float64, y, weight float64) error {
	if err := o.check(x, y, weight); err != nil {
		return err
	}
	if o.settings.Forgetting != 1 {
		return &regression.SettingError{Name: "Forgetting", Value: o.settings.Forgetting, Want: "1 to remove rows"}
	}
	if o.rows == 0 {
		return &regression.TooFewError{What: "rows to remove from", Have: 0, Need: 1}
	}
	o.rows--
	o.change(x, y, -weight)
	if o.rows == 0 {
		o.reset()
	}
	return nil
}

func (o *Online) check(x []float64, y, weight float64) error {
	if err := regression.CheckRow(x, o.features, false); err != nil {
		return err
	}
	if weight == 0 {
		return &regression.SettingError{Name: "weight", Value: weight, Want: "above 0"}
	}
	return regression.Samples{Y: []float64{y}, Weights: []float64{weight}}.Check(regression.Needs{})
}

// forget scales everything down by the forgetting factor.
func (o *Online) forget() {
	f := o.settings.Forgetting
	if f == 1 {
		return
	}
	o.gram.ScaleSym(f, o.gram)
	o.moment.ScaleVec(f, o.moment)
	o.squares *= f
	o.weight *= f
	if o.factors {
		o.factor.Scale(f, &o.factor)
	}
}

// change adds a row times a weight, which is negative for one that leaves.
func (o *Online) change(x []float64, y, weight float64) {
	z := o.z.RawVector().Data
	if !o.settings.NoIntercept {
		z[0], z = 1, z[1:]
	}
	floats.SubTo(z, x, o.shift)
	y -= o.shiftY
	o.gram.SymRankOne(o.gram, weight, o.z)
	o.moment.AddScaledVec(o.moment, weight*y, o.z)
	o.squares += weight * y * y
	o.weight += weight
	if o.factors {
		// False when the change leaves A not positive definite.
		o.factors = o.factor.SymRankOne(&o.factor, weight, o.z)
	}
	o.model = nil
}

// reset forgets the rounding that is left when all rows are gone.
func (o *Online) reset() {
	o.gram.Zero()
	o.moment.Zero()
	o.squares, o.weight, o.factors, o.shifted = 0, 0, false, false
	clear(o.shift)
	o.shiftY = 0
}

// Predict is the prediction of the present fit, see [Online.Model].
func (o *Online) Predict(x []float64) (uncertainty.Prediction, error) {
	m, err := o.Model()
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	return m.Predict(x)
}

// Model is the fit to the present rows; later rows do not change it. The sum of
// the weights takes the place of the number of rows in the degrees of freedom
// when rows are forgotten. The error matches [regression.ErrTooFew] or
// [regression.ErrCollinear]: a feature that is the same in all rows, or
// determined by others, to ten digits.
func (o *Online) Model() (*Model, error) {
	if o.model != nil {
		return o.model, nil
	}
	if k := o.gram.SymmetricDim(); o.rows < k {
		return nil, &regression.TooFewError{What: "rows", Have: o.rows, Need: k}
	}
	if err := o.refactor(); err != nil {
		return nil, err
	}
	var solved mat.VecDense
	_ = o.factor.SolveVecTo(&solved, o.moment) // refactor has looked at the condition
	o.model = o.build(solved.RawVector().Data)
	return o.model, nil
}

// refactor makes sure that factor is that of gram, and that no column is
// determined by those before it.
func (o *Online) refactor() error {
	if !o.factors {
		o.factors = o.factor.Factorize(o.gram)
	}
	first := o.gram.SymmetricDim() - o.features
	if !o.factors {
		return &regression.CollinearError{Column: max(o.dependent(first), 0)}
	}
	u := o.factor.RawU()
	for j := range o.features {
		own := u.At(first+j, first+j)
		if own*own <= gramCollinear*o.gram.At(first+j, first+j) {
			o.factors = false // rounding has the upper hand: start anew next time
			return &regression.CollinearError{Column: j}
		}
	}
	return nil
}

// dependent is the first feature that those before it determine.
func (o *Online) dependent(first int) int {
	for j := range o.features {
		var c mat.Cholesky
		if !c.Factorize(o.gram.SliceSym(0, first+j+1)) {
			return j
		}
	}
	return -1
}

// build turns the solution in shifted rows into a model.
func (o *Online) build(b []float64) *Model {
	m := &Model{Coefficients: append([]float64(nil), b[len(b)-o.features:]...)}
	doubt := Doubt{Center: make([]float64, o.features), Root: o.root()}
	if !o.settings.NoIntercept {
		m.Intercept = o.shiftY + b[0] - floats.Dot(m.Coefficients, o.shift)
		doubt.SumWeights = o.weight
		for j := range doubt.Center {
			doubt.Center[j] = o.shift[j] + o.gram.At(0, j+1)/o.weight
		}
	}
	degrees := float64(o.rows - len(b))
	if o.settings.Forgetting < 1 {
		degrees = o.weight - float64(len(b))
	}
	if !(degrees > 0) {
		m.warnings = append(m.warnings, errNoSpread)
		return m
	}
	residual := max(o.squares-mat.Dot(o.moment, mat.NewVecDense(len(b), b)), 0)
	m.Doubt = newDoubt(doubt, residual, degrees, o.settings.Level)
	return m
}

// root is the inverse of the transposed factor's block of the features, which is
// the factor of their Gram matrix about the mean when the intercept is first.
func (o *Online) root() []float64 {
	if o.features == 0 {
		return nil
	}
	u := o.factor.RawU()
	first := o.gram.SymmetricDim() - o.features
	block := mat.NewDense(o.features, o.features, nil)
	ones := make([]float64, o.features)
	for i := range o.features {
		ones[i] = 1
		for j := i; j < o.features; j++ {
			block.Set(i, j, u.At(first+i, first+j))
		}
	}
	return inverseRoot(block, ones)
}
