package regression

import (
	"fmt"
	"math"
)

// Samples are observations to learn from: a row-major matrix of features, the
// target of each row and, optionally, its weight.
type Samples struct {
	// Features is the width of a row. Zero is allowed: such samples have a
	// target only, and a model of them is a constant.
	Features int
	// X holds Len() rows of Features numbers, one row after the other. NaN
	// means "missing", to the models that allow it.
	X []float64
	// Y holds one target per row.
	Y []float64
	// Weights holds one weight per row, at least 0; nil means 1 for all. A weight
	// is an inverse variance: an observation of weight 4 has half the noise of one
	// of weight 1. Fitters that cannot use weights return an error.
	Weights []float64
}

// NewSamples copies rows of equal length and their targets.
// The error matches [ErrDimension].
func NewSamples(rows [][]float64, y []float64) (Samples, error) {
	if len(rows) != len(y) {
		return Samples{}, Dimension("targets", len(y), len(rows))
	}
	if len(rows) == 0 {
		return Samples{}, nil
	}
	s := Samples{Features: len(rows[0]), Y: append([]float64(nil), y...)}
	s.X = make([]float64, 0, len(rows)*s.Features)
	for i, row := range rows {
		if len(row) != s.Features {
			return Samples{}, Dimension(fmt.Sprintf("features in row %d", i), len(row), s.Features)
		}
		s.X = append(s.X, row...)
	}
	return s, nil
}

// Len returns the number of rows.
func (s Samples) Len() int { return len(s.Y) }

// Row returns the i-th row of X, not a copy.
func (s Samples) Row(i int) []float64 {
	return s.X[i*s.Features : (i+1)*s.Features : (i+1)*s.Features]
}

// Weight returns the weight of row i.
func (s Samples) Weight(i int) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[i]
}

// Select copies the given rows, in that order; a row may be given more than once.
// It panics if a row does not exist.
func (s Samples) Select(rows []int) Samples {
	out := Samples{Features: s.Features, X: make([]float64, 0, len(rows)*s.Features), Y: make([]float64, len(rows))}
	if s.Weights != nil {
		out.Weights = make([]float64, len(rows))
	}
	for i, r := range rows {
		out.X = append(out.X, s.Row(r)...)
		out.Y[i] = s.Y[r]
		if s.Weights != nil {
			out.Weights[i] = s.Weights[r]
		}
	}
	return out
}

// Needs holds a fitter's requirements of its samples. The zero value requires that
// the numbers are finite and the lengths match, as every fitter does.
type Needs struct {
	MinRows    int  // smallest number of rows, without those of weight 0
	Missing    bool // NaN features are allowed (infinite ones never are)
	Varying    bool // every feature must have two different values
	Unweighted bool // weights are an error
}

// Check returns an error for the first sample that does not meet the needs. It
// matches [ErrDimension], [ErrNotFinite], [ErrTooFew], [ErrConstant] or, for
// weights that are not allowed, [ErrSetting].
func (s Samples) Check(n Needs) error {
	for _, check := range []func(Needs) error{s.checkLengths, s.checkFinite, s.checkRows, s.checkVarying} {
		if err := check(n); err != nil {
			return err
		}
	}
	return nil
}

func (s Samples) checkLengths(n Needs) error {
	switch {
	case s.Features < 0:
		return Setting("Features", s.Features, "0 or more")
	case len(s.X) != s.Len()*s.Features:
		return Dimension(fmt.Sprintf("numbers in X for %d rows of %d features", s.Len(), s.Features), len(s.X), s.Len()*s.Features)
	case s.Weights != nil && n.Unweighted:
		return Setting("Weights", len(s.Weights), "nil: this model does not use weights")
	case s.Weights != nil && len(s.Weights) != s.Len():
		return Dimension("weights", len(s.Weights), s.Len())
	}
	return nil
}

func (s Samples) checkFinite(n Needs) error {
	for i, y := range s.Y {
		if err := checkRow(s.Row(i), i, n.Missing); err != nil {
			return err
		}
		if !finite(y) {
			return NotFinite("target", i, -1, y)
		}
		if w := s.Weight(i); !finite(w) || w < 0 {
			return NotFinite("weight", i, -1, w)
		}
	}
	return nil
}

func (s Samples) checkRows(n Needs) error {
	used := 0
	for i := range s.Y {
		if s.Weight(i) > 0 {
			used++
		}
	}
	if used < n.MinRows {
		return TooFew("samples", used, n.MinRows)
	}
	return nil
}

func (s Samples) checkVarying(n Needs) error {
	if !n.Varying || s.Len() == 0 {
		return nil
	}
	for c := range s.Features {
		if v, constant := s.constant(c); constant {
			return Constant(c, v)
		}
	}
	return nil
}

// constant reports whether column c has one value in all rows of weight > 0.
func (s Samples) constant(c int) (value float64, constant bool) {
	value = math.NaN()
	for i := range s.Y {
		v := s.X[i*s.Features+c]
		switch {
		case s.Weight(i) == 0 || math.IsNaN(v):
		case math.IsNaN(value):
			value = v
		case v != value:
			return 0, false
		}
	}
	return value, true
}

// CheckRow checks a row to predict: it must have the given number of features, all
// finite, or missing if that is allowed. The error matches [ErrDimension] or
// [ErrNotFinite].
func CheckRow(x []float64, features int, missing bool) error {
	if len(x) != features {
		return Dimension("features in the row to predict", len(x), features)
	}
	return checkRow(x, 0, missing)
}

func checkRow(x []float64, row int, missing bool) error {
	for c, v := range x {
		if !finite(v) && !(missing && math.IsNaN(v)) {
			return NotFinite("feature", row, c, v)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
